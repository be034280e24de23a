"""Exports programs that must be refused: operators and a backend that no runner has.

missing_operators.pte uses absent::first three times and absent::second once, missing_backend.pte
is tiny_add.pte with another backend id of the same length. Both take two float32 [4, 4] or [1, 16].
"""

import torch

from lowering import DATA, export, lower, write_program


@torch.library.custom_op("absent::first", mutates_args=())
def first(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@torch.library.custom_op("absent::second", mutates_args=())
def second(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * y


first.register_fake(torch.empty_like)
second.register_fake(lambda x, y: torch.empty_like(x))


# The out variants are what a program names.
library = torch.library.Library("absent", "FRAGMENT")
library.define("first.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
library.define("second.out(Tensor x, Tensor y, *, Tensor(a!) out) -> Tensor(a!)")
library.impl("first.out", lambda x, *, out: out.copy_(x + 1), "CompositeExplicitAutograd")
library.impl("second.out", lambda x, y, *, out: out.copy_(x * y), "CompositeExplicitAutograd")


class MissingOperators(torch.nn.Module):
    def forward(self, x, y):
        a = torch.ops.absent.first(torch.ops.absent.first(x))
        return torch.ops.absent.second(a, torch.ops.absent.first(y)) + x


def main():
    inputs = (torch.ones(4, 4), torch.ones(4, 4))
    write_program(DATA / "missing_operators.pte", lower(export(MissingOperators(), inputs), []))
    program = (DATA / "tiny_add.pte").read_bytes()
    assert program.count(b"XnnpackBackend") == 1
    (DATA / "missing_backend.pte").write_bytes(program.replace(b"XnnpackBackend", b"MissingBackend"))


if __name__ == "__main__":
    main()
