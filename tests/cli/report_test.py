"""pterun report and pterun compare."""

import csv
import io
import json
import unittest

from driver import DATA, Case, run

ADD = DATA / "tiny_add.pte"
QUICK = ("--min-runs", "5", "--min-time", "0", "--warmup", "1")
REFERENCE = ("--inputs", DATA / "tiny_add.inputs.npz", "--reference", DATA / "tiny_add.expected.npz")


class Saved(Case):
    def report(self, name, *arguments, code=0):
        path = self.folder / name
        outcome = run(*arguments, "--json", path)
        self.assertEqual(outcome.code, code, outcome.err)
        return path

    def test_a_saved_report_is_rendered_as_the_first_time(self):
        """In every format, and as text, byte for byte, whatever its kind and verdict."""
        live, mode = DATA / "live", "XnnpackBackend.workspace_sharing_mode"
        sweep = ("bench", ADD, *QUICK, "--axis", "threads=1,2", "--axis", "XnnpackBackend.weight_cache_enabled=false,true")
        for kind, code, arguments in (
                ("run", 0, ("run", ADD, *REFERENCE, "--iterations", "4", "--load-option", f"{mode}=1", "--global-option",
                            "XnnpackBackend.weight_cache_enabled=true", "--require-evidence", "accepted")),
                ("steps", 0, ("run", DATA / "multi.pte", "--method", "forward,encode")),
                ("quantised", 1, ("run", DATA / "tiny_mlp_q8.pte", "--inputs", DATA / "tiny_mlp.inputs.npz", "--reference",
                                  DATA / "tiny_mlp.expected.npz", "--reference-kind", "float_eager")),
                ("diverge", 1, ("run", live / "net.pte", "--diverge", "--diverge-inputs", self.folder / "d.npz",
                                "--reference", f"pte:{live / 'net_wrong.pte'}")),
                ("error", 3, ("run", DATA / "none.pte")),
                ("usage", 2, ("run", ADD, "--theads", "1")),
                ("bench", 0, ("bench", ADD, *QUICK, "--profile", "--fail-if", "p50>100s")),
                ("gate", 7, ("bench", ADD, *QUICK, "--fail-if", "p50>0ns")),
                ("sweep", 0, (*sweep, "--processes", "2", "--fail-if", "load>100s")),
                ("models", 0, ("bench", ADD, DATA / "tiny_add_portable.pte", *QUICK)),
                ("compare", 0, ("compare", DATA / "tiny_add.expected.npz", DATA / "tiny_add.expected.npz")),
                ("differ", 1, ("compare", DATA / "tiny_add.inputs.npz", DATA / "tiny_add.expected.npz"))):
            with self.subTest(kind=kind):
                self.check_rendered_again(arguments, code)

    def check_rendered_again(self, arguments, code):
        names = ["csv", "junit", "markdown", "html", "json"]
        if arguments[0] == "bench":
            names += ["export-hyperfine", "export-google-benchmark"]
        command, *rest = arguments
        direct = run(command, *[f"--{name}={self.folder / name}" for name in names], *rest)
        self.assertEqual(direct.code, code, direct.err)
        again = run("report", self.folder / "json", *[f"--{name}={self.folder / name}.again" for name in names])
        self.assertEqual(again.code, 0, again.err)
        for name in names:
            first = (self.folder / name).read_text(encoding="utf-8")
            self.assertEqual((self.folder / f"{name}.again").read_text(encoding="utf-8"), first, name)
        if direct.out:
            self.assertEqual(again.out, direct.out)

    def test_a_report_comes_from_stdin_and_goes_to_stdout(self):
        saved = self.report("r.json", "run", ADD)
        self.assertTrue(run("report", saved).out.endswith("PASS (nothing was compared: no --reference)\n"))
        self.assertTrue(run("report", saved, "--markdown", "-").out.startswith("# pterun run: PASS"))
        self.assertEqual(run("report", saved, "-q").out.count("\n"), 1)

    def test_the_report_of_a_failure_is_shown_with_exit_code_0(self):
        failed = self.report("f.json", "run", ADD, "--reference", DATA / "tiny_add.expected.npz", code=1)
        outcome = run("report", failed)
        self.assertEqual(outcome.code, 0)
        self.assertIn("FAIL (1 of 1 outputs differ)", outcome.out)
        error = self.report("e.json", "run", DATA / "none.pte", code=3)
        outcome = run("report", error)
        self.assertEqual(outcome.code, 0)
        self.assertTrue(outcome.out.endswith("ERROR\n"))

    def test_what_is_no_report_is_refused_with_file_and_pointer(self):
        self.check_error(run("report"), 2, "usage", "FILE")
        self.check_error(run("report", self.folder / "none.json"), 4, "input", "none.json")
        self.check_error(run("report", self.folder), 4, "input", str(self.folder))
        self.check_error(run("report", self.write("a.json", "{")), 4, "input", "a.json", "no JSON")
        self.check_error(run("report", self.write("a.json", {})), 4, "input", "schema pterun.report/1, found none")
        document = json.loads(self.report("r.json", "run", ADD, "--iterations", "3").read_text())
        document["timing"]["steady"]["samples_ns"][1] = "fast"
        self.check_error(run("report", self.write("b.json", document)), 4, "input",
                         "expected an integer at /timing/steady/samples_ns/1, found 'fast'")
        inspect = self.report("i.json", "inspect", ADD)
        self.check_error(run("report", inspect), 4, "input", "pterun inspect")
        self.check_error(run("report", inspect, "--config", "c.json"), 2, "usage", "--config")

    def test_the_shares_of_a_sweep_become_the_sweep(self):
        sweep = ("bench", ADD, *QUICK, "--axis", "threads=1,2,3,4", "--processes", "2")
        shares = [self.report(f"{k}.json", *sweep, "--shard", f"{k}/2") for k in (1, 2)]
        merged = run("report", shares[1], shares[0], "--json", "-").report()
        cells = merged["bench"]["cells"]
        self.assertEqual([cell["name"] for cell in cells if "baseline of" not in cell["name"]],
                         [f"threads={n}" for n in (1, 2, 3, 4)])
        self.assertEqual([cell["name"] for cell in cells if cell["baseline"]], ["threads=1"])
        self.assertEqual(sum(cell["comparison"] is not None for cell in cells), 3)
        self.assertEqual(merged["bench"]["shard"], "")
        self.assertNotIn("shares_missing", [warning["code"] for warning in merged["warnings"]])
        # Ratios are those of the shares; corrected for three cells, the p-values are no smaller than before.
        for path in shares:
            for cell in json.loads(path.read_text())["bench"]["cells"]:
                same = [other for other in cells if other["name"] == cell["name"]]
                if cell["comparison"] and same:
                    self.assertEqual(same[0]["comparison"]["ratio"], cell["comparison"]["ratio"])
                    self.assertGreaterEqual(same[0]["comparison"]["p_different"], cell["comparison"]["p_different"])
        text = run("report", *shares).out
        self.assertIn("threads=4", text)
        self.assertIn("baseline of share 2/2", text)

    def test_missing_shares_and_other_machines_are_warned_about(self):
        sweep = ("bench", ADD, *QUICK, "--axis", "threads=1,2,3")
        first = self.report("1.json", *sweep, "--shard", "1/3")
        second = self.report("2.json", *sweep, "--shard", "2/3")
        document = json.loads(second.read_text())
        document["manifest"]["host"]["cpu"] = "another one"
        merged = run("report", first, self.write("3.json", document), "--json", "-").report()
        warnings = {warning["code"]: warning["message"] for warning in merged["warnings"]}
        self.assertIn("3/3", warnings["shares_missing"])
        self.assertIn("another one", warnings["different_machines"])
        self.assertEqual(merged["bench"]["shard"], "1/3, 2/3")

    def test_what_does_not_belong_together_is_not_merged(self):
        bench = self.report("b.json", "bench", ADD, *QUICK)
        self.check_error(run("report", bench, self.report("r.json", "run", ADD)), 2, "usage", "r.json")
        sweep = self.report("s.json", "bench", ADD, *QUICK, "--axis", "threads=1,2")
        self.check_error(run("report", sweep, sweep), 4, "input", "the cell 'threads=2' is in")
        document = json.loads(sweep.read_text())
        document["manifest"]["files"][0]["sha256"] = "0" * 64
        self.check_error(run("report", sweep, self.write("o.json", document)), 4, "input", "different programs")


class Compare(Case):
    def outputs(self, name, *arguments):
        path = self.folder / name
        outcome = run("run", ADD, "--save-outputs", path, *arguments, "--json", f"{path}.json")
        self.assertEqual(outcome.code, 0, outcome.err)
        return path

    def test_equal_and_different_files(self):
        a = self.outputs("a.npz")
        same = run("compare", a, self.outputs("a.safetensors"))
        self.assertEqual((same.code, same.err), (0, ""))
        self.assertIn("PASS (1 output compared, all within tolerance)", same.out)
        other = run("compare", a, self.outputs("b.npz", "--seed", "1"))
        self.assertEqual(other.code, 1)
        self.assertIn("FAIL (1 of 1 outputs differ)", other.out)
        self.assertIn("at [", other.out)
        self.assertEqual(run("compare", a, self.folder / "b.npz", "--atol", "10").code, 0)
        self.assertEqual(run("compare", a, self.folder / "b.npz", "--tolerance", "max_abs<=10").code, 0)
        self.assertEqual(run("compare", a, self.folder / "b.npz", "--tolerance", "0:max_abs<=0").code, 1)

    def test_names_that_differ_are_matched_by_their_numbers(self):
        outcome = run("run", ADD, *REFERENCE, "--save-outputs", self.folder / "a.npz")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(run("compare", self.folder / "a.npz", DATA / "tiny_add.expected.npz").code, 0)

    def test_shape_and_number_are_differences_too(self):
        report = run("compare", DATA / "multi.expected.npz", DATA / "tiny_add.expected.npz", "--json", "-")
        self.assertEqual(report.code, 1, report.err)
        reasons = [item["reason"] for item in report.report()["comparisons"]]
        self.assertTrue(any("A has float32[" in reason for reason in reasons), reasons)
        outcome = run("compare", DATA / "tiny_add.inputs.npz", DATA / "tiny_add.expected.npz")
        self.assertEqual(outcome.code, 1)
        self.assertIn("B has no such tensor", outcome.out)

    def test_reports_are_compared_by_hash_and_by_the_values_that_were_saved(self):
        a, b = self.outputs("a.npz"), self.outputs("b.npz", "--seed", "1")
        self.assertEqual(run("compare", f"{a}.json", a).code, 0)
        values = run("compare", f"{a}.json", f"{b}.json")
        self.assertEqual(values.code, 1)
        self.assertIn("at [", values.out)
        b.unlink()
        hashes = run("compare", f"{a}.json", f"{b}.json")
        self.assertEqual(hashes.code, 1)
        self.assertIn("the bytes differ (SHA-256)", hashes.out)
        a.unlink()
        self.assertEqual(run("compare", f"{a}.json", f"{a}.json").code, 0)

    def test_saved_outputs_that_are_not_the_reports_are_not_believed(self):
        a = self.outputs("a.npz")
        a.write_bytes(self.outputs("b.npz", "--seed", "1").read_bytes())
        self.check_error(run("compare", f"{a}.json", self.folder / "b.npz"), 4, "input", "its SHA-256 differs")

    def test_a_bundled_program_gives_its_expected_outputs(self):
        bundle = DATA / "bundled_program.bpte"
        path = self.folder / "o.npz"
        outcome = run("run", bundle, "--reference", "bundled", "--save-outputs", path)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(run("compare", path, bundle).code, 0)
        self.check_error(run("compare", path, bundle, "--case", "99"), 4, "reference", "case 99")

    def test_what_cannot_be_read_is_named(self):
        a = DATA / "tiny_add.expected.npz"
        self.check_error(run("compare", a), 2, "usage", "B")
        self.check_error(run("compare", a, a, "--case", "1"), 2, "usage", "--case")
        self.check_error(run("compare", a, self.folder / "none.npz"), 4, "reference", "none.npz")
        self.check_error(run("compare", self.folder / "none.json", a), 4, "input", "none.json")
        self.check_error(run("compare", a, ADD), 4, "reference", ".npz, .safetensors", "tiny_add.pte")
        self.check_error(run("compare", a, a, "--tolerance", "nothing<=1"), 2, "usage", "nothing")

    def test_every_format_of_a_comparison(self):
        a = DATA / "tiny_add.expected.npz"
        for name, start in (("csv", "kind,"), ("junit", "<?xml"), ("markdown", "# pterun compare"), ("html", "<!DOCTYPE"),
                            ("json", "{")):
            self.assertTrue(run("compare", a, a, f"--{name}", "-").out.startswith(start), name)

    def test_csv_of_a_comparison_names_the_tensor(self):
        a = DATA / "tiny_add.expected.npz"
        rows = list(csv.DictReader(io.StringIO(run("compare", a, a, "--csv", "-").out), strict=True))
        self.assertEqual([(row["kind"], row["pass"]) for row in rows], [("compare", "true")])
        self.assertTrue(rows[0]["name"])


if __name__ == "__main__":
    unittest.main()
