"""Exports for the scripts of other tools, read as hyperfine's README (JSON export) and Google Benchmark's user guide
(output formats) document them and as their scripts do."""

import copy
import json
import statistics
import unittest

import export_rules
from driver import DATA, SOURCE, Case, run

ADD = DATA / "tiny_add.pte"
QUICK = ("--min-runs", "5", "--min-time", "0", "--warmup", "1")
GOLDEN = SOURCE / "tests" / "golden"


def golden(name):
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def breaches(document):
    """The document with one number, name or entry of its list changed, dropped or repeated."""
    key = "results" if "results" in document else "benchmarks"
    for index, entry in enumerate(document[key]):
        for name, value in entry.items():
            for wrong in ([], -1, "", None):
                changed = copy.deepcopy(document)
                changed[key][index][name] = wrong
                yield f"{name} = {wrong!r}", changed
            dropped = copy.deepcopy(document)
            del dropped[key][index][name]
            yield f"no {name}", dropped


class Rules(unittest.TestCase):
    """The checks themselves catch what they are for."""

    def test_the_golden_files_follow_the_rules(self):
        for path in GOLDEN.glob("*.hyperfine.json"):
            self.assertEqual(export_rules.hyperfine_problems(golden(path.name)), [], path.name)
        for path in GOLDEN.glob("*.google-benchmark.json"):
            self.assertEqual(export_rules.google_benchmark_problems(golden(path.name)), [], path.name)

    def test_each_breach_of_hyperfines_is_found(self):
        # What no script reads, or may be absent: CPU times, parameters. One result alone may have other ones.
        free = {"user", "system", "parameters"}
        for what, document in breaches(golden("run.hyperfine.json")):
            if not free & set(what.split()):
                self.assertNotEqual(export_rules.hyperfine_problems(document), [], what)
        two = golden("sweep.hyperfine.json")
        two["results"][0]["parameters"] = {"threads": "1"}
        self.assertEqual(export_rules.hyperfine_problems(two), ["results have different parameters"])

    def test_each_breach_of_google_benchmarks_is_found(self):
        good = golden("sweep.google-benchmark.json")
        good["benchmarks"] = [entry for entry in good["benchmarks"] if entry["family_index"] < 2]
        for what, document in breaches(good):
            # Only compared, not judged: the CPU time may be any number, as its absence may not.
            if what not in ("cpu_time = -1", "per_family_instance_index = -1"):
                self.assertNotEqual(export_rules.google_benchmark_problems(document), [], what)
        for entries in (good["benchmarks"][::-1], good["benchmarks"] * 2, good["benchmarks"][1:]):
            self.assertNotEqual(export_rules.google_benchmark_problems({**good, "benchmarks": entries}), [])
        for name in export_rules.CONTEXT:
            context = {key: value for key, value in good["context"].items() if key != name}
            self.assertNotEqual(export_rules.google_benchmark_problems({**good, "context": context}), [], name)


class Exports(Case):
    def bench(self, *arguments):
        paths = self.folder / "h.json", self.folder / "g.json", self.folder / "r.json"
        outcome = run("bench", ADD, *QUICK, *arguments, "--export-hyperfine", paths[0], "--export-google-benchmark",
                      paths[1], "--json", paths[2])
        self.assertEqual(outcome.code, 0, outcome.err)
        documents = [json.loads(path.read_text()) for path in paths]
        self.assertEqual(export_rules.hyperfine_problems(documents[0]), [])
        self.assertEqual(export_rules.google_benchmark_problems(documents[1]), [])
        return documents

    def test_hyperfine_has_a_result_per_cell_whose_figures_follow_from_its_times(self):
        exported, _, report = self.bench("--axis", "threads=1,2", "--processes", "2")
        self.assertEqual(list(exported), ["results"])
        self.assertEqual([result["parameters"] for result in exported["results"]], [{"threads": "1"}, {"threads": "2"}])
        for result, cell in zip(exported["results"], report["bench"]["cells"]):
            times = result["times"]
            self.assertEqual(times, [ns / 1e9 for process in cell["processes"] for ns in process["samples_ns"]])
            self.assertAlmostEqual(result["mean"], statistics.mean(times), 12)
            self.assertAlmostEqual(result["median"], statistics.median(times), 12)
            self.assertAlmostEqual(result["stddev"], statistics.stdev(times), 12)
            self.assertEqual((result["min"], result["max"]), (min(times), max(times)))
            self.assertEqual(result["exit_codes"], [0] * len(times))
            self.assertEqual(result["command"], cell["command"])

    def test_google_benchmark_has_a_repetition_per_process_and_aggregates_over_them(self):
        _, exported, report = self.bench("--processes", "3")
        self.assertEqual(set(exported), {"context", "benchmarks"})
        self.assertLessEqual({"date", "num_cpus", "library_build_type", "json_schema_version"}, set(exported["context"]))
        entries = [entry for entry in exported["benchmarks"] if entry["run_type"] == "iteration"]
        self.assertEqual([entry["repetition_index"] for entry in entries], [0, 1, 2])
        steady = [process["steady"] for process in report["bench"]["cells"][0]["processes"]]
        self.assertEqual([entry["real_time"] for entry in entries], [s["mean_ns"] for s in steady])
        self.assertEqual([entry["iterations"] for entry in entries], [s["runs"] for s in steady])
        self.assertEqual({entry["time_unit"] for entry in exported["benchmarks"]}, {"ns"})
        times = [entry["real_time"] for entry in entries]
        aggregates = {entry["aggregate_name"]: entry for entry in exported["benchmarks"] if entry["run_type"] == "aggregate"}
        self.assertEqual(list(aggregates), ["mean", "median", "stddev", "cv"])
        self.assertAlmostEqual(aggregates["mean"]["real_time"], statistics.mean(times), 6)
        self.assertAlmostEqual(aggregates["median"]["real_time"], statistics.median(times), 6)
        self.assertAlmostEqual(aggregates["stddev"]["real_time"], statistics.stdev(times), 6)
        self.assertAlmostEqual(aggregates["cv"]["real_time"], statistics.stdev(times) / statistics.mean(times), 9)
        for name, entry in aggregates.items():
            self.assertEqual(entry["name"], f"{entry['run_name']}_{name}")

    def test_google_benchmarks_script_pairs_two_files_by_cell_and_repetition(self):
        sweep = ("--axis", "threads=1,2", "--processes", "2")
        before, after = self.bench(*sweep)[1], self.bench(*sweep)[1]
        self.assertEqual({name: len(changes) for name, changes in export_rules.compared(before, after).items()},
                         {"threads=1": 2, "threads=2": 2})
        self.assertEqual(set(sum(export_rules.compared(before, before).values(), [])), {0.0})

    def test_one_benchmark_in_one_process_is_one_repetition_without_aggregates(self):
        hyperfine, google, _ = self.bench()
        self.assertEqual([entry["run_type"] for entry in google["benchmarks"]], ["iteration"])
        self.assertEqual([len(result["times"]) for result in hyperfine["results"]], [5])

    def test_programs_of_one_name_in_two_folders_are_two_benchmarks(self):
        folder = self.folder / "other"
        folder.mkdir()
        (folder / ADD.name).write_bytes(ADD.read_bytes())
        _, google, _ = self.bench(folder / ADD.name)
        self.assertEqual([entry["name"] for entry in google["benchmarks"]], [str(ADD), str(folder / ADD.name)])
        self.check_error(run("bench", ADD, ADD), 2, "usage", "found", "tiny_add.pte' twice", "--processes")

    def test_a_saved_report_is_exported_the_same(self):
        hyperfine, google, _ = self.bench()
        path = self.folder / "r.json"
        self.assertEqual(run("report", path, "--export-hyperfine", "-").report(), hyperfine)
        self.assertEqual(run("report", path, "--export-google-benchmark", "-").report(), google)

    def test_a_report_without_times_exports_none(self):
        saved = self.folder / "c.json"
        a = DATA / "tiny_add.expected.npz"
        self.assertEqual(run("compare", a, a, "--json", saved).code, 0)
        self.assertEqual(run("report", saved, "--export-hyperfine", "-").report(), {"results": []})
        self.assertEqual(run("report", saved, "--export-google-benchmark", "-").report()["benchmarks"], [])


if __name__ == "__main__":
    unittest.main()
