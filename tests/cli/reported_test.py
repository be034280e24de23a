"""Cases of tests/regress/README.md that need more than one run: what warm-up and a second load may not change."""

import unittest

from driver import DATA, Case, run

REPORTS = DATA / "reports" / "pte"


class Reported(Case):
    def outputs(self, name, *arguments):
        outcome = run("run", REPORTS / f"{name}.pte", "--json", "-", *arguments)
        self.assertEqual(outcome.code, 0, outcome.err)
        return [(output["stats"]["max"], output["sha256"]) for output in outcome.report()["outputs"]]

    def test_c5_warm_up_and_a_fresh_load_leave_the_state_of_the_first_call(self):
        for name, want in (("C05.state_default", 2), ("C05.state_init", 12)):
            with self.subTest(name=name):
                first = self.outputs(name, "--input", "ones")
                self.assertEqual(first[0][0], want)
                for arguments in (["--warmup", "3"], ["--iterations", "3"], []):
                    self.assertEqual(self.outputs(name, "--input", "ones", *arguments), first)

    def test_c12_prelu_is_the_same_with_the_weight_cache_on_and_off(self):
        found = {value: self.outputs("C12.prelu", "--load-option", f"XnnpackBackend.weight_cache_enabled={value}")
                 for value in ("true", "false")}
        self.assertEqual(found["true"], found["false"])


if __name__ == "__main__":
    unittest.main()
