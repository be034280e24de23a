"""Programs and tensor files cut off and with flipped bits, given to `pterun run`: each ends with an exit code of the
contract, a message and a report, never with a signal, a bug (70) or without an end.

PTERUN_CORRUPT_SEED=N chooses other flips, PTERUN_CORRUPT_RUNS=N how many a file."""

import concurrent.futures
import json
import os
import random
import unittest

from driver import DATA, Case, run

SEED = int(os.environ.get("PTERUN_CORRUPT_SEED", "1"))
RUNS = int(os.environ.get("PTERUN_CORRUPT_RUNS", "100"))
# What a run of a damaged program may end with: done, outputs differ, a name that is not there, the program, an input
# that does not fit, a failure while running.
ALLOWED = {0, 1, 2, 3, 4, 6}
PROGRAMS = ("tiny_add.pte", "tiny_add_portable.pte", "tiny_convrelu_q8.pte", "ops.pte", "bundled_program.bpte",
            "arduino_hello.pte")


def cuts(size):
    """Every length around the headers, then lengths spread over the file, and one byte short."""
    return sorted({0, 1, 7, 8, 9, 16, 31, 32, 40, 63, 64} | {size * i // 12 for i in range(12)} | {size - 1})


def flipped(content, generator):
    """One to three bits, half of the time in the first quarter, where the structure is."""
    content = bytearray(content)
    for _ in range(generator.randint(1, 3)):
        end = len(content) if generator.random() < 0.5 else max(len(content) // 4, 1)
        content[generator.randrange(end)] ^= 1 << generator.randrange(8)
    return bytes(content)


class Damaged(Case):
    @classmethod
    def setUpClass(cls):
        print(f"PTERUN_CORRUPT_SEED={SEED} PTERUN_CORRUPT_RUNS={RUNS}", flush=True)

    def run_all(self, variants, arguments):
        """[(label, exit code, error, stderr)] of a run for every (label, file name, content)."""
        def one(variant):
            label, name, content = variant
            path = self.write(f"{label}.{name}", content)
            outcome = run("run", *arguments(path), "--threads", "1", "--timeout", "100", "--json", "-", "--quiet")
            os.unlink(path)
            return label, outcome
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return list(pool.map(one, variants))

    def check(self, label, outcome, allowed):
        with self.subTest(variant=label, seed=SEED):
            self.assertIn(outcome.code, allowed, outcome.err)
            report = json.loads(outcome.out)
            self.assertEqual(report["exit_code"], outcome.code)
            self.assertNotIn("time limit", outcome.err)
            if outcome.code not in (0, 1):
                self.assertTrue(report["error"]["message"])
                self.assertIn(f"error[{report['error']['code']}]: ", outcome.err)

    def test_a_program_that_is_cut_off_is_refused(self):
        for name in PROGRAMS:
            content = (DATA / name).read_bytes()
            variants = [(f"{length}-bytes", name, content[:length]) for length in cuts(len(content))]
            for label, outcome in self.run_all(variants, lambda path: [path]):
                self.check(f"{name} {label}", outcome, {3})

    def test_a_program_with_flipped_bits_never_ends_in_a_crash(self):
        for name in PROGRAMS:
            generator = random.Random(f"{SEED} {name}")
            content = (DATA / name).read_bytes()
            variants = [(f"flip-{i}", name, flipped(content, generator)) for i in range(RUNS)]
            for label, outcome in self.run_all(variants, lambda path: [path]):
                self.check(f"{name} {label}", outcome, ALLOWED)

    def test_inputs_that_are_cut_off_or_flipped_are_the_inputs_fault(self):
        generator = random.Random(f"{SEED} inputs")
        for name in ("tiny_add.inputs.npz",):
            content = (DATA / name).read_bytes()
            variants = [(f"{length}-bytes", name, content[:length]) for length in cuts(len(content))]
            for label, outcome in self.run_all(variants, lambda path: [DATA / "tiny_add.pte", "--inputs", path]):
                self.check(f"{name} {label}", outcome, {4})
            variants = [(f"flip-{i}", name, flipped(content, generator)) for i in range(RUNS)]
            for label, outcome in self.run_all(variants, lambda path: [DATA / "tiny_add.pte", "--inputs", path]):
                self.check(f"{name} {label}", outcome, {0, 4})

    def test_a_reference_that_is_cut_off_or_flipped_is_never_taken_for_equal_silently(self):
        generator = random.Random(f"{SEED} reference")
        content = (DATA / "tiny_add.expected.npz").read_bytes()
        inputs = ["--inputs", DATA / "tiny_add.inputs.npz"]
        variants = [(f"flip-{i}", "r.npz", flipped(content, generator)) for i in range(RUNS)]
        for label, outcome in self.run_all(variants, lambda path: [DATA / "tiny_add.pte", *inputs, "--reference", path]):
            self.check(f"reference {label}", outcome, {0, 1, 4})
        # Cut off anywhere it is no archive any more.
        variants = [(f"{length}-bytes", "r.npz", content[:length]) for length in cuts(len(content))]
        for label, outcome in self.run_all(variants, lambda path: [DATA / "tiny_add.pte", *inputs, "--reference", path]):
            self.check(f"reference {label}", outcome, {4})


if __name__ == "__main__":
    unittest.main()
