"""`pterun run --diverge`: which node is the first that is off."""

import unittest
import zipfile

from driver import DATA, Case, run

LIVE = DATA / "live"


class Diverge(Case):
    def diverge(self, program, *arguments):
        return run("run", program, "--diverge", "--json", "-", *arguments, cwd=self.folder)

    def test_clean_programs_have_no_divergence(self):
        for name in ("live/net", "live/net_q8", "digits", "tiny_convrelu_q8", "tiny_mlp_q8", "tiny_mlp_qd8",
                     "tiny_mlp_4w", "ops", "silero"):
            with self.subTest(name=name):
                outcome = self.diverge(DATA / f"{name}.pte")
                self.assertEqual(outcome.code, 0, outcome.err)
                found = outcome.report()["diverge"]
                self.assertIsNone(found["first"])
                self.assertGreater(found["compared"], 0)
                self.assertEqual(found["reference"], "the interpreter")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_nodes_inside_delegates_are_judged_one_by_one(self):
        names = {node["name"] for node in self.diverge(LIVE / "net.pte").report()["diverge"]["worst"]}
        self.assertTrue(names & {"Conv2d", "FullyConnected", "Gelu", "Clamp"}, names)

    def test_a_node_with_another_weight_is_named_and_no_other(self):
        other = LIVE / "net_wrong.pte"
        outcome = self.diverge(LIVE / "net.pte", "--reference", f"pte:{other}")
        self.assertEqual(outcome.code, 1, outcome.err)
        found = outcome.report()["diverge"]
        self.assertEqual(found["reference"], str(other))
        self.assertEqual((found["first"]["name"], found["diverging"]), ("Conv2d", 1))
        self.assertGreater(found["first"]["max_abs"], found["first"]["allowed"])
        self.assertIn("--node 0:1", found["command"])
        with zipfile.ZipFile(self.folder / found["inputs_file"]) as archive:
            self.assertEqual(sorted(archive.namelist()), ["got.npy", "input_0.npy", "want.npy"])
        self.assertEqual(found["inputs_file"], "net.diverge.npz")

    def test_the_text_names_the_node_its_inputs_and_the_command(self):
        outcome = run("run", LIVE / "net.pte", "--diverge", "--diverge-inputs", "x.npz", "--reference",
                      f"pte:{LIVE / 'net_wrong.pte'}", cwd=self.folder)
        self.assertEqual(outcome.code, 1, outcome.err)
        for part in ("first: Conv2d", "x.npz", "again: ", "watching changed"):
            self.assertIn(part, outcome.out)
        self.assertTrue((self.folder / "x.npz").exists())

    def test_a_program_that_is_built_otherwise_is_refused(self):
        outcome = self.diverge(DATA / "digits.pte", "--reference", f"pte:{DATA / 'digits_portable.pte'}")
        self.assertEqual(outcome.code, 4, outcome.err)
        self.assertIn("built otherwise", outcome.report()["error"]["message"])

    def test_the_file_of_inputs_without_diverge_is_a_warning(self):
        outcome = run("run", DATA / "tiny_add.pte", "--diverge-inputs", "x.npz", "--json", "-")
        self.assertIn("inert_flag", [warning["code"] for warning in outcome.report()["warnings"]])


if __name__ == "__main__":
    unittest.main()
