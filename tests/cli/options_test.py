"""Options as a user meets them: every rejected row of the contract, from flags and from JSON, on both paths; list, get
and check; nothing applied when one of several is wrong."""

import json
import unittest

from driver import DATA, Case, run

MODE = "XnnpackBackend.workspace_sharing_mode"
CACHE = "XnnpackBackend.weight_cache_enabled"
PATHS = {"--global-option": "global_options", "--load-option": "load_options"}
LONG = "k" * 64


class RejectedFlags(Case):
    """Each row: text after the flag, error code, words of the message."""

    ROWS = [
        (f"{MODE}=1.5", "option_type", "'1.5'"),
        (f"{MODE}=true", "option_type", "'true'"),
        (f"{MODE}=per_modle", "option_type", "did you mean 'per_model'?"),
        (f"{MODE}:str=1", "option_type", "'str'"),
        (f"{MODE}:float=1", "option_type", "'float'"),
        (f"{CACHE}=1", "option_type", "'1'"),
        (f"{CACHE}=", "option_type", "''"),
        (b"XnnpackBackend.weight_cache_enabled=\xff", "option_type", "\\xFF"),
        (f"{MODE}=3", "option_value", "found 3"),
        (f"{MODE}=-1", "option_value", "found -1"),
        (f"{MODE}=2147483648", "option_value", "2147483648"),
        (f"XnnpackBackend.{LONG}=1", "option_value", "64 bytes"),
        ("XnnpackBackend.=1", "option_value", "empty"),
        (f"{LONG}.x=1", "option_value", "64 bytes"),
        (".x=1", "option_value", "empty"),
        ("XnnpackBackend.packed_cache_path=" + "x" * 256, "option_value", "256 bytes"),
        ("XnnpackBakend.workspace_sharing_mode=1", "unknown_backend", "did you mean 'XnnpackBackend'?"),
        ("XnnpackBackend.workspace_sharing=1", "unknown_option", "did you mean 'workspace_sharing_mode'?"),
    ]

    def test_every_row_on_both_paths_and_commands(self):
        for flag in PATHS:
            for text, code, found in self.ROWS:
                with self.subTest(flag=flag, text=text):
                    name = text.split(b"=" if isinstance(text, bytes) else "=")[0]
                    name = (name.decode() if isinstance(name, bytes) else name).split(":")[0]
                    shown = name if not name.startswith(".") else "(no backend).x"
                    outcome = run("options", "check", flag, text)
                    self.check_error(outcome, 2, code, f"{flag} #1", found, "expected", shown.rstrip("."))
                    outcome = run("run", DATA / "tiny_add.pte", flag, text)
                    self.check_error(outcome, 2, code, f"{flag} #1", found)

    def test_syntax(self):
        for flag in PATHS:
            for text in ("XnnpackBackend", "XnnpackBackend.x", "x=1", "XnnpackBackend=1.5", ""):
                with self.subTest(flag=flag, text=text):
                    self.check_error(run("options", "check", flag, text), 2, "option_syntax", f"{flag} #1", f"'{text}'")

    def test_path(self):
        self.check_error(run("options", "check", "--global-option", "XnnpackBackend.packed_cache_path=x"), 2,
                         "option_path", "use --load-option", "XnnpackBackend.packed_cache_path")
        self.check_error(run("options", "check", "--load-option", "XnnpackBackend.save_weight_cache_on_disk=true"), 2,
                         "option_path", "use --global-option", "XnnpackBackend.save_weight_cache_on_disk")

    def test_duplicate(self):
        for flag in PATHS:
            self.check_error(run("options", "check", flag, f"{MODE}=1", flag, f"{MODE}=2"), 2, "duplicate_option",
                             f"{flag} #2", f"{flag} #1", MODE)

    def test_limits_come_before_names_names_before_type(self):
        self.check_error(run("options", "check", "--load-option", f"Nope.{LONG}=1"), 2, "option_value")
        self.check_error(run("options", "check", "--load-option", "Nope.x=1.5"), 2, "unknown_backend")
        self.check_error(run("options", "check", "--load-option", "XnnpackBackend.x:int=a"), 2, "unknown_option")

    def test_allow_unknown_option_warns_and_passes_it_on(self):
        outcome = run("options", "check", "--load-option", "XnnpackBackend.x=1", "--allow-unknown-option")
        self.assertEqual(outcome.code, 0)
        self.assertIn("warning[unknown_option]", outcome.err)
        self.assertIn("XnnpackBackend.x", outcome.err)
        self.check_error(run("options", "check", "--load-option", "Nope.x=1", "--allow-unknown-option"), 2,
                         "unknown_backend")


class RejectedConfig(Case):
    """Each row: the backend's object (or what stands in its place), the pointer below the map, code, words."""

    ROWS = [
        ({"workspace_sharing_mode": 1.5}, "/workspace_sharing_mode", "option_type", "the float 1.5"),
        ({"workspace_sharing_mode": None}, "/workspace_sharing_mode", "option_type", "null"),
        ({"workspace_sharing_mode": [1]}, "/workspace_sharing_mode", "option_type", "an array"),
        ({"workspace_sharing_mode": {}}, "/workspace_sharing_mode", "option_type", "an object"),
        ({"workspace_sharing_mode": True}, "/workspace_sharing_mode", "option_type", "the bool true"),
        ({"workspace_sharing_mode": "1"}, "/workspace_sharing_mode", "option_type", "the string '1'"),
        ({"workspace_sharing_mode": "per_model"}, "/workspace_sharing_mode", "option_type", "in JSON write 1"),
        ({"weight_cache_enabled": 1}, "/weight_cache_enabled", "option_type", "the integer 1"),
        ({"weight_cache_enabled": "true"}, "/weight_cache_enabled", "option_type", "the string 'true'"),
        (1, "", "option_type", "the integer 1"),
        ([], "", "option_type", "an array"),
        (None, "", "option_type", "null"),
        ({"workspace_sharing_mode": 3}, "/workspace_sharing_mode", "option_value", "found 3"),
        ({"workspace_sharing_mode": 2**31}, "/workspace_sharing_mode", "option_value", "2147483648"),
        ({"workspace_sharing_mode": 10**30}, "/workspace_sharing_mode", "option_value", "1000000"),
        ({"weight_cache_enabled": -(2**31) - 1}, "/weight_cache_enabled", "option_value", "-2147483649"),
        ({"packed_cache_path": "x" * 256}, "/packed_cache_path", "option_value", "256 bytes"),
        ({"packed_cache_path": "a\0b"}, "/packed_cache_path", "option_value", "NUL"),
        ({LONG: 1}, f"/{LONG}", "option_value", "64 bytes"),
        ({"": 1}, "/", "option_value", "empty"),
        ({"workspace_sharing": 1}, "/workspace_sharing", "unknown_option", "did you mean 'workspace_sharing_mode'?"),
    ]

    def check_config(self, config, code, *parts):
        path = self.write("c.json", config)
        outcome = run("options", "check", "--config", path)
        self.check_error(outcome, 2, code, *parts)
        outcome = run("run", DATA / "tiny_add.pte", "--config", path, "--json", "-")
        self.assertEqual(outcome.code, 2)
        error = outcome.report()["error"]
        self.assertEqual(error["code"], code)
        return error

    def test_every_row_on_both_paths(self):
        for setting in PATHS.values():
            for value, pointer, code, found in self.ROWS:
                with self.subTest(setting=setting, value=value):
                    error = self.check_config({"schema": "pterun.config/1", setting: {"XnnpackBackend": value}}, code,
                                              f"c.json:/{setting}/XnnpackBackend{pointer} (line 1)", found, "expected")
                    self.assertTrue(error["where"]["option"].startswith("XnnpackBackend"))
                    self.assertIn("c.json:/" + setting, error["where"]["source"])

    def test_backends_paths_and_duplicates(self):
        for setting in PATHS.values():
            self.check_config({setting: {"Nope": {"x": 1}}}, "unknown_backend", f"/{setting}/Nope/x", "'Nope'")
            self.check_config({setting: {LONG: {"x": 1}}}, "option_value", "64 bytes")
            self.check_config('{"%s": {"XnnpackBackend": {"weight_cache_enabled": true,\n"weight_cache_enabled": true}}}'
                              % setting, "duplicate_option", f"/{setting}/XnnpackBackend/weight_cache_enabled (line 2)",
                              "(line 1)")
            self.check_config('{"%s": {"XnnpackBackend": {},\n"XnnpackBackend": {}}}' % setting, "duplicate_option",
                              "XnnpackBackend", "(line 2)")
            self.check_config(b'{"%s": {"XnnpackBackend": {"x": "\xff"}}}' % setting.encode(), "option_type",
                              "XnnpackBackend.x", "UTF-8")
        self.check_config({"global_options": {"XnnpackBackend": {"packed_cache_path": "x"}}}, "option_path",
                          "use --load-option", '"load_options"')
        self.check_config({"load_options": {"XnnpackBackend": {"save_weight_cache_on_disk": True}}}, "option_path",
                          "use --global-option")

    def test_a_flag_wins_over_the_config_and_the_report_keeps_what_it_shadows(self):
        path = self.write("c.json", {"load_options": {"XnnpackBackend": {"workspace_sharing_mode": 2}}})
        outcome = run("options", "check", "--config", path, "--load-option", f"{MODE}=per_model", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        option = outcome.report()["options"][0]
        self.assertEqual((option["requested"], option["source"]), (1, "--load-option #1"))
        self.assertEqual(option["shadowed"][0]["value"], 2)
        self.assertIn("c.json:/load_options/XnnpackBackend/workspace_sharing_mode", option["shadowed"][0]["source"])


class Commands(Case):
    def test_check_prints_original_set_read_back_and_restored(self):
        outcome = run("options", "check", "--global-option", f"{CACHE}=true", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        report = outcome.report()
        self.assertEqual((report["kind"], report["status"]), ("options", "pass"))
        option = report["options"][0]
        self.assertEqual([option[name] for name in ("original", "requested", "stored", "restored")],
                         [False, True, True, False])
        self.assertEqual(option["evidence"], "stored")
        text = run("options", "check", "--global-option", f"{CACHE}=true")
        for line in ("original   false", "set        true", "read back  true", "restored   false"):
            self.assertIn(line, text.out)
        self.assertEqual(run("options", "get", CACHE).out, "false\n")

    def test_check_of_both_paths_and_an_enum_name(self):
        outcome = run("options", "check", "--global-option", f"{MODE}=disabled", "--load-option", f"{MODE}=per_model",
                      "--json", "-")
        options = outcome.report()["options"]
        self.assertEqual([(o["path"], o["requested"], o["evidence"]) for o in options],
                         [("process-wide", 0, "stored"), ("load", 1, "accepted")])

    def test_check_needs_an_option(self):
        self.check_error(run("options", "check"), 2, "usage", "--global-option")

    def test_one_wrong_option_among_several_applies_nothing(self):
        outcome = run("options", "check", "--global-option", f"{CACHE}=true", "--load-option", f"{MODE}=3", "--json",
                      "-")
        self.assertEqual(outcome.code, 2)
        self.assertEqual(outcome.report()["options"], [])

    def test_a_raw_value_that_the_backend_refuses_is_exit_6_and_without_raw_exit_2(self):
        for flag in PATHS:
            self.check_error(run("run", DATA / "tiny_add.pte", flag, f"{MODE}=3"), 2, "option_value")
            outcome = run("run", DATA / "tiny_add.pte", "--raw-options", flag, f"{MODE}=3")
            self.check_error(outcome, 6, "InvalidArgument", "workspace_sharing_mode", "3")

    def test_required_evidence(self):
        self.assertEqual(run("options", "check", "--global-option", f"{CACHE}=true", "--require-evidence", "stored").code,
                         0)
        outcome = run("options", "check", "--load-option", f"{MODE}=1", "--require-evidence", "delivered")
        self.assertEqual(outcome.code, 5)
        self.assertIn("error[evidence]", outcome.err)
        self.assertIn(MODE, outcome.err)

    def test_get_prints_the_value_and_refuses_what_has_none(self):
        self.assertEqual(run("options", "get", MODE).out, "2\n")
        listed = json.loads(run("options", "get", MODE, "--json", "-").out)
        self.assertEqual(listed["backends"][0]["options"][0]["current"], 2)
        for name, code in (("Nope.x", "unknown_backend"), ("XnnpackBackend.x", "unknown_option"),
                           ("XnnpackBackend", "option_syntax"), ("XnnpackBackend.", "option_value"),
                           ("XnnpackBackend.packed_cache_path", "option_path"),
                           ("XnnpackBackend.save_weight_cache_on_disk", "option_path")):
            with self.subTest(name=name):
                self.check_error(run("options", "get", name), 2, code, name.rstrip("."))

    def test_list_shows_every_key_with_type_values_default_and_paths(self):
        outcome = run("options", "list")
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        for part in ("XnnpackBackend\n", "workspace_sharing_mode: an int from 0 to 2 (0 disabled, 1 per_model, 2 global)",
                     "default 2", "--load-option only", "action"):
            self.assertIn(part, outcome.out)
        listed = json.loads(run("options", "list", "XnnpackBackend", "--json", "-").out)
        self.assertEqual(listed["schema"], "pterun.options/1")
        keys = {option["key"]: option for option in listed["backends"][0]["options"]}
        self.assertEqual(keys["workspace_sharing_mode"]["names"], {"disabled": 0, "per_model": 1, "global": 2})
        self.assertEqual(keys["packed_cache_path"]["paths"], ["load"])
        self.assertEqual(keys["weight_cache_enabled"]["default"], False)
        self.check_error(run("options", "list", "Xnnpack"), 2, "unknown_backend", "did you mean 'XnnpackBackend'?")

    def test_self_test_catches_every_injected_fault(self):
        outcome = run("options", "check", "--self-test")
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        self.assertNotIn("MISSED", outcome.out)
        for what in ("unknown key", "a number for a bool", "int above the range", "on a path that it does not have",
                     "string of 256 bytes", "the same key twice", "that no program receives", "accepts and drops",
                     "finds nothing to act on"):
            self.assertIn(what, outcome.out)
        listed = run("options", "check", "--self-test", "--json", "-").report()
        self.assertEqual(listed["caught"], len(listed["cases"]))
        self.check_error(run("options", "check", "--self-test", "--load-option", f"{MODE}=1"), 2, "usage")

    def test_output_files_are_opened_before_the_work(self):
        self.check_error(run("options", "check", "--global-option", f"{CACHE}=true", "--json",
                             self.folder / "none" / "r.json"), 2, "output", "none/r.json")


class Run(Case):
    """Both paths through `pterun run`, on programs whose outputs are compared with eager's."""

    def test_a_load_option_reaches_every_delegate_of_every_loaded_method(self):
        outcome = run("run", DATA / "multi.pte", "--method", "forward,encode", "--load-option", f"{MODE}=1", "--json",
                      "-", "--require-evidence", "delivered")
        self.assertEqual(outcome.code, 0, outcome.err)
        report = outcome.report()
        delegates = {(d["method"], d["index"]) for d in report["load"]["delegates"]}
        receipts = report["options"][0]["receipts"]
        self.assertEqual({method for method, _ in delegates}, {"forward", "encode"})
        self.assertEqual({(r["method"], r["delegate"]) for r in receipts}, delegates)
        self.assertEqual({(r["type"], r["value"], r["result"]) for r in receipts}, {("int", 1, "Ok")})

    def test_outputs_agree_with_eager_under_a_load_option(self):
        outcome = run("run", DATA / "multi.pte", "--inputs", DATA / "multi.inputs.npz", "--reference",
                      DATA / "multi.expected.npz", "--load-option", f"{MODE}=per_model", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        report = outcome.report()
        self.assertTrue(report["comparisons"] and all(c["pass"] for c in report["comparisons"]))
        self.assertEqual(report["options"][0]["evidence"], "effective")

    def test_the_load_value_wins_over_the_process_wide_one(self):
        outcome = run("run", DATA / "tiny_add.pte", "--global-option", f"{MODE}=0", "--load-option", f"{MODE}=1",
                      "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        process_wide, load = outcome.report()["options"]
        self.assertEqual((process_wide["stored"], process_wide["evidence"]), (0, "stored"))
        self.assertEqual((load["requested"], load["evidence"]), (1, "effective"))
        self.assertIn("warning[global_option_overridden]", outcome.err)

    def test_an_option_for_a_program_without_that_backend_is_warned_about_and_can_be_required(self):
        arguments = ("run", DATA / "tiny_add_portable.pte", "--load-option", f"{MODE}=1")
        outcome = run(*arguments)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("warning[load_option_unused]", outcome.err)
        outcome = run(*arguments, "--require-evidence", "delivered", "--json", "-")
        self.assertEqual(outcome.code, 5)
        self.assertEqual(outcome.report()["error"]["code"], "evidence")


if __name__ == "__main__":
    unittest.main()
