"""The files of docs/ci, run as docs/several-machines.md shows them, and the configs that come with pterun."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import unittest

from driver import PROGRAM, SOURCE, Case, run

CI = SOURCE / "docs" / "ci"
QUICK = ("--warmup", "0", "--min-runs", "3", "--min-time", "0", "--max-time", "5", "--processes", "1")
CAN_MERGE = "\n  report " in run("--help").out


def shell(*command, **variables):
    return subprocess.run([os.fspath(part) for part in command], cwd=SOURCE, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, timeout=280, check=False, env=dict(os.environ, PTERUN=PROGRAM, **variables))


class Smoke(Case):
    def test_the_commands_of_the_page_pass_exactly_as_they_stand(self):
        page = (SOURCE / "docs" / "several-machines.md").read_text(encoding="utf-8")
        commands = re.findall(r"^PTERUN=\S+ (.*docs/ci/smoke\.sh) (\S+) \S+$", page, re.MULTILINE)
        self.assertEqual(len(commands), 2)
        for script, config in commands:
            done = shell("sh", "-c", f"{script} {config} {self.folder}/reports")
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            self.assertIn("== passed", done.stdout)
            report = json.loads((self.folder / "reports" / "run.json").read_text())
            self.assertEqual((report["status"], report["exit_code"]), ("pass", 0))
        self.assertEqual(json.loads((self.folder / "reports" / "bench.json").read_text())["kind"], "bench")

    def test_a_failure_is_the_exit_code_and_leaves_a_report(self):
        config = self.write("c.json", {"extends": str(SOURCE / "configs" / "bench.json"), "tolerance": "cosine>=2"})
        done = shell(CI / "smoke.sh", config, self.folder / "reports")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(json.loads((self.folder / "reports" / "run.json").read_text())["status"], "fail")

    def test_a_gate_that_holds_fails(self):
        config = self.write("c.json", {"extends": str(SOURCE / "configs" / "bench.json"),
                                       "bench": {"min_runs": 3, "min_time_s": 0, "until_ci": None}})
        self.assertEqual(shell(CI / "smoke.sh", config, self.folder / "reports", GATE="p50>1ns").returncode, 7)


class SeveralMachines(Case):
    def sweep(self):
        return self.write("sweep.json", {"extends": str(SOURCE / "configs" / "sweep.json"),
                                         "bench": {"min_runs": 3, "min_time_s": 0, "max_time_s": 5, "processes": 1,
                                                   "warmup": 0}})

    def check_merged(self, parts):
        """Every cell of the sweep is in a part, the baseline in each, and the merged report has them all."""
        reports = [json.loads(path.read_text()) for path in parts]
        names = [{cell["name"] for cell in report["bench"]["cells"]} for report in reports]
        every = {line[2:].removesuffix(" (baseline)")
                 for line in run("bench", "--config", self.sweep(), "--plan").out.splitlines() if line.startswith("# ")}
        self.assertEqual(set.union(*names), every)
        self.assertEqual(len(set.intersection(*names)), 1)
        if not CAN_MERGE:
            return
        merged = run("report", *parts, "--json", "-")
        self.assertEqual(merged.code, 0, merged.err)
        self.assertTrue(every <= {cell["name"] for cell in merged.report()["bench"]["cells"]})

    def test_a_slurm_array_measures_all_cells(self):
        for k in (1, 2):
            done = shell(CI / "slurm.sh", self.sweep(), self.folder / "parts", SLURM_ARRAY_TASK_ID=str(k),
                         SLURM_ARRAY_TASK_COUNT="2")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.check_merged(sorted((self.folder / "parts").glob("part-*.json")))

    def test_ray_measures_all_cells(self):
        python = os.environ.get("PTERUN_RAY_PYTHON", sys.executable)
        if "PTERUN_RAY_PYTHON" not in os.environ and importlib.util.find_spec("ray") is None:
            self.skipTest("Ray is not installed (pip install ray; PTERUN_RAY_PYTHON names its interpreter)")
        if not CAN_MERGE:
            self.skipTest("this build has no `pterun report`")
        done = shell(python, CI / "ray_sweep.py", "--shards", "2", "--out", self.folder / "parts", "--pterun", PROGRAM,
                     "--", "--config", self.sweep())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_merged(sorted((self.folder / "parts").glob("part-*.json")))

    def test_the_workflow_uses_flags_that_there_are(self):
        text = (CI / "workflow.yml").read_text(encoding="utf-8")
        for command, arguments in re.findall(r"release/pterun (\w+) (.*)$", text, re.MULTILINE):
            if command == "report" and not CAN_MERGE:
                continue
            known = run(command, "--help").out
            for flag in re.findall(r"--[a-z-]+", arguments):
                self.assertIn(f" {flag} ", known)


class Configs(Case):
    def test_every_config_that_comes_with_pterun_passes(self):
        for name in ("smoke", "demo", "bench"):
            self.assertEqual(run("run", "--config", SOURCE / "configs" / f"{name}.json").code, 0, name)
        for name in ("bench", "sweep"):
            done = run("bench", "--config", SOURCE / "configs" / f"{name}.json", *QUICK, "--set", "bench.until_ci=null")
            self.assertEqual(done.code, 0, done.err)


if __name__ == "__main__":
    unittest.main()
