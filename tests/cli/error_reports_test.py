"""A command that fails says so in every file that it was asked for, also when it fails before it has a report, or before
its flags could be parsed."""

import csv
import json
import unittest
import xml.etree.ElementTree as tree

import junit_rules
from driver import DATA, Case, run
from html_test import Checker

ADD = DATA / "tiny_add.pte"
EXPECTED = DATA / "tiny_add.expected.npz"
FORMATS = ("json", "junit", "markdown", "csv", "html", "events")


class Errors(Case):
    def check(self, *arguments, code, error, message, hint="", status="error"):
        """Runs with every format and compares what each says; the text of each file by format."""
        paths = {name: self.folder / f"r.{name}" for name in FORMATS if arguments[0] != "compare" or name != "events"}
        for path in paths.values():
            path.write_text("from before")
        # The files stand first, so that what is wrong comes behind them.
        command, *rest = arguments
        outcome = run(command, *[f"--{name}={path}" for name, path in paths.items()], *rest)
        self.assertEqual(outcome.code, code, outcome.err)
        texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
        found = json.loads(texts["json"])
        self.assertEqual((found["status"], found["exit_code"], found["error"]["code"]), (status, code, error))
        self.assertIn(message, found["error"]["message"])
        self.assertIn(hint, found["error"]["hint"])
        self.check_junit(texts["junit"], found)
        self.check_pages(texts, found)
        rows = list(csv.DictReader(texts["csv"].splitlines(), strict=True))
        self.assertEqual({(row["status"], row["exit_code"], row["error"]) for row in rows}, {(status, str(code), error)})
        if "events" in texts:
            events = [json.loads(line) for line in texts["events"].splitlines()]
            self.assertEqual((events[0]["event"], events[-1]["event"]), ("started", "finished"))
            self.assertEqual((events[-1]["status"], events[-1]["exit_code"], events[-1]["error"]), (status, code, error))
        return texts

    def check_junit(self, text, found):
        self.assertEqual(junit_rules.problems(text), [])
        outcomes = [(item.tag, item.get("type"), item.get("message")) for case in tree.fromstring(text).iter("testcase")
                    for item in case]
        if found["status"] == "error":
            self.assertEqual(outcomes, [("error", found["error"]["code"], found["error"]["message"])])
        else:
            self.assertEqual([(tag, kind) for tag, kind, _ in outcomes], [("failure", found["error"]["code"])])

    def check_pages(self, texts, found):
        """Message, hint and places are in what people read."""
        page = Checker(texts["html"])
        self.assertEqual(page.problems, [])
        markdown = texts["markdown"].replace("\\", "").replace("`", "")
        for text in (found["error"]["code"], found["error"]["hint"], *found["error"]["where"].values()):
            self.assertIn(text, "".join(page.words))
            self.assertIn(text.replace("<", "&lt;").replace("`", ""), markdown.replace("&lt;", "<") + markdown)

    def test_flags_that_cannot_be_parsed(self):
        for command in ("run", "bench"):
            self.check(command, "m.pte", "--theads", "2", code=2, error="usage", message="--theads", hint="--threads")
            self.check(command, "m.pte", "--threads", code=2, error="usage", message="expected a value")
        self.check("compare", "a.npz", code=2, error="usage", message="expected B")

    def test_a_command_that_is_not_known(self):
        self.check("rnu", "m.pte", code=2, error="usage", message="rnu", hint="run")

    def test_values_that_cannot_be_read(self):
        self.check("run", "m.pte", "--threads", "x", code=2, error="usage", message="--threads")
        self.check("run", "m.pte", "--load-option", "no-dot=1", code=2, error="option_syntax", message="no-dot=1")
        self.check("bench", "m.pte", "--axis", "threads=1", "--shard", "3/2", code=2, error="usage", message="K/N")
        self.check("compare", EXPECTED, EXPECTED, "--tolerance", "nothing<=1", code=2, error="usage", message="nothing")

    def test_a_bad_config(self):
        config = self.write("c.json", '{\n"threds": 1}')
        for command in ("run", "bench"):
            texts = self.check(command, ADD, "--config", config, code=2, error="config", message="/threds", hint="threads")
            self.assertIn("c.json", texts["markdown"])
        self.check("run", ADD, "--config", self.folder / "none.json", code=2, error="config", message="none.json")

    def test_a_rejected_option(self):
        name = "XnnpackBackend.workspace_sharing_mod"
        for command in ("run", "bench"):
            self.check(command, ADD, "--load-option", f"{name}=1", code=2, error="unknown_option", message=name,
                       hint="workspace_sharing_mode")
        sweep = ("--axis", f"{name}=0,1")
        self.check("bench", ADD, *sweep, code=2, error="unknown_option", message=name, hint="workspace_sharing_mode")

    def test_a_model_that_is_missing_or_malformed(self):
        broken = self.write("broken.pte", b"x" * 100)
        for command in ("run", "bench"):
            self.check(command, self.folder / "none.pte", code=3, error="AccessFailed", message="none.pte")
            self.check(command, broken, code=3, error="InvalidProgram", message="is not a .pte program")

    def test_an_input_or_reference_that_is_missing(self):
        none = self.folder / "none.npz"
        self.check("run", ADD, "--inputs", none, code=4, error="input", message="none.npz")
        self.check("run", ADD, "--reference", none, code=4, error="reference", message="none.npz")
        self.check("run", ADD, "--reference", "pte:none.pte", code=4, error="reference", message="none.pte")

    def test_a_mismatch_is_a_failure(self):
        texts = self.check("run", ADD, "--reference", EXPECTED, code=1, error="mismatch", status="fail", message="outside")
        self.assertIn("**FAIL**", texts["markdown"])

    def test_outputs_that_cannot_be_saved(self):
        self.check("run", ADD, "--save-outputs", self.folder / "no" / "o.npz", code=2, error="output", message="o.npz")

    def test_report_and_compare_of_files_that_are_none(self):
        broken = self.write("broken.json", "{")
        names = ("junit", "markdown", "csv", "html", "json")
        for arguments in (("report", broken), ("compare", broken, EXPECTED)):
            paths = {name: self.folder / f"r.{name}" for name in names}
            outcome = run(*arguments, *[f"--{name}={path}" for name, path in paths.items()])
            self.check_error(outcome, 4, "input", "broken.json")
            self.check_junit(paths["junit"].read_text(), json.loads(paths["json"].read_text()))
            for name in names:
                self.assertIn("input", paths[name].read_text(), name)

    def test_the_config_of_a_command_names_the_files_too(self):
        config = self.write("c.json", {"output": {"junit": "r.xml"}, "model": {"path": "m.pte"}})
        outcome = run("bench", "--config", config, "--shard", "3/2")
        self.check_error(outcome, 2, "usage", "K/N")
        self.assertEqual(junit_rules.problems((self.folder / "r.xml").read_text()), [])

    def test_a_file_that_cannot_be_opened_does_not_keep_the_others_from_the_error(self):
        path = self.folder / "r.xml"
        outcome = run("run", ADD, "--junit", path, "--html", self.folder / "no" / "r.html", "--threads", "x")
        self.assertEqual(outcome.code, 2)
        self.assertIn("--html cannot open", outcome.err)
        self.assertIn('type="usage"', path.read_text())
        outcome = run("run", ADD, "--junit", path, "--html", self.folder / "no" / "r.html")
        self.assertEqual((outcome.code, outcome.err.count("--html cannot open")), (2, 1))
        self.assertIn('type="output"', path.read_text())

    def test_a_file_that_cannot_be_written_makes_the_others_say_so(self):
        path, events = self.folder / "r.json", self.folder / "e.jsonl"
        outcome = run("run", ADD, "--json", path, "--csv", "/dev/full", "--events", events)
        self.assertEqual(outcome.code, 2, outcome.err)
        self.assertEqual(json.loads(path.read_text())["error"]["code"], "output")
        lines = [json.loads(line) for line in events.read_text().splitlines()]
        self.assertIn("program_loaded", [line["event"] for line in lines])
        self.assertEqual(lines[-1]["error"], "output")

    def test_a_file_that_is_read_is_not_overwritten(self):
        saved = self.folder / "r.json"
        self.assertEqual(run("run", ADD, "--json", saved).code, 0)
        text = saved.read_text()
        link = self.folder / "link.json"
        link.symlink_to(saved)
        for path in (saved, link):
            self.check_error(run("report", saved, f"--json={path}"), 2, "usage", "--json", "FILE names too")
            self.check_error(run("compare", saved, EXPECTED, "--html", path), 2, "usage", "--html", "A names too")
            self.check_error(run("report", saved, "--json", path, "--theads"), 2, "usage", "--theads")
            self.check_error(run("bench", ADD, "--baseline", path, "--json", saved, "--fail-if", "x"), 2, "usage", "x")
        self.assertEqual(saved.read_text(), text)

    def test_a_benchmark_can_follow_its_baseline_in_one_file(self):
        bench = ("bench", ADD, "--min-runs", "5", "--min-time", "0", "--json", self.folder / "r.json")
        self.assertEqual(run(*bench).code, 0)
        outcome = run(*bench, "--baseline", self.folder / "r.json", "--fail-if", "p50>+100000%")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(len(json.loads((self.folder / "r.json").read_text())["bench"]["gates"]), 1)

    def test_stdout_holds_one_report(self):
        for name, start in (("csv", "kind,"), ("junit", "<?xml"), ("markdown", "# pterun run: ERROR"), ("html", "<!DOCTYPE")):
            self.assertTrue(run("run", ADD, f"--{name}", "-", "--theads", "1").out.startswith(start), name)
        both = run("run", ADD, "--csv", "-", "--json", "-")
        self.assertEqual((both.code, both.report()["error"]["code"]), (2, "usage"))

    def test_only_files_of_flags_that_the_command_has_are_written(self):
        path = self.folder / "r.html"
        self.assertEqual(run("inspect", ADD, "--html", path).code, 2)
        self.assertEqual(run("options", "list", "--html", path).code, 2)
        self.assertEqual(run("run", ADD, "--theads", "--", "--html", path).code, 2)
        self.assertFalse(path.exists())

    def test_the_flag_behind_one_without_its_value_is_no_file_name(self):
        outcome = run("run", ADD, "--html", "--json", self.folder / "r.json", "--theads", cwd=self.folder)
        self.assertEqual(outcome.code, 2)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["r.json"])


if __name__ == "__main__":
    unittest.main()
