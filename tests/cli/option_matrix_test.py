"""Case C13 of tests/regress/README.md: both options, every value, on either path and on both in conflict, over two methods
that share weights. Outputs stay bit for bit; evidence and memory are what the value in force says."""

import itertools
import unittest

from driver import DATA, Case, run

PROGRAM = DATA / "reports" / "pte" / "C13.option_matrix.pte"
DELEGATES = [("forward", 0), ("forward", 1), ("forward", 2), ("half", 0), ("half", 1)]
LAYER_BYTES = 64 * 64 * 4  # one Linear(64, 64) without its bias


def flags(path, mode, cache):
    return [f"--{path}-option", f"XnnpackBackend.workspace_sharing_mode={mode}",
            f"--{path}-option", f"XnnpackBackend.weight_cache_enabled={'true' if cache else 'false'}"]


class OptionMatrix(Case):
    def report(self, *arguments):
        outcome = run("run", PROGRAM, "--method", "forward,half", "--json", "-", *arguments)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome.report()

    def check_evidence(self, report, paths):
        self.assertEqual(len(report["options"]), 2 * len(paths))
        for option in report["options"]:
            overridden = option["path"] == "process-wide" and "load" in paths
            self.assertEqual(option["evidence"], "stored" if overridden else "effective")
            if option["path"] == "load":
                self.assertEqual([(r["method"], r["delegate"]) for r in option["receipts"]], DELEGATES)
                self.assertEqual({(r["value"], r["type"], r["result"]) for r in option["receipts"]},
                                 {(option["requested"], option["type"], "Ok")})

    def check_effects(self, report, mode, cache):
        delegates = report["load"]["delegates"]
        self.assertEqual([(d["method"], d["index"]) for d in delegates], DELEGATES)
        for delegate in delegates:
            effects = {effect["key"]: effect["value"] for effect in delegate["effects"]}
            self.assertEqual(effects["workspace_sharing_mode"], mode)
            self.assertEqual(effects["weight_cache_enabled"], cache)
        workspaces = {delegate["metrics"]["workspace_id"] for delegate in delegates}
        self.assertEqual(len(workspaces), len(DELEGATES) if mode == 0 else 1)
        # The second method packs nothing: its weights are the first one's.
        packed = [delegate["metrics"]["packed_here_bytes"] for delegate in delegates]
        self.assertTrue(all(size >= LAYER_BYTES for size in packed[:3]), packed)
        self.assertEqual(packed[3:], [0, 0])
        if cache:
            self.assertEqual(sum(delegate["metrics"]["weight_cache_hits"] for delegate in delegates), 2)

    def test_every_set_gives_the_same_bits_and_what_it_says(self):
        want = [output["sha256"] for output in self.report()["outputs"]]
        self.assertEqual(len(want), 2)
        for mode, cache in itertools.product((0, 1, 2), (False, True)):
            chosen = {path: flags(path, mode, cache) for path in ("global", "load")}
            other = flags("global", (mode + 1) % 3, not cache)
            for name, arguments, paths in (("process-wide", chosen["global"], ["global"]),
                                           ("load", chosen["load"], ["load"]),
                                           ("conflict", other + chosen["load"], ["global", "load"])):
                with self.subTest(mode=mode, cache=cache, set=name):
                    report = self.report(*arguments)
                    self.assertEqual([output["sha256"] for output in report["outputs"]], want)
                    self.check_evidence(report, paths)
                    self.check_effects(report, mode, cache)

    def test_a_conflict_is_a_warning_and_never_counts_as_effective(self):
        arguments = flags("global", 0, False) + flags("load", 1, True)
        report = self.report(*arguments)
        self.assertEqual([w["code"] for w in report["warnings"]].count("global_option_overridden"), 2)
        outcome = run("run", PROGRAM, "--method", "forward,half", "--require-evidence", "effective", *arguments)
        self.assertEqual(outcome.code, 5, outcome.err)


if __name__ == "__main__":
    unittest.main()
