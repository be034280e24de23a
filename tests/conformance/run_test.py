#!/usr/bin/env python3
"""Tests of run.py against a stand-in for pterun whose behaviour the program's file states."""

import json
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent

# The "program" is JSON: what to do when it is run.
FAKE = """#!{python}
import json, os, sys, time
arguments = sys.argv[1:]
if "--config" in arguments:
    config = json.load(open(arguments[arguments.index("--config") + 1]))
    model, arguments = config["model"]["path"], arguments + ["steps=%d" % len(config["steps"])]
else:
    model = arguments[1]
todo = json.load(open(model))
if todo.get("abort"): os.abort()
if todo.get("sleep"): time.sleep(todo["sleep"])
missing = [text for text in todo.get("needs", []) if text not in arguments]
code = 9 if missing else todo["exit"]
if not todo.get("silent"):
    print(json.dumps({{"exit_code": todo.get("says", code), "outputs": todo.get("outputs", []),
        "comparisons": todo.get("comparisons", []),
        "error": {{"code": "usage", "message": "missing " + " ".join(missing)}} if missing else None}}))
sys.exit(code)
"""


class RunTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.fake = self.folder / "pterun"
        self.fake.write_text(FAKE.format(python=sys.executable))
        self.fake.chmod(self.fake.stat().st_mode | stat.S_IXUSR)
        (self.folder / "x.npz").write_bytes(b"")

    def tearDown(self):
        self.temporary.cleanup()

    def outcome(self, program, known=(), **case):
        """Runs one case; returns its row of the JSON file and run.py's exit code."""
        (self.folder / "m.pte").write_text(json.dumps(program))
        case = {"id": "one", "pte": "m.pte", "method": "forward", "inputs": "x.npz", **case}
        (self.folder / "manifest.jsonl").write_text(json.dumps(case) + "\n")
        (self.folder / "known.json").write_text(json.dumps(list(known)))
        done = subprocess.run(
            [sys.executable, str(HERE / "run.py"), str(self.folder), "--pterun", str(self.fake), "--timeout", "8",
             "--known", str(self.folder / "known.json"), "--json", str(self.folder / "out.json")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertTrue((self.folder / "out.json").exists(), done.stdout)
        return json.loads((self.folder / "out.json").read_text())[0], done.returncode

    def assert_status(self, status, program, **case):
        row, code = self.outcome(program, **case)
        self.assertEqual(row["status"], status, row)
        self.assertEqual(code, 1 if status == "fail" else 0)
        return row["reason"]

    def test_passes_what_should_run(self):
        self.assert_status("pass", {"exit": 0})

    def test_fails_an_unexpected_exit_code(self):
        self.assertIn("exit 1 instead of 0", self.assert_status("fail", {"exit": 1}))

    def test_wants_an_error_where_one_is_due(self):
        self.assert_status("pass", {"exit": 3}, expect="error")
        self.assert_status("fail", {"exit": 0}, expect="error")
        self.assert_status("fail", {"exit": 3}, expect="error", exit_codes=[4])

    def test_takes_an_accepted_alternative(self):
        self.assert_status("pass", {"exit": 3}, accept=["ok", "error_load"])
        self.assert_status("fail", {"exit": 4}, accept=["ok", "error_load"])

    def test_wants_a_mismatch_found(self):
        self.assert_status("pass", {"exit": 1}, compare="mismatch")
        self.assert_status("fail", {"exit": 0}, compare="mismatch")

    def test_lets_nan_be_placed_elsewhere_but_not_numbers_differ(self):
        metrics = {"nan_agree": False, "inf_agree": True, "max_abs": 1e-6}
        failed = {"pass": False, "output": 0, "reason": "why", "metrics": metrics}
        self.assert_status("pass", {"exit": 1, "comparisons": [failed]}, compare="nan_sensitive", atol=1e-5)
        failed["metrics"] = {**metrics, "max_abs": 0.5}
        self.assertIn("why", self.assert_status("fail", {"exit": 1, "comparisons": [failed]}, compare="nan_sensitive", atol=1e-5))

    def test_fails_crashes_hangs_and_bugs_even_where_any_result_is_right(self):
        self.assertIn("SIGABRT", self.assert_status("fail", {"abort": True, "exit": 0}, expect="no_crash"))
        self.assertIn("hangs", self.assert_status("fail", {"sleep": 60, "exit": 0}, expect="no_crash"))
        self.assert_status("fail", {"exit": 70}, expect="no_crash")

    def test_wants_one_json_document_that_agrees_with_the_exit_code(self):
        self.assertIn("JSON", self.assert_status("fail", {"exit": 0, "silent": True}))
        self.assertIn("report says", self.assert_status("fail", {"exit": 0, "says": 1}))

    def test_hands_over_tolerances_reference_and_dim_order(self):
        needs = ["--atol", "0.5", "--rtol", "0.25", "--reference", "--input-dim-order", "0=0,2,3,1"]
        self.assert_status("pass", {"exit": 0, "needs": needs}, expected="x.npz", atol=0.5, rtol=0.25,
                           input_dim_orders=[[0, 2, 3, 1]])

    def test_leaves_none_out_of_the_inputs(self):
        path = (self.folder / "x.npz").resolve()
        self.assert_status("pass", {"exit": 0, "needs": [f"0={path}:arr_0", f"1={path}:arr_2"]},
                           input_kinds=["tensor", "none", "int"])

    def test_runs_good_steps_together_and_bad_ones_apart(self):
        step, bad = {"inputs": "x.npz", "expected": "x.npz"}, {"inputs": "x.npz", "expect": "error"}
        self.assert_status("pass", {"exit": 0, "needs": ["steps=2"]}, sequence=[step, step])
        row, _ = self.outcome({"exit": 0}, sequence=[step, bad, step])
        self.assertIn("step 1: exit 0 instead of 3/4/6", row["reason"])

    def test_wants_equal_bits_from_all_option_sets(self):
        sets = [{"load": {"workspace_sharing_mode": 1}}, {"global": {"weight_cache_enabled": True}}]
        self.assert_status("pass", {"exit": 0, "outputs": [{"sha256": "a"}]}, option_sets=sets, bit_equal=True)
        needs = ["--load-option", "XnnpackBackend.workspace_sharing_mode=1"]
        self.assert_status("fail", {"exit": 0, "needs": needs}, option_sets=sets)

    def test_cuts_programs(self):
        self.assert_status("fail", {"exit": 0}, cut=3)

    def test_counts_known_failures_apart(self):
        row, code = self.outcome({"exit": 1}, known=[{"id": "one", "reason": "why", "numbers": "1 of 2"}])
        self.assertEqual((row["status"], code), ("known", 0))
        self.assertIn("why", row["reason"])


if __name__ == "__main__":
    unittest.main()
