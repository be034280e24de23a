"""Every program of tests/data that has expected outputs beside it, at one and two threads, against PyTorch eager."""

import unittest

from driver import DATA, Case, run

# As tests/zoo/zoo_test.py has them: one quantum of the output, and activations quantised per row, in eager per tensor.
TOLERANCES = {"digits_q8": "max_abs<=0.239", "tiny_convrelu_q8": "max_abs<=0.00904",
              "tiny_mlp_4w": "max_abs<=0.001,cosine>=0.9999"}
# Programs that share another one's inputs and outputs, and the one whose second method has files of its own.
SHARED = {"digits_portable": "digits"}
SECOND = ("multi", "encode")


def models():
    """(program, method, the stem of its inputs and outputs)"""
    found = [(path.name.removesuffix(".expected.npz"), "forward", path.name.removesuffix(".expected.npz"))
             for path in sorted(DATA.glob("*.expected.npz")) if path.name.count(".") == 2]
    return found + [(name, "forward", stem) for name, stem in SHARED.items()] + [(*SECOND, ".".join(SECOND))]


class Models(Case):
    def test_every_program_matches_eager_at_one_and_two_threads(self):
        self.assertGreater(len(models()), 15)
        for name, method, stem in models():
            arguments = ["--method", method, "--inputs", DATA / f"{stem}.inputs.npz", "--reference",
                         DATA / f"{stem}.expected.npz"]
            if not (DATA / f"{stem}.inputs.npz").exists():  # digits_q8 has those of digits
                arguments[3] = DATA / "digits.inputs.npz"
            if name in TOLERANCES:
                arguments += ["--tolerance", TOLERANCES[name]]
            for threads in ("1", "2"):
                with self.subTest(program=name, method=method, threads=threads):
                    outcome = run("run", DATA / f"{name}.pte", *arguments, "--threads", threads, "--json", "-")
                    self.assertEqual(outcome.code, 0, outcome.err)
                    self.assertTrue(outcome.report()["comparisons"])

    def test_programs_of_older_exporters_run(self):
        for name in ("add.pte", "arduino_add.pte", "arduino_hello.pte", "ModuleLinear-no-constant-segment.pte"):
            with self.subTest(program=name):
                outcome = run("run", DATA / name, "--json", "-")
                self.assertEqual(outcome.code, 0, outcome.err)
                self.assertTrue(outcome.report()["outputs"])
        for case in ("0", "9"):
            outcome = run("run", DATA / "bundled_program.bpte", "--case", case, "--reference", "bundled", "--json", "-")
            self.assertEqual(outcome.code, 0, outcome.err)
            self.assertTrue(outcome.report()["comparisons"])


if __name__ == "__main__":
    unittest.main()
