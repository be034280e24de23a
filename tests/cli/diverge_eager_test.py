"""`pterun run --diverge --reference eager:FILE.pt2`: which operator of the .pt2 the first wrong value comes from. A recorded
trace stands in for PyTorch; with it the same and more is tested, else skipped and counted."""

import json
import unittest
import zipfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

from driver import DATA, SOURCE, run
from live_python import HAS_TORCH, REAL, StandInCase

LIVE = DATA / "live"
TRACE = LIVE / "net.trace"

# Answers with the recorded trace of net.pt2; its last result is the output. {text} replaces trace.txt unless it is None.
RECORDED = """
import shutil
out.write("ready {kind} stand-in 1.0\\n")
text = {text!r}
for line in sys.stdin:
    with open({log!r}, "a") as log:
        log.write(line.split()[0] + "\\n")
    with open(os.path.join({trace!r}, "trace.bin"), "rb") as file:
        data = file.read()
    if line.startswith("run"):
        write(os.path.join(folder, "outputs.safetensors"), [("0", "F32", [1, 4], data[-16:])])
    elif line.startswith("trace"):
        with open(os.path.join(folder, "trace.bin"), "wb") as file:
            file.write(data)
        with open(os.path.join(folder, "trace.txt"), "w") as file:
            with open(os.path.join({trace!r}, "trace.txt")) as recorded:
                file.write(recorded.read() if text is None else text)
    out.write("ok\\n")
"""


class DivergeCase(StandInCase):
    def diverge(self, program, reference, *arguments, python):
        return run("run", program, "--diverge", "--json", "-", "--reference", f"eager:{reference}", "--python", python,
                   *arguments, cwd=self.folder)

    def found(self, outcome, code):
        self.assertEqual(outcome.code, code, outcome.err)
        return outcome.report()["diverge"]

    def kept(self, found):
        with zipfile.ZipFile(self.folder / found["inputs_file"]) as archive:
            return sorted(archive.namelist())


class Recorded(DivergeCase):
    def python(self, text=None, kind="float_eager"):
        self.log = self.folder / "requests"
        return self.stand_in(RECORDED.format(trace=str(TRACE), text=text, kind=kind, log=str(self.log)))

    def net(self, name, **kind):
        return self.diverge(LIVE / f"{name}.pte", LIVE / "net.pt2", "--inputs", LIVE / "net.inputs.npz",
                            python=self.python(**kind))

    def test_every_operator_of_an_equal_program_is_found_equal(self):
        found = self.found(self.net("net"), 0)
        self.assertIsNone(found["first"])
        mapping = found["mapping"]
        self.assertEqual((mapping["traced"], mapping["mapped"], mapping["unmapped"]), (7, 8, 2))
        self.assertEqual((found["diverging"], mapping["cause"], mapping["outputs_agree"]), (0, "none", True))
        self.assertEqual(mapping["arithmetic"], {"compared": 7, "diverging": 0})
        self.assertIn("stand-in 1.0", found["reference"])
        self.assertIn("gelu (aten.gelu.default)", {node["reference"] for node in found["worst"]})
        self.assertEqual(self.log.read_text().split(), ["run", "reset", "trace"])

    def test_the_first_wrong_operator_is_named_with_its_counterpart_and_whose_fault_it_is(self):
        found = self.found(self.net("net_wrong"), 1)
        first, mapping = found["first"], found["mapping"]
        self.assertEqual((first["name"], first["reference"]), ("Conv2d", "relu (aten.relu.default)"))
        self.assertGreater(first["max_abs"], first["allowed"])
        self.assertTrue(first["arithmetic"]["pass"])
        self.assertEqual(mapping["cause"], "program")
        self.assertEqual((mapping["last_agreeing"], mapping["first_disagreeing"]),
                         ("x (input 0)", "relu (aten.relu.default)"))
        self.assertEqual(self.kept(found), ["got.npy", "input_0.npy", "want.npy"])

    @unittest.skipIf(jsonschema is None, "Python's jsonschema is not installed")
    def test_reports_are_valid(self):
        schema = json.loads((SOURCE / "configs" / "schema" / "report.schema.json").read_text(encoding="utf-8"))
        for name in ("net", "net_wrong", "net_q8"):
            self.assertEqual(list(jsonschema.Draft202012Validator(schema).iter_errors(self.net(name).report())), [])

    def test_quantisation_is_allowed_for(self):
        found = self.found(self.net("net_q8"), 1)  # by the outputs' tolerance
        self.assertIsNone(found["first"])
        self.assertEqual((found["diverging"], found["mapping"]["outputs_agree"]), (0, False))
        self.assertGreaterEqual(found["mapping"]["mapped"], 10)

    def test_the_text_says_it_in_words(self):
        python = self.python()
        outcome = run("run", LIVE / "net_wrong.pte", "--diverge", "--reference", f"eager:{LIVE / 'net.pt2'}", "--python",
                      python, "--inputs", LIVE / "net.inputs.npz", cwd=self.folder)
        self.assertEqual(outcome.code, 1, outcome.err)
        for part in ("Operator by operator against", "first: Conv2d", "should equal relu (aten.relu.default)",
                     "up to x (input 0) all agrees", "its own arithmetic is right", "net_wrong.diverge.npz"):
            self.assertIn(part, outcome.out)

    def test_a_trace_that_pairs_with_nothing_claims_no_agreement(self):
        found = self.found(self.net("net", text="skipped relu aten.relu.default beyond the limit\noutputs -\n"), 0)
        self.assertEqual((found["mapping"]["traced"], found["mapping"]["mapped"], found["compared"]), (0, 0, 0))
        self.assertIn({"name": "aten.relu.default", "reason": "beyond the limit", "count": 1}, found["skipped"])
        outcome = self.net("net", text="outputs -\n")
        self.assertIn("no_mapping", [warning["code"] for warning in outcome.report()["warnings"]])

    def test_traces_that_do_not_hold_together_are_refused(self):
        for text, part in (("result a b 0 - F32 1000x1000 0 -\n", "outside the"), ("result a b 0 - F99 1 0 -\n", "dtype"),
                           ("result a b 0 - F32 1 2 -\n", "no place for"), ("result a b 0 - F32\n", "words"),
                           ("input x 0 F32 1 0 0\n", "words"), ("other\n", "begins with"), ("\n", "empty"),
                           ("result a b 0 - F32 9999999999x9999999999 0 -\n", "outside the"),
                           ("result a b -1 - F32 1 0 -\n", "number"), ("result a b 0 - F32 1x-1 0 -\n", "shape")):
            with self.subTest(text=text):
                outcome = self.net("net", text=text)
                self.assertEqual(outcome.code, 4, outcome.err)
                error = outcome.report()["error"]
                self.assertEqual(error["code"], "reference")
                self.assertIn("line 1", error["message"])
                self.assertIn(part, error["message"])


@unittest.skipUnless(HAS_TORCH, "no torch in PTERUN_TEST_PYTHON or python3")
class Eager(DivergeCase):
    def test_the_recorded_trace_is_what_pytorch_gives(self):
        recorded = self.found(Recorded.net(self, "net_wrong"), 1)
        live = self.found(self.diverge(LIVE / "net_wrong.pte", LIVE / "net.pt2", "--inputs", LIVE / "net.inputs.npz",
                                       python=REAL), 1)
        self.assertEqual(live["mapping"], recorded["mapping"])
        self.assertEqual(live["first"]["reference"], recorded["first"]["reference"])

    python = Recorded.python

    def test_programs_pair_with_what_they_were_lowered_from(self):
        for name, unmapped in (("net", 2), ("branches", 0), ("types", 1), ("state", 0), ("net_q8", 2)):
            with self.subTest(name=name):
                found = self.found(self.diverge(LIVE / f"{name}.pte", LIVE / f"{name}.pt2", python=REAL), 0)
                self.assertIsNone(found["first"])
                self.assertEqual(found["mapping"]["unmapped"], unmapped)
                self.assertGreater(found["mapping"]["mapped"], 0)

    def test_the_wrong_branch_of_two_is_named(self):
        found = self.found(self.diverge(LIVE / "branches_wrong.pte", LIVE / "branches.pt2", python=REAL), 1)
        self.assertEqual(found["first"]["reference"], "conv2d_1 (aten.conv2d.default in right)")
        self.assertEqual((found["first"]["name"], found["mapping"]["cause"]), ("Conv2d", "program"))

    def test_steps_advance_the_state_on_both_sides(self):
        def config(name):
            step = {"reference": f"eager:{LIVE / 'state.pt2'}", "inputs": ["ones"]}
            return self.write(f"{name}.json", {"schema": "pterun.config/1", "model": {"path": str(LIVE / f"{name}.pte")},
                                               "python": REAL, "steps": [step] * 3})
        found = self.found(run("run", "--config", config("state"), "--diverge", "--json", "-", cwd=self.folder), 0)
        self.assertEqual((found["mapping"]["mapped"], found["diverging"]), (9, 0))
        found = self.found(run("run", "--config", config("state_wrong"), "--diverge", "--json", "-", cwd=self.folder), 1)
        self.assertEqual((found["mapping"]["mapped"], found["diverging"]), (6, 3))
        self.assertEqual((found["first"]["step"], found["first"]["reference"]), (0, "mul (aten.mul.Tensor)"))
        self.assertEqual(found["mapping"]["cause"], "unknown")

    def test_a_float_model_stands_beside_a_quantised_program(self):
        outcome = self.diverge(LIVE / "net_q8.pte", LIVE / "net.pt2", "--inputs", LIVE / "net.inputs.npz", "--tolerance",
                               "cosine>=0.99", python=REAL)
        found = self.found(outcome, 0)
        self.assertIsNone(found["first"])
        self.assertGreaterEqual(found["mapping"]["mapped"], 10)


if __name__ == "__main__":
    unittest.main()
