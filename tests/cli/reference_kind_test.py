"""Which reference a comparison used, and errors in steps of a quantised output's scale."""

import unittest

from driver import DATA, Case, run


class ReferenceKind(Case):
    def comparison(self, name, *arguments, code=0):
        outcome = run("run", DATA / f"{name}.pte", "--json", "-", *arguments)
        self.assertEqual(outcome.code, code, outcome.err)
        return outcome.report()["comparisons"][0]

    def test_a_float_program_has_no_quanta(self):
        item = self.comparison("digits", "--inputs", DATA / "digits.inputs.npz",
                               "--reference", DATA / "digits.expected.npz")
        self.assertEqual((item["reference_kind"], item["quanta"]), ("file", None))
        self.assertEqual(self.comparison("digits", "--reference", "interpreter")["reference_kind"], "interpreter")
        item = self.comparison("digits", "--reference", f"pte:{DATA / 'digits_portable.pte'}")
        self.assertEqual(item["reference_kind"], "program")

    def test_quantised_outputs_are_judged_in_steps_of_their_scale(self):
        for name in ("digits_q8", "tiny_convrelu_q8", "tiny_mlp_q8"):
            inputs = DATA / f"{'digits' if name == 'digits_q8' else name}.inputs.npz"
            with self.subTest(name=name):
                item = self.comparison(name, "--inputs", inputs, "--reference", DATA / f"{name}.expected.npz",
                                       "--reference-kind", "converted_graph", "--atol", "1")
                self.assertEqual(item["reference_kind"], "converted_graph")
                quanta = item["quanta"]
                self.assertGreater(quanta["scale"], 0)
                # A whole number of steps, and few.
                self.assertLess(abs(quanta["max_abs"] - round(quanta["max_abs"])), 1e-3)
                self.assertLessEqual(quanta["max_abs"], 1.001)
                self.assertAlmostEqual(quanta["max_abs"] * quanta["scale"], item["metrics"]["max_abs"])

    def test_a_dynamically_quantised_output_has_no_scale(self):
        item = self.comparison("tiny_mlp_qd8", "--inputs", DATA / "tiny_mlp_qd8.inputs.npz",
                               "--reference", DATA / "tiny_mlp_qd8.expected.npz", "--atol", "1")
        self.assertIsNone(item["quanta"])

    def test_the_text_says_both(self):
        outcome = run("run", DATA / "digits_q8.pte", "--inputs", DATA / "digits.inputs.npz", "--atol", "2",
                      "--reference", DATA / "digits_q8.float.npz", "--reference-kind", "float_eager")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("digits_q8.float.npz (float eager)", outcome.out)
        self.assertIn("in steps of the output's scale", outcome.out)

    def test_a_kind_without_a_file_is_refused(self):
        program = DATA / "digits_q8.pte"
        self.check_error(run("run", program, "--reference-kind", "float_eager"), 2, "usage", "there is no reference")
        self.check_error(run("run", program, "--reference-kind", "float_eager", "--reference", "interpreter"), 2,
                         "usage", "the reference is interpreter")


if __name__ == "__main__":
    unittest.main()
