"""pterun bench from outside: what it measures, reports and refuses. Times themselves are not judged."""

import json
import unittest

from driver import DATA, SOURCE, Case, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

QUICK = ("--warmup", "1", "--min-runs", "12", "--min-time", "0", "--max-time", "10", "--threads", "1")


def check_schema(case, report):
    if jsonschema is None:
        return
    schema = json.loads((SOURCE / "configs" / "schema" / "report.schema.json").read_text())
    case.assertEqual(list(jsonschema.Draft202012Validator(schema).iter_errors(report)), [])


class OneCell(Case):
    def test_load_first_and_steady_are_kept_apart(self):
        done = run("bench", DATA / "tiny_add.pte", *QUICK, "--json", "-")
        self.assertEqual(done.code, 0, done.err)
        report = done.report()
        check_schema(self, report)
        self.assertEqual((report["kind"], report["status"]), ("bench", "pass"))
        cell, = report["bench"]["cells"]
        process, = cell["processes"]
        self.assertGreater(process["load_ns"], 0)
        self.assertGreater(process["first_ns"], 0)
        self.assertEqual(process["warmup"], {"runs": 1, "stable": True})
        steady = process["steady"]
        self.assertEqual(steady["runs"], 12)
        self.assertEqual(len(process["samples_ns"]), 12)
        self.assertLessEqual(steady["min_ns"], steady["p50"]["value_ns"])
        self.assertEqual(steady["p99"], {"value_ns": None, "needed_runs": 500})
        self.assertLessEqual(steady["median_ci_ns"][0], steady["p50"]["value_ns"])
        self.assertEqual(cell["metrics"]["p50"], steady["p50"]["value_ns"])
        for name in ("rss_before_load_bytes", "rss_after_load_bytes", "rss_after_first_bytes", "rss_steady_bytes",
                     "peak_rss_bytes"):
            self.assertGreater(process["memory"][name], 0)
        self.assertEqual(report["timing"]["steady"]["runs"], 12)

    def test_the_text_names_what_was_measured(self):
        done = run("bench", DATA / "tiny_add.pte", *QUICK)
        self.assertEqual(done.code, 0, done.err)
        for part in ("load ", "first ", "median of 12 runs", "p99 needs 500 runs", "MAD", "peak rss"):
            self.assertIn(part, done.out)

    def test_outputs_are_compared_with_a_reference(self):
        arguments = ("bench", DATA / "tiny_add.pte", *QUICK, "--inputs", DATA / "tiny_add.inputs.npz", "--reference",
                     DATA / "tiny_add.expected.npz")
        self.assertEqual(run(*arguments).code, 0)
        wrong = run(*arguments, "--tolerance", "cosine>=2", "--json", "-")
        self.assertEqual((wrong.code, wrong.report()["error"]["code"]), (1, "mismatch"))

    def test_sampling_stops_by_time_and_by_interval(self):
        late = run("bench", DATA / "tiny_add.pte", "--warmup", "0", "--min-runs", "1000000000", "--max-time", "0.05",
                   "--json", "-").report()
        self.assertEqual(late["bench"]["cells"][0]["processes"][0]["stop"], "max_time")
        narrow = run("bench", DATA / "tiny_add.pte", "--warmup", "0", "--min-time", "0", "--until-ci", "90%",
                     "--max-time", "30", "--json", "-").report()
        process = narrow["bench"]["cells"][0]["processes"][0]
        if process["stop"] == "interval":
            low, high = process["steady"]["median_ci_ns"]
            self.assertLessEqual(high - low, 0.9 * process["steady"]["p50"]["value_ns"])

    def test_a_profile_says_where_time_goes(self):
        cell, = run("bench", DATA / "tiny_mlp.pte", *QUICK, "--profile", "--json", "-").report()["bench"]["cells"]
        self.assertTrue(any("XnnpackBackend" in entry["name"] for entry in cell["profile"]))
        self.assertAlmostEqual(sum(entry["share"] for entry in cell["profile"]), 1)
        self.assertEqual({entry["calls"] for entry in cell["profile"]}, {12})

    def test_inputs_are_rotated_only_when_they_are_generated(self):
        done = run("bench", DATA / "tiny_add.pte", *QUICK, "--input-seeds", "3", "--json", "-")
        self.assertNotIn("inputs_not_rotated", done.err)
        done = run("bench", DATA / "tiny_add.pte", *QUICK, "--input-seeds", "3", "--inputs",
                   DATA / "tiny_add.inputs.npz")
        self.assertIn("warning[inputs_not_rotated]", done.err)

    def test_more_threads_than_processors_are_warned_about(self):
        arguments = [x if x != "1" or QUICK[i - 1] != "--threads" else "512" for i, x in enumerate(QUICK)]
        self.assertIn("warning[fewer_cpus_than_threads]", run("bench", DATA / "tiny_add.pte", *arguments).err)

    def test_errors_are_those_of_run(self):
        self.check_error(run("bench"), 2, "usage", "MODEL")
        self.check_error(run("bench", DATA / "tiny_add.pte", "--method", "x"), 2, "InvalidArgument", "forward")
        self.check_error(run("bench", DATA / "tiny_add.pte", "--min-runs", "0"), 2, "usage", "--min-runs")
        self.check_error(run("bench", DATA / "tiny_add.pte", "--load-option", "XnnpackBackend.x=1"), 2,
                         "unknown_option", "XnnpackBackend.x")


if __name__ == "__main__":
    unittest.main()
