"""pterun inspect from outside: the whole text and the whole JSON against golden files, and what it refuses.

PTERUN_RENEW_GOLDEN=1 writes the golden files anew; look at the difference before it is committed."""

import json
import os
import unittest

from driver import DATA, SOURCE, Case, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

GOLDEN = SOURCE / "tests" / "golden"
# Name of the golden file -> arguments; paths are relative to tests/data, so that they are the same everywhere.
CASES = {
    "inspect_multi": ["multi.pte", "-v"],
    "inspect_mixed": ["ops.pte"],
    "inspect_missing_operators": ["missing_operators.pte"],
    "inspect_missing_backend": ["missing_backend.pte"],
    "inspect_bundle": ["bundled_program.bpte", "--verify", "minimal"],
    "inspect_data": ["reports/pte/C16.ptd_right.pte", "--data", "reports/data/c16_w.ptd", "-v"],
    "inspect_without_data": ["reports/pte/C16.ptd_right.pte"],
}


class Golden(Case):
    maxDiff = None

    def check(self, name, text):
        path = GOLDEN / name
        if os.environ.get("PTERUN_RENEW_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        self.assertEqual(text, path.read_text(encoding="utf-8"))

    def test_the_text_of_every_kind_of_program(self):
        for name, arguments in CASES.items():
            with self.subTest(name):
                outcome = run("inspect", *arguments, "--threads", "2", cwd=DATA)
                self.assertEqual((outcome.code, outcome.err), (0, ""))
                self.check(f"{name}.txt", outcome.out)

    def test_the_json_of_every_kind_of_program(self):
        for name, arguments in CASES.items():
            with self.subTest(name):
                outcome = run("inspect", *arguments, "--json", "-", cwd=DATA)
                self.assertEqual((outcome.code, outcome.err), (0, ""))
                report = outcome.report()
                self.check(f"{name}.json", json.dumps(report["inspect"], indent=1, sort_keys=True) + "\n")
                if jsonschema is not None:
                    schema = json.loads((SOURCE / "configs" / "schema" / "report.schema.json").read_text())
                    self.assertEqual(list(jsonschema.Draft202012Validator(schema).iter_errors(report)), [])

    def test_the_report_identifies_the_file(self):
        report = run("inspect", "tiny_add.pte", "--threads", "3", "--json", "-", cwd=DATA).report()
        self.assertEqual((report["kind"], report["status"], report["exit_code"]), ("inspect", "pass", 0))
        self.assertEqual(report["manifest"]["threads"], 3)
        model, = report["manifest"]["files"]
        self.assertEqual((model["role"], model["path"], model["bytes"]), ("model", "tiny_add.pte", 1600))
        self.assertRegex(model["sha256"], "^[0-9a-f]{64}$")


class Inspect(Case):
    def test_quiet_is_one_line_a_method(self):
        outcome = run("inspect", "multi.pte", "-q", cwd=DATA)
        self.assertEqual(outcome.out, "multi.pte: method encode misses nothing\nmulti.pte: method forward misses nothing\n")
        outcome = run("inspect", "missing_backend.pte", "-q", cwd=DATA)
        self.assertEqual(outcome.out, "missing_backend.pte: method forward misses MissingBackend\n")

    def test_methods_are_chosen_and_listed(self):
        methods = run("inspect", DATA / "multi.pte", "--method", "encode", "--json", "-").report()["inspect"]["methods"]
        self.assertEqual([method["name"] for method in methods], ["encode"])
        self.check_error(run("inspect", DATA / "multi.pte", "--method", "x"), 2, "usage", "'x'", "encode, forward")

    def test_operators_of_this_build_need_no_model(self):
        outcome = run("inspect", "--operators")
        self.assertEqual(outcome.code, 0)
        self.assertRegex(outcome.out, r"\n  ?aten::add\.out +.*float32")
        listed = run("inspect", "--operators", "--json", "-").report()["inspect"]["operators"]
        self.assertIn("aten::mul.out", [row["name"] for row in listed])
        self.check_error(run("inspect"), 2, "usage", "MODEL", "--operators")

    def test_what_is_no_program_is_refused_saying_what_it_is(self):
        for name, content, found in (("a.pte", b"", "empty"), ("b.pte", b"\x80\x02}q", ""), ("c.pte", b"{}", "JSON"),
                                     ("d.pte", (DATA / "digits.inputs.npz").read_bytes(), "zip archive"),
                                     ("e.pte", (DATA / "tiny_add.pte").read_bytes()[:700], "700")):
            outcome = run("inspect", self.write(name, content))
            self.check_error(outcome, 3, "InvalidProgram", name, found)
        self.check_error(run("inspect", self.folder / "none.pte"), 3, "AccessFailed", "No such file")
        self.check_error(run("inspect", self.folder), 3, "AccessFailed", "directory")

    def test_a_data_file_that_is_none_is_refused(self):
        self.check_error(run("inspect", DATA / "tiny_add.pte", "--data", DATA / "tiny_add.pte"), 3, "InvalidExternalData",
                         "a .pte program")

    def test_an_unwritable_report_is_refused_before_the_work(self):
        self.check_error(run("inspect", DATA / "tiny_add.pte", "--json", self.folder / "no" / "r.json"), 2, "output",
                         "--json")


if __name__ == "__main__":
    unittest.main()
