"""The command line: help, version, wrong commands and flags, JSON on failure."""

import unittest

from driver import DATA, Case, run


class CommandLine(Case):
    def test_version_names_build_compiler_xnnpack_and_cpu_features(self):
        for flag in ("--version", "-V"):
            outcome = run(flag)
            self.assertEqual(outcome.code, 0)
            for line in ("pterun ", "build type: ", "compiler: ", "XNNPACK: ", "CPU features: "):
                self.assertIn(line, outcome.out)

    def test_help_goes_to_stdout_and_has_examples(self):
        outcome = run("--help")
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        for command in ("run", "inspect", "options list", "options get", "options check", "completion"):
            self.assertIn(f"\n  {command} ", outcome.out)
            help_text = run(*command.split(), "--help")
            self.assertEqual((help_text.code, help_text.err), (0, ""))
            self.assertRegex(help_text.out, rf"\nExamples:\n  .*pterun {command}")
        self.assertIn("options check", run("options", "--help").out)

    def test_no_command_is_a_usage_error(self):
        self.check_error(run(), 2, "usage", "expected a command", "run", "--help")
        self.check_error(run("options"), 2, "usage", "list, get, check")

    def test_a_misspelt_command_or_flag_is_fatal_and_gets_a_suggestion(self):
        self.check_error(run("rnu"), 2, "usage", "'rnu'", "did you mean 'run'?")
        self.check_error(run("options", "chekc"), 2, "usage", "did you mean 'check'?")
        self.check_error(run("run", "m.pte", "--theads", "2"), 2, "usage", "'--theads'", "did you mean '--threads'?")
        self.check_error(run("run", "m.pte", "--iteration=5"), 2, "usage", "did you mean '--iterations'?")
        self.check_error(run("run", "m.pte", "-x"), 2, "usage", "'-x'")

    def test_arguments_that_are_missing_or_too_many(self):
        self.check_error(run("run", "a.pte", "b.pte"), 2, "usage", "'b.pte'")
        self.check_error(run("run", "a.pte", "--threads"), 2, "usage", "--threads", "expected a value")
        self.check_error(run("options", "get"), 2, "usage", "BACKEND.KEY")

    def test_wrong_values_name_flag_expected_and_found(self):
        for flag, value in (("--threads", "0"), ("--threads", "1025"), ("--threads", "-1"), ("--threads", "x"),
                            ("--iterations", "0"), ("--verify", "some"), ("--case", "-1"), ("--atol", "nan")):
            self.check_error(run("run", "m.pte", flag, value), 2, "usage", f"{flag}", "expected", f"'{value}'")
        self.check_error(run("run", "m.pte", "--threads", "1", "--threads", "2"), 2, "usage", "--threads", "twice")

    def test_json_on_stdout_is_one_document_also_when_the_command_line_is_wrong(self):
        for arguments in (("run", "m.pte", "--json", "-", "--theads", "2"), ("run", "m.pte", "--json=-", "--threads", "x"),
                          ("rnu", "--json", "-"), ("options", "get", "--json", "-", "X"),
                          ("run", "--json", "-", "--config", "missing.json"),
                          ("run", "--json", "-", "--load-option", "no-dot=1")):
            outcome = run(*arguments)
            report = outcome.report()
            self.assertEqual(outcome.code, 2, arguments)
            self.assertEqual(report["schema"], "pterun.report/1")
            self.assertEqual((report["status"], report["exit_code"]), ("error", 2))
            self.assertIn(f"error[{report['error']['code']}]: {report['error']['message']}", outcome.err)
            self.assertEqual(report["manifest"]["argv"][1:], list(arguments))

    def test_json_to_a_file_on_failure(self):
        path = self.folder / "report.json"
        outcome = run("run", "m.pte", "--json", path, "--threads", "x")
        self.check_error(outcome, 2, "usage")
        self.assertIn('"exit_code": 2', path.read_text())
        self.check_error(run("run", "m.pte", "--json", self.folder / "no" / "r.json", "--threads", "x"), 2, "usage",
                         "error[output]")

    def test_bytes_that_are_not_utf8_end_in_an_error_and_in_valid_json(self):
        outcome = run("run", "m.pte", "--json", "-", "--load-option", b"XnnpackBackend.x=\xff\xfe")
        self.assertEqual(outcome.code, 2)
        self.assertEqual(outcome.report()["status"], "error")
        self.check_error(run("run", b"m\xff.pte"), 2, "usage", "UTF-8")

    def test_no_colour_when_stderr_is_no_terminal(self):
        self.assertNotIn("\x1b", run("rnu").err)

    def test_names_from_a_file_reach_the_terminal_as_printable_text(self):
        # A payload asks for a key with a byte that is not UTF-8, then for one with an escape sequence.
        content = (DATA / "tiny_convrelu_q8.pte").read_bytes()
        key = b"849067f856e6c278fc2015f6e8b39b95d2265e0b0fda3"
        self.assertEqual(content.count(key), 2)
        before, _, after = content.rpartition(key)
        if content[:len(before)].count(key) == 0:
            before, _, after = content.partition(key)
        for replacement, shown in ((b"\xe4" + key[1:], "\\xE4"), (b"\x1b[31m" + key[5:], "\\x1B[31m")):
            outcome = run("run", self.write("m.pte", before + replacement + after), "--json", "-")
            self.assertEqual(outcome.code, 3, outcome.err)
            self.assertIn(shown, outcome.err)
            self.assertIn(shown, outcome.report()["error"]["message"])

    def test_a_full_stdout_is_an_output_error(self):
        import subprocess

        from driver import PROGRAM
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"error[output]", done.stderr)


class Config(Case):
    def test_environment_config_flags_and_set_in_order_of_precedence(self):
        config = self.write("c.json", '// smoke\n{"schema": "pterun.config/1", "threads": 2,\n "seed": 3}')
        outcome = run("run", "m.pte", "--print-config", "--config", config, "--seed", "5",
                      env={"PTERUN_THREADS": "7"})
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        self.assertIn(f'"threads": 2,  // {config}:/threads (line 2)\n', outcome.out)
        self.assertIn('"seed": 5,  // --seed\n', outcome.out)
        self.assertIn('"iterations": 1,  // default\n', outcome.out)
        outcome = run("run", "m.pte", "--print-config", "--set", "seed=4",
                      env={"PTERUN_THREADS": "7", "PTERUN_CONFIG": config})
        self.assertIn("// --set #1:/seed", outcome.out)
        self.assertIn(f'"threads": 2,  // {config}:/threads (line 2)\n', outcome.out)
        outcome = run("run", "m.pte", "--print-config", env={"PTERUN_THREADS": "7"})
        self.assertIn('"threads": 7,  // environment PTERUN_THREADS\n', outcome.out)

    def test_a_printed_config_is_a_config(self):
        printed = run("run", "m.pte", "--print-config", "--threads", "2", "--input", "0=uniform(0,1)", "--atol", "1e-3")
        path = self.write("printed.json", printed.out)
        again = run("run", "--print-config", "--config", path)
        self.assertEqual((again.code, again.err), (0, ""))
        strip = lambda text: [line.split("  // ")[0] for line in text.splitlines()]
        self.assertEqual(strip(again.out.replace(f"{self.folder}/", "")), strip(printed.out))

    def test_the_report_holds_the_resolved_config_and_what_was_shadowed(self):
        config = self.write("c.json", {"threads": 2, "load_options": {"XnnpackBackend": {"weight_cache_enabled": False}}})
        outcome = run("run", DATA / "tiny_add.pte", "--config", config, "--threads", "1", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        manifest = outcome.report()["manifest"]
        self.assertEqual(manifest["threads"], 1)
        self.assertEqual(manifest["config"]["threads"], 1)
        self.assertEqual(manifest["config"]["load_options"], {"XnnpackBackend": {"weight_cache_enabled": False}})
        self.assertEqual(manifest["shadowed"], [{"setting": "/threads", "value": 2, "by": "--threads",
                                                 "source": f"{config}:/threads (line 1)"}])

    def test_a_report_format_that_this_build_lacks_is_refused_not_forgotten(self):
        for name in ("junit", "markdown", "csv", "html"):
            config = self.write("c.json", {"output": {name: "report"}})
            outcome = run("run", DATA / "tiny_add.pte", "--config", config)
            if f"--{name} " in run("run", "--help").out:
                self.assertEqual((outcome.code, (self.folder / "report").exists()), (0, True), name)
            else:
                self.check_error(outcome, 2, "usage", f"/output/{name}")
                self.check_error(run("run", "m.pte", f"--{name}", "report"), 2, "usage", f"--{name}")

    def test_config_errors_name_file_line_and_pointer(self):
        config = self.write("c.json", '{"schema": "pterun.config/1",\n "bench": {"min_run": 3}}')
        self.check_error(run("run", "m.pte", "--config", config), 2, "config", f"{config}:/bench/min_run (line 2)",
                         "did you mean 'min_runs'?")
        self.check_error(run("run", "m.pte", "--config", self.folder / "none.json"), 2, "config", "none.json")
        self.check_error(run("run", "m.pte", "--config", self.write("d.json", "{")), 2, "config", "not JSON")
        self.check_error(run("run", env={"PTERUN_CONFIG": str(self.folder / "e.json")}), 2, "config", "e.json",
                         "PTERUN_CONFIG")


if __name__ == "__main__":
    unittest.main()
