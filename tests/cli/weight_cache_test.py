"""The weight cache on disk as a user meets it: the second process maps what the first packed, and says so; a bad file is
reported and written anew; what cannot be written costs the cache and nothing else; both options climb the ladder."""

import json
import os
import pathlib
import resource
import subprocess
import unittest

from driver import DATA, PROGRAM, Case, run

CACHE = "XnnpackBackend.weight_cache_enabled=true"
SAVE = "XnnpackBackend.save_weight_cache_on_disk=true"


class WeightCache(Case):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "w.cache"

    def load(self, model, *arguments, path=None, code=0, compared=True):
        """One run with the cache file; its outcome and report. Outputs are compared with eager's where there are."""
        reference = []
        if (DATA / f"{model}.expected.npz").exists() and (DATA / f"{model}.inputs.npz").exists() and compared:
            reference = ["--inputs", DATA / f"{model}.inputs.npz", "--reference", DATA / f"{model}.expected.npz"]
        outcome = run("run", DATA / f"{model}.pte", "--load-option", CACHE, "--load-option",
                      f"XnnpackBackend.packed_cache_path={path or self.cache}", *reference, *arguments, "--json", "-")
        self.assertEqual(outcome.code, code, outcome.err)
        return outcome, outcome.report()

    def option(self, report, key):
        return next(option for option in report["options"] if option["key"] == key)

    def details(self, report, key="packed_cache_path"):
        return [effect["detail"] for effect in self.option(report, key)["effects"]]

    def metric(self, report, name):
        return sum(delegate["metrics"][name] for delegate in report["load"]["delegates"])

    def test_the_second_process_reuses_all_that_the_first_wrote(self):
        for model in ("tiny_mlp", "digits", "tiny_mlp_q8", "tiny_mlp_qd8", "tiny_mlp_4w", "digits_q8", "tiny_convrelu",
                      "dyn_mlp", "silero", "multi"):
            with self.subTest(model=model):
                self.cache = self.folder / f"{model}.cache"
                compared = model not in ("tiny_mlp_4w", "tiny_mlp_qd8", "tiny_mlp_q8")  # their reference is float
                outcome, first = self.load(model, "--require-evidence", "effective", compared=compared)
                self.assertEqual(outcome.err, "")
                self.assertEqual(self.option(first, "packed_cache_path")["evidence"], "effective")
                self.assertTrue(all("was not there; written: " in d for d in self.details(first)))
                written = self.cache.read_bytes()
                outcome, second = self.load(model, "--require-evidence", "effective", "--verify-cache",
                                            compared=compared)
                self.assertEqual(outcome.err, "")
                self.assertTrue(all(d.startswith(f"opened {self.cache}: ") for d in self.details(second)))
                self.assertTrue(all("all checksums right" in d for d in self.details(second)))
                self.assertEqual(self.metric(second, "weight_cache_misses"), 0)
                self.assertEqual(self.metric(second, "packed_here_bytes"), 0)
                self.assertEqual(self.metric(second, "cache_file_bytes"), self.metric(first, "packed_bytes"))
                self.assertEqual([o["sha256"] for o in second["outputs"]], [o["sha256"] for o in first["outputs"]])
                self.assertEqual(self.cache.read_bytes(), written)

    def test_methods_loaded_apart_end_up_in_one_file(self):
        self.load("multi", "--method", "forward")
        _, report = self.load("multi", "--method", "encode", compared=False)
        size = self.cache.stat().st_size
        for method in ("forward", "encode", "forward,encode"):
            _, report = self.load("multi", "--method", method, compared=False)
            self.assertEqual(self.metric(report, "weight_cache_misses"), 0)
            self.assertEqual(self.cache.stat().st_size, size)

    def test_a_bad_file_is_reported_not_used_and_written_anew(self):
        self.load("tiny_mlp")
        good = self.cache.read_bytes()
        flipped = bytearray(good)
        flipped[70] ^= 1
        for name, content in (("empty", b""), ("text", b"hello " * 50), ("cut", good[:5000]), ("flipped", flipped)):
            with self.subTest(name=name):
                self.cache.write_bytes(content)
                outcome, report = self.load("tiny_mlp", "--require-evidence", "effective")
                self.assertIn("warning[weight_cache_rejected]", outcome.err)
                self.assertTrue(all("was rejected: " in d and "; written: " in d for d in self.details(report)))
                self.assertEqual(self.metric(report, "cache_file_hits"), 0)
                self.assertEqual(self.cache.read_bytes(), good)
        self.load("digits")
        outcome, _ = self.load("tiny_mlp")
        self.assertIn("it belongs to another program", outcome.err)
        damaged = bytearray(good)
        damaged[-200] ^= 1
        self.cache.write_bytes(damaged)
        outcome, _ = self.load("tiny_mlp", "--verify-cache")
        self.assertIn("damaged (checksum)", outcome.err)
        self.assertEqual(self.cache.read_bytes(), good)

    def test_a_path_that_cannot_be_written_costs_the_cache_only(self):
        outcome, report = self.load("tiny_mlp", path=self.folder / "none" / "w.cache")
        self.assertIn("warning[weight_cache_not_saved]", outcome.err)
        self.assertEqual(self.option(report, "packed_cache_path")["evidence"], "delivered")
        self.load("tiny_mlp", "--require-evidence", "effective", path=self.folder / "none" / "w.cache", code=5)

    def test_a_full_disk_costs_the_cache_only(self):
        # A limit on the size of files stands for the full disk; its signal is ignored, as the system call then fails.
        command = [PROGRAM, "run", DATA / "tiny_mlp.pte", "--load-option", CACHE, "--load-option",
                   f"XnnpackBackend.packed_cache_path={self.cache}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, restore_signals=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning[weight_cache_not_saved]", done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_program_is_not_replaced_by_its_cache(self):
        model = pathlib.Path(self.write("m.pte", (DATA / "tiny_mlp.pte").read_bytes()))
        outcome, _ = self.load("tiny_mlp", path=model)
        self.assertIn("a cache must not replace", outcome.err)
        self.assertEqual(model.read_bytes(), (DATA / "tiny_mlp.pte").read_bytes())

    def test_the_action_saves_what_is_live_and_says_so(self):
        _, report = self.load("tiny_mlp", "--global-option", SAVE, "--require-evidence", "effective")
        option = self.option(report, "save_weight_cache_on_disk")
        self.assertEqual(option["evidence"], "effective")
        self.assertIn("is up to date", option["effects"][0]["detail"])

    def test_the_action_without_a_cache_file_is_warned_about(self):
        outcome = run("run", DATA / "tiny_mlp.pte", "--global-option", SAVE, "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("warning[action_idle]", outcome.err)
        self.assertEqual(outcome.report()["options"][0]["evidence"], "accepted")
        outcome = run("run", DATA / "tiny_mlp.pte", "--global-option", SAVE, "--require-evidence", "effective")
        self.assertEqual(outcome.code, 5)
        outcome = run("options", "check", "--global-option", SAVE)
        self.assertEqual(outcome.code, 0)
        self.assertIn("warning[action_idle]", outcome.err)

    def test_the_action_that_fails_is_said_and_counts_as_not_effective(self):
        outcome, report = self.load("tiny_mlp", "--global-option", SAVE, path=self.folder / "none" / "w.cache")
        self.assertIn("warning[action_failed]", outcome.err)
        self.assertEqual(self.option(report, "save_weight_cache_on_disk")["evidence"], "accepted")

    def test_what_there_is_nothing_to_do_for_is_said(self):
        outcome, _ = self.load("tiny_add")
        self.assertIn("warning[weight_cache_empty]", outcome.err)
        self.assertFalse(self.cache.exists())
        outcome = run("run", DATA / "tiny_mlp.pte", "--verify-cache")
        self.assertIn("warning[verify_cache_unused]", outcome.err)

    def test_the_cache_must_be_on(self):
        text = f"XnnpackBackend.packed_cache_path={self.cache}"
        model = DATA / "tiny_mlp.pte"
        self.check_error(run("run", model, "--load-option", text), 2, "option_value", "weight_cache_enabled", "#1")
        outcome = run("run", model, "--load-option", text, "--raw-options")
        self.assertEqual(outcome.code, 6, outcome.err)
        self.assertIn("needs weight_cache_enabled", outcome.err)
        self.assertEqual(run("run", model, "--load-option", text, "--global-option", CACHE).code, 0)
        self.assertTrue(self.cache.exists())

    def test_from_a_config(self):
        config = self.write("c.json", {"verify_cache": True, "load_options": {
            "XnnpackBackend": {"weight_cache_enabled": True, "packed_cache_path": str(self.cache)}}})
        for start in ("was not there", "opened "):
            outcome = run("run", DATA / "tiny_mlp.pte", "--config", config, "--json", "-")
            self.assertEqual(outcome.code, 0, outcome.err)
            self.assertTrue(any(start in d for d in self.details(outcome.report())))
        self.assertTrue(json.loads(outcome.out)["manifest"]["config"]["verify_cache"])

    def test_processes_that_write_at_once_leave_a_whole_file(self):
        command = [PROGRAM, "run", str(DATA / "tiny_mlp.pte"), "--quiet", "--load-option", CACHE, "--load-option",
                   f"XnnpackBackend.packed_cache_path={self.cache}"]
        started = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(6)]
        self.assertEqual([process.wait(timeout=120) for process in started], [0] * 6)
        outcome, report = self.load("tiny_mlp", "--verify-cache", "--require-evidence", "effective")
        self.assertEqual(outcome.err, "")
        self.assertEqual(self.metric(report, "weight_cache_misses"), 0)
        self.assertEqual(os.listdir(self.folder), ["w.cache"])


if __name__ == "__main__":
    unittest.main()
