"""pterun bench from outside: what it measures, reports and refuses. Times themselves are not judged."""

import json
import shlex
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
        self.assertEqual(process["memory"]["workspace_after_load_bytes"], 0)
        for phase in ("after_load", "after_first", "steady"):
            self.assertGreaterEqual(process["memory"][f"peak_rss_{phase}_bytes"], process["memory"][f"rss_{phase}_bytes"])
            for what in ("planned", "packed", "mapped", "workspace"):
                self.assertIn(f"{what}_{phase}_bytes", process["memory"])
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
        delegate, = [entry for entry in cell["profile"] if "XnnpackBackend" in entry["name"]]
        self.assertTrue(any("Fully Connected" in node["name"] for node in delegate["nodes"]))
        self.assertEqual({node["calls"] for node in delegate["nodes"]}, {12})
        # Nodes of less than a microsecond are not nothing.
        self.assertTrue(all(node["total_ns"] > 0 for node in delegate["nodes"]))
        self.assertTrue(any(node["total_ns"] % 1000 != 0 for node in delegate["nodes"]))

    def test_the_nodes_of_a_delegate_take_most_of_its_time_and_not_more(self):
        cell, = run("bench", DATA / "silero.pte", *QUICK, "--profile", "--json",
                    "-").report()["bench"]["cells"]
        delegates = [entry for entry in cell["profile"] if entry["nodes"]]
        whole = sum(entry["total_ns"] for entry in delegates)
        nodes = sum(node["total_ns"] for entry in delegates for node in entry["nodes"])
        self.assertGreater(nodes, 0.5 * whole)
        self.assertLessEqual(nodes, whole)
        for entry in delegates:
            self.assertAlmostEqual(sum(node["share"] for node in entry["nodes"]) * entry["total_ns"],
                                   sum(node["total_ns"] for node in entry["nodes"]), delta=1)
        text = run("bench", DATA / "silero.pte", *QUICK, "--profile").out
        self.assertIn("outside its nodes", text)

    def test_memory_is_reported_for_each_phase(self):
        done = run("bench", DATA / "tiny_mlp.pte", *QUICK)
        for part in ("before load", "after load", "after first", "steady", "workspaces", "packed weights"):
            self.assertIn(part, done.out)
        memory = run("bench", DATA / "tiny_mlp.pte", *QUICK, "--json", "-").report()["bench"]["cells"][0]["processes"][0]["memory"]
        self.assertGreater(memory["packed_after_load_bytes"], 100000)
        self.assertEqual(memory["mapped_after_load_bytes"], 0)
        self.assertGreater(memory["workspace_after_first_bytes"], 0)
        self.assertEqual(memory["workspace_after_first_bytes"], memory["workspace_steady_bytes"])
        self.assertGreater(memory["planned_after_load_bytes"], 0)

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


MODE = "XnnpackBackend.workspace_sharing_mode"
FEW = ("--warmup", "0", "--min-runs", "6", "--min-time", "0", "--max-time", "10")


class Sweep(Case):
    def test_cells_are_measured_in_processes_and_compared(self):
        done = run("bench", DATA / "tiny_mlp.pte", *FEW, "--threads", "1", "--axis", f"{MODE}=disabled,global",
                   "--processes", "3", "--profile", "--json", "-")
        self.assertEqual(done.code, 0, done.err)
        report = done.report()
        check_schema(self, report)
        first, second = report["bench"]["cells"]
        self.assertEqual(first["name"], f"{MODE}=disabled")
        self.assertEqual((first["baseline"], first["comparison"], first["outputs"]), (True, None, None))
        self.assertEqual([p["block"] for p in first["processes"]], [0, 1, 2])
        self.assertEqual(second["comparison"]["pairs"], 3)
        self.assertTrue(second["outputs"]["identical"])
        self.assertTrue(second["profile"])
        for cell, value in ((first, "0"), (second, "2")):
            self.assertEqual(cell["options"], [{"backend": "XnnpackBackend", "key": "workspace_sharing_mode", "path": "load",
                                                "value": value, "evidence": "effective"}])
        self.assertEqual(report["bench"]["control"]["pairs"], 3)
        self.assertIsNotNone(report["bench"]["control"]["false_positive_rate"])

    def test_a_plan_prints_commands_that_measure_one_cell(self):
        config = self.write("c.json", {"model": {"path": str(DATA / "tiny_mlp.pte")},
                                       "bench": {"min_runs": 6, "min_time_s": 0, "processes": 4},
                                       "matrix": {"threads": [1, 2], f"load_options.{MODE}": [0, 2],
                                                  "exclude": [{"threads": 2, f"load_options.{MODE}": 0}],
                                                  "baseline": {"threads": 1, f"load_options.{MODE}": 2}}})
        plan = run("bench", "--config", config, "--warmup", "0", "--plan")
        self.assertEqual(plan.code, 0, plan.err)
        names = [line[2:] for line in plan.out.splitlines() if line.startswith("#")]
        self.assertEqual(names, [f"threads=1 {MODE}=0", f"threads=1 {MODE}=2 (baseline)", f"threads=2 {MODE}=2"])
        commands = [shlex.split(line) for line in plan.out.splitlines() if not line.startswith("#")]
        done = run(*commands[2][1:], "--json", "-")
        self.assertEqual(done.code, 0, done.err)
        report = done.report()
        self.assertEqual(len(report["bench"]["cells"]), 1)
        self.assertEqual(report["manifest"]["threads"], 2)
        self.assertEqual([o["requested"] for o in report["options"]], [2])
        shard = run("bench", "--config", config, "--plan", "--shard", "3/3").out
        self.assertEqual([line[2:] for line in shard.splitlines() if line.startswith("#")], names[1:])

    def test_an_option_that_does_not_arrive_in_a_cell_is_seen_in_it(self):
        done = run("bench", DATA / "tiny_mlp_portable.pte", *FEW, "--axis", "threads=1,2", "--processes", "1",
                   "--load-option", f"{MODE}=1", "--require-evidence", "delivered", "--json", "-")
        self.assertEqual(done.code, 5, done.err)
        for cell in done.report()["bench"]["cells"]:
            self.assertEqual([o["evidence"] for o in cell["options"]], ["accepted"])

    def test_a_sweep_goes_on_where_it_stopped(self):
        arguments = ("bench", DATA / "tiny_add.pte", *FEW, "--axis", "threads=1,2", "--processes", "2", "--resume",
                     self.folder / "r.jsonl", "--json", "-")
        first = run(*arguments)
        self.assertEqual(first.code, 0, first.err)
        lines = (self.folder / "r.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), 4)
        # As if it had been stopped while the third line was written.
        (self.folder / "r.jsonl").write_text("\n".join(lines[:2]) + "\n" + lines[2][:40])
        again = run(*arguments)
        self.assertEqual(again.code, 0, again.err)
        after = (self.folder / "r.jsonl").read_text().splitlines()
        self.assertEqual(after[:2], lines[:2])
        self.assertEqual(len(after), 4)
        kept = json.loads(lines[0])["process"]["samples_ns"]
        self.assertIn(kept, [p["samples_ns"] for c in again.report()["bench"]["cells"] for p in c["processes"]])
        self.write("bad.jsonl", "{}\n")
        self.check_error(run(*arguments[:-4], "--resume", self.folder / "bad.jsonl"), 4, "input", "bad.jsonl")

    def test_one_bad_cell_does_not_lose_the_rest(self):
        broken = self.write("broken.pte", (DATA / "tiny_add.pte").read_bytes()[:200])
        done = run("bench", DATA / "tiny_add.pte", broken, *FEW, "--threads", "1", "--json", "-")
        self.assertEqual(done.code, 3, done.err)
        report = done.report()
        check_schema(self, report)
        good, bad = report["bench"]["cells"]
        self.assertEqual(len(good["processes"]), 1)
        self.assertEqual((bad["processes"], bad["failures"][0]["exit_code"]), ([], 3))
        self.assertIn("broken.pte", report["error"]["message"])

    def test_outputs_of_another_model_are_compared_and_do_not_fail(self):
        done = run("bench", DATA / "tiny_mlp.pte", DATA / "tiny_mlp_q8.pte", *FEW, "--threads", "1", "--json", "-")
        self.assertEqual(done.code, 0, done.err)
        outputs = done.report()["bench"]["cells"][1]["outputs"]
        self.assertFalse(outputs["identical"])
        self.assertGreater(outputs["max_abs"], 0)
        self.assertIn("warning[one_process]", done.err)

    def test_what_cannot_be_swept_is_refused(self):
        model = DATA / "tiny_add.pte"
        self.check_error(run("bench", model, "--axis", f"{MODE}=disabled,nonsense"), 2, "option_type", "nonsense")
        self.check_error(run("bench", model, "--axis", "XnnpackBackend.x=1"), 2, "unknown_option", "XnnpackBackend.x")
        self.check_error(run("bench", model, "--axis", "threads=1,2", "--threads", "1"), 2, "usage", "axis")
        self.check_error(run("bench", model, "--axis", "threads=1,2", "--shard", "3/2"), 2, "usage", "3/2")
        self.check_error(run("bench", model, "--axis", "speed=1"), 2, "usage", "speed")
        config = self.write("c.json", {"model": {"path": str(model)}, "matrix": {"threads": [1], "exclude": [{"threads": 9}]}})
        self.check_error(run("bench", "--config", config), 2, "usage", "threads=9")


class Gates(Case):
    def test_a_gate_that_holds_is_exit_code_7(self):
        done = run("bench", DATA / "tiny_add.pte", *FEW, "--threads", "1", "--fail-if", "p50>1ns", "--json", "-")
        self.assertEqual(done.code, 7, done.err)
        report = done.report()
        check_schema(self, report)
        self.assertEqual((report["status"], report["error"]["code"]), ("fail", "gate"))
        self.assertEqual([g["verdict"] for g in report["bench"]["gates"]], ["failed"])
        passed = run("bench", DATA / "tiny_add.pte", *FEW, "--threads", "1", "--fail-if", "p50>100s")
        self.assertEqual(passed.code, 0, passed.err)
        self.assertIn("passed", passed.out)

    def test_a_baseline_report_is_compared_with(self):
        arguments = ("bench", DATA / "tiny_add.pte", *FEW, "--threads", "1")
        path = self.folder / "base.json"
        self.assertEqual(run(*arguments, "--json", path).code, 0)
        report = json.loads(path.read_text())
        for factor, code in ((0.001, 7), (1000, 0)):
            changed = json.loads(json.dumps(report))
            for name, value in changed["bench"]["cells"][0]["metrics"].items():
                changed["bench"]["cells"][0]["metrics"][name] = value and value * factor
            base = self.write("changed.json", changed)
            done = run(*arguments, "--baseline", base, "--fail-if", "p50>+3%", "--json", "-")
            self.assertEqual(done.code, code, done.err)
            check_schema(self, done.report())
        shown = run(*arguments, "--baseline", path)
        self.assertEqual(shown.code, 0, shown.err)
        self.assertIn("Gates", shown.out)

    def test_gates_without_a_sense_are_refused(self):
        model = DATA / "tiny_add.pte"
        self.check_error(run("bench", model, "--fail-if", "p50>3%"), 2, "usage", "3%")
        self.check_error(run("bench", model, "--fail-if", "p50>+3%"), 2, "usage", "--baseline")
        self.check_error(run("bench", model, "--baseline", "none.json"), 4, "input", "none.json")
        self.check_error(run("bench", model, "--baseline", self.write("x.json", "{}")), 4, "input", "x.json")


class Configs(Case):
    def test_the_configs_of_the_repository_work(self):
        done = run("bench", "--config", SOURCE / "configs" / "bench.json", "--warmup", "0", "--min-runs", "6",
                   "--min-time", "0", "--until-ci", "100%", "--max-time", "3", "--json", "-")
        self.assertEqual(done.code, 0, done.err)
        self.assertTrue(done.report()["comparisons"][0]["pass"])
        plan = run("bench", "--config", SOURCE / "configs" / "sweep.json", "--plan")
        self.assertEqual(plan.out.count("\npterun bench"), 5, plan.err)
        sweep = run("bench", "--config", SOURCE / "configs" / "sweep.json", "--processes", "1", "--warmup", "0",
                    "--min-runs", "3", "--min-time", "0", "--max-time", "2", "--json", "-")
        self.assertEqual(sweep.code, 0, sweep.err)
        self.assertTrue(all(c["outputs"]["pass"] for c in sweep.report()["bench"]["cells"] if not c["baseline"]))


if __name__ == "__main__":
    unittest.main()
