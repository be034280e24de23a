"""Report formats of run and bench, judged by readers that know the formats and not pterun."""

import csv
import json
import os
import signal
import subprocess
import unittest
import xml.etree.ElementTree as tree

import junit_rules
from driver import DATA, PROGRAM, SOURCE, Case, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

ADD = DATA / "tiny_add.pte"
QUICK = ("--min-runs", "5", "--min-time", "0", "--warmup", "1")
MODE = "XnnpackBackend.workspace_sharing_mode"
REFERENCE = ("--inputs", DATA / "tiny_add.inputs.npz", "--reference", DATA / "tiny_add.expected.npz")


# Warnings and progress come as the machine is loaded; a verdict on such short times is chance.
CHANCE = ("progress", "warning")
VARYING = {"ratio": 1, "verdict": "inconclusive", "value": 0}


def comparable_event(line):
    """A line of events with what varies from run to run made equal; "" for events that need not come."""
    if line["event"] in CHANCE:
        return ""
    line = {key: value for key, value in line.items() if key not in ("argv", "pterun")}
    for key in line:
        if key.endswith("_ns"):
            line[key] = 0
        elif key in ("path", "reference"):
            line[key] = line[key].rsplit("/", 1)[-1]
        elif key in VARYING and line["event"] in ("cell", "gate") and line[key] != "passed":
            line[key] = VARYING[key]
    return json.dumps(line) + "\n"


def cases(path):
    """Class and name of every case, with the tag of its outcome."""
    return [(case.get("classname"), case.get("name"), case[0].tag if len(case) else "")
            for case in tree.parse(path).iter("testcase")]


class JunitRules(unittest.TestCase):
    """The check itself catches what it is for."""

    GOOD = (SOURCE / "tests" / "golden" / "run.junit.xml").read_text(encoding="utf-8")

    def test_the_golden_files_follow_the_rules(self):
        for path in (SOURCE / "tests" / "golden").glob("*.junit.xml"):
            self.assertEqual(junit_rules.problems(path.read_text(encoding="utf-8")), [], path.name)

    def test_each_breach_is_found(self):
        for old, new in (("<testsuites", "<suites"), ('classname="', 'class="'), ("<system-out/>", ""),
                         (' type="mismatch"', ""), ("<failure", "<fail"), ("</failure>", "</fail>"),
                         ('hostname="localhost"', ""), ('failures="2"', 'failures="1"'), ('time="', 'time="x'),
                         ("<properties>", "<properties><x/>"), ("2026-12-02T", "2026-12-02 ")):
            self.assertIn(old, self.GOOD)
            self.assertNotEqual(junit_rules.problems(self.GOOD.replace(old, new)), [], old)


class Formats(Case):
    def files(self, *arguments, code=0):
        """The four text formats of one command."""
        paths = {name: self.folder / f"r.{name}" for name in ("junit", "csv", "markdown", "json")}
        flags = [text for name, path in paths.items() for text in (f"--{name}", path)]
        outcome = run(*arguments, *flags)
        self.assertEqual(outcome.code, code, outcome.err)
        return paths

    def test_junit_has_a_case_for_each_comparison_and_evidence_requirement(self):
        paths = self.files("run", ADD, "--inputs", DATA / "tiny_add.inputs.npz", "--reference",
                           DATA / "tiny_add.expected.npz", "--load-option", f"{MODE}=1", "--global-option",
                           "XnnpackBackend.weight_cache_enabled=true", "--require-evidence", "accepted")
        self.assertEqual(junit_rules.problems(paths["junit"].read_text()), [])
        found = cases(paths["junit"])
        self.assertEqual([group for group, _, _ in found],
                         ["pterun.run", "pterun.comparison", "pterun.evidence", "pterun.evidence"])
        self.assertEqual({outcome for _, _, outcome in found}, {""})

    def test_junit_says_what_failed(self):
        paths = self.files("run", ADD, "--reference", DATA / "tiny_add.expected.npz", "--load-option", f"{MODE}=1",
                           "--require-evidence", "effective", code=1)
        self.assertEqual(junit_rules.problems(paths["junit"].read_text()), [])
        self.assertIn(("pterun.comparison", "failure"), [(group, outcome) for group, _, outcome in cases(paths["junit"])])

    def test_junit_of_an_error_is_an_error(self):
        paths = self.files("run", DATA / "none.pte", code=3)
        self.assertEqual(junit_rules.problems(paths["junit"].read_text()), [])
        self.assertEqual([outcome for _, _, outcome in cases(paths["junit"])], ["error"])

    def test_junit_has_a_case_for_each_gate_and_cell(self):
        paths = self.files("bench", ADD, *QUICK, "--axis", "threads=1,2", "--fail-if", "p50>100s", "--fail-if", "load<0ns")
        self.assertEqual(junit_rules.problems(paths["junit"].read_text()), [])
        self.assertEqual([group for group, _, _ in cases(paths["junit"])],
                         ["pterun.bench"] + ["pterun.cell"] * 2 + ["pterun.gate"] * 4)
        self.assertEqual(self.files("bench", ADD, *QUICK, "--fail-if", "p50>0ns", code=7)["junit"].read_text().count(
            "<failure"), 1)

    def test_csv_has_one_row_per_output(self):
        with self.files("run", ADD, "--inputs", DATA / "tiny_add.inputs.npz", "--reference",
                        DATA / "tiny_add.expected.npz", "--iterations", "3")["csv"].open(newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        self.assertEqual(len(rows), 1)
        self.assertEqual((rows[0]["status"], rows[0]["pass"], rows[0]["runs"]), ("pass", "true", "2"))
        self.assertEqual(float(rows[0]["max_abs"]), 0)
        self.assertLess(0, int(rows[0]["min_ns"]))

    def test_csv_has_one_row_per_process_of_each_cell(self):
        with self.files("bench", ADD, *QUICK, "--axis", "threads=1,2", "--processes", "2")["csv"].open(newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        self.assertEqual([(row["threads"], row["block"]) for row in rows], [("1", "0"), ("1", "1"), ("2", "0"), ("2", "1")])
        self.assertTrue(all(int(row["runs"]) >= 5 and int(row["peak_rss_bytes"]) > 0 for row in rows))
        self.assertNotEqual(rows[2]["ratio"], "")

    def test_markdown_tables_are_rectangular(self):
        for paths in (self.files("run", ADD, "--load-option", f"{MODE}=1"), self.files("bench", ADD, *QUICK, "--profile")):
            text = paths["markdown"].read_text()
            self.assertTrue(text.startswith("# pterun "))
            table = []
            for line in [*text.splitlines(), ""]:
                if line.startswith("|"):
                    table.append(line.replace("\\|", "").count("|"))
                elif table:
                    self.assertEqual(len(set(table)), 1, text)
                    table = []

    def test_each_format_can_go_to_stdout_but_only_one(self):
        for name, start in (("junit", "<?xml"), ("csv", "kind,status"), ("markdown", "# pterun run")):
            outcome = run("run", ADD, f"--{name}", "-")
            self.assertEqual(outcome.code, 0, outcome.err)
            self.assertTrue(outcome.out.startswith(start), outcome.out)
            self.assertNotIn("\nPASS", outcome.out)
        outcome = run("run", ADD, "--csv", "-", "--junit", "-")
        self.assertEqual(outcome.code, 2)
        self.assertIn("only one report can go to stdout", outcome.err)
        self.assertEqual(junit_rules.problems(outcome.out), [])

    def test_a_report_that_cannot_be_opened_stops_before_the_work(self):
        for name in ("junit", "csv", "markdown"):
            self.check_error(run("run", DATA / "none.pte", f"--{name}", self.folder / "none" / "r"), 2, "output", f"--{name}")


class Events(Case):
    def events(self, *arguments, code=0):
        path = self.folder / "events.jsonl"
        outcome = run(*arguments, "--events", path)
        self.assertEqual(outcome.code, code, outcome.err)
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        times = [line["at_ns"] for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertEqual((lines[0]["event"], lines[-1]["event"]), ("started", "finished"))
        self.assertEqual(lines[-1]["exit_code"], code)
        if jsonschema is not None:
            schema = json.loads((SOURCE / "configs" / "schema" / "events.schema.json").read_text())
            for line in lines:
                self.assertEqual(list(jsonschema.Draft202012Validator(schema).iter_errors(line)), [], line)
        return lines

    def names(self, lines):
        return [line["event"] for line in lines]

    def test_a_run_tells_loading_receipts_executions_and_comparisons(self):
        lines = self.events("run", ADD, "--inputs", DATA / "tiny_add.inputs.npz", "--reference",
                            DATA / "tiny_add.expected.npz", "--load-option", f"{MODE}=1", "--warmup", "1", "--iterations", "3")
        self.assertEqual(self.names(lines), ["started", "option", "program_loaded", "method_loaded", "receipt", "executed",
                                             "step", "comparison", "executed", "executed", "finished"])
        receipt = lines[4]
        self.assertEqual((receipt["key"], receipt["value"], receipt["result"]), ("workspace_sharing_mode", 1, "Ok"))
        self.assertEqual([line["phase"] for line in lines if line["event"] == "executed"], ["warmup", "measured", "measured"])

    def test_the_lines_are_those_of_the_golden_files(self):
        """But for times, versions, folders in front of names and what depends on the machine's load;
        PTERUN_RENEW_GOLDEN=1 writes the files anew."""
        gate = ("--fail-if", "p50>100s")
        for name, code, arguments in (
                ("run", 0, ("run", ADD, *REFERENCE, "--load-option", f"{MODE}=1", "--warmup", "1", "--iterations", "2")),
                ("bench", 0, ("bench", ADD, *QUICK, *gate)),
                ("sweep", 0, ("bench", ADD, *QUICK, *gate, "--axis", f"{MODE}=0,1", "--processes", "2")),
                ("error", 3, ("run", "none.pte"))):
            with self.subTest(name=name):
                text = "".join(map(comparable_event, self.events(*arguments, code=code)))
                golden = SOURCE / "tests" / "golden" / f"{name}.events.jsonl"
                if os.environ.get("PTERUN_RENEW_GOLDEN"):
                    golden.write_text(text, encoding="utf-8")
                self.assertEqual(text, golden.read_text(encoding="utf-8"))

    def test_an_error_and_a_warning_are_events_too(self):
        lines = self.events("run", DATA / "none.pte", code=3)
        self.assertEqual(self.names(lines), ["started", "finished"])
        self.assertTrue(lines[-1]["message"])
        lines = self.events("run", DATA / "tiny_add_portable.pte", "--load-option", f"{MODE}=1")
        self.assertIn("load_option_unused", [line.get("code") for line in lines])

    def test_a_sweep_tells_each_process_cell_and_gate(self):
        resume = self.folder / "resume.jsonl"
        sweep = ("bench", ADD, *QUICK, "--axis", "threads=1,2", "--resume", resume, "--fail-if", "p50>100s")
        names = self.names(self.events(*sweep))
        self.assertEqual([names.count(name) for name in ("process_started", "process_finished", "cell", "gate")],
                         [2, 2, 2, 2])
        again = self.events(*sweep)
        self.assertNotIn("process_started", self.names(again))
        self.assertTrue(all(line["resumed"] for line in again if line["event"] == "process_finished"))

    def test_a_benchmark_in_one_process_tells_what_it_measured(self):
        lines = self.events("bench", ADD, "--min-runs", "5", "--min-time", "0.3")
        self.assertIn("progress", self.names(lines))
        self.assertEqual(self.names(lines).count("measured"), 1)

    def test_lines_are_written_when_things_happen(self):
        process = subprocess.Popen([PROGRAM, "bench", ADD, "--min-time", "60", "--events", "-"], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        event = ""
        while event != "progress":
            event = json.loads(process.stdout.readline())["event"]
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=60)[0].splitlines()
        self.assertEqual((process.returncode, json.loads(rest[-1])["exit_code"]), (130, 130))

    def test_events_share_stdout_with_nothing(self):
        outcome = run("run", ADD, "--events", "-", "--csv", "-")
        self.assertEqual(outcome.code, 2)
        self.assertIn("--events: only one report can go to stdout", outcome.err)
        self.assertTrue(outcome.out.startswith("kind,status"))
        self.check_error(run("run", ADD, "--events", self.folder / "no" / "e"), 2, "output", "--events")


if __name__ == "__main__":
    unittest.main()
