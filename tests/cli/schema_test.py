"""What pterun reads and writes against the published JSON Schemas, judged by an independent validator."""

import json
import re
import unittest

from driver import DATA, SOURCE, Case, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

GOOD = [
    {},
    {"schema": "pterun.config/1", "$schema": "config.schema.json"},
    {"model": {"path": "m.pte", "data": ["w.ptd"], "method": "forward", "case": 0}},
    {"model": {"path": ["m.pte"]}, "threads": None},
    {"global_options": {"XnnpackBackend": {"weight_cache_enabled": True}}, "load_options": {}},
    {"inputs": "m.npz"}, {"inputs": ["a.npy", "zeros", {"file": "x.npy"}]},
    {"inputs": {"*": "m.npz", "0": {"gen": "int(0,5)", "seed": 1, "shape": [1, 2]}}},
    {"shapes": {"0": "1x2", "1": [1, 2]}, "input_dim_orders": [None, [0, 2, 1]]},
    {"input_dim_orders": {"0": "0,2,1"}},
    {"tolerance": "cosine>=0.9"}, {"tolerance": {"atol": 1, "outputs": {"0": "cosine>=0.9", "1": {"rtol": 0.1}}}},
    {"steps": [{"method": "a", "inputs": "a.npz", "reference": "b.npz", "tolerance": {"atol": 1}}, {}]},
    {"bench": {"until_ci": "1%", "margin": 0.02, "fail_if": ["p50>+3%"]}},
    {"matrix": {"threads": [1, 2], "exclude": [{"threads": 1}], "baseline": {"threads": 2}}},
    {"output": {"json": "-", "print": "none", "progress": "never", "verbosity": -1}},
    {"profiles": {"ci": {"threads": 1}}},
]
BAD = [
    [], {"threds": 1}, {"schema": "pterun.config/2"}, {"threads": 0}, {"threads": "2"}, {"threads": 1.5},
    {"model": "m.pte"}, {"model": {"pth": "m.pte"}}, {"model": {"path": 1}}, {"verify": "some"}, {"raw_options": 1},
    {"load_options": []}, {"load_options": {"B": 1}}, {"load_options": {"B": {"k": 1.5}}},
    {"load_options": {"B": {"k": None}}}, {"load_options": {"B": {"k": 2**31}}}, {"load_options": {"B": {"": 1}}},
    {"load_options": {"B": {"k": "x" * 256}}}, {"load_options": {"k" * 64: {}, "B": {"k": [1]}}},
    {"inputs": 3}, {"inputs": {"0": {"file": "a", "gen": "zeros"}}}, {"inputs": [{"fil": "a"}]},
    {"inputs": {"0": {"gen": "a.npy"}}}, {"shapes": {"0": "1y2"}}, {"shapes": {"0": [-1]}},
    {"input_dim_orders": {"0": "a"}}, {"reference": 1}, {"tolerance": {"atoll": 1}}, {"tolerance": {"atol": -1}},
    {"tolerance": {"atol": 1, "bounds": "cosine>=1"}}, {"tolerance": {"outputs": {"0": 1}}}, {"steps": []},
    {"steps": [{"methd": "a"}]}, {"bench": {"min_run": 1}}, {"bench": {"until_ci": "x%"}}, {"bench": {"margin": 2}},
    {"matrix": {"threads": 1}}, {"matrix": {"threads": [[1]]}}, {"matrix": {"exclude": [1]}},
    {"profiles": {"p": {"threds": 1}}}, {"profiles": {"p": {"extends": "x"}}}, {"output": {"print": "some"}},
]


def validator(name):
    return jsonschema.Draft202012Validator(json.loads((SOURCE / "configs" / "schema" / name).read_text()))


@unittest.skipIf(jsonschema is None, "Python's jsonschema is not installed")
class Schemas(Case):
    def test_schemas_are_schemas(self):
        for path in (SOURCE / "configs" / "schema").glob("*.json"):
            jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))

    def test_the_schema_and_the_program_agree_about_configs(self):
        schema = validator("config.schema.json")
        for config in GOOD:
            with self.subTest(config=config):
                self.assertEqual(list(schema.iter_errors(config)), [])
                options = "global_options" in config
                outcome = run("run", "--print-config", "--config", self.write("c.json", config))
                self.assertEqual(outcome.code, 0, outcome.err)
                self.assertFalse(options and "weight_cache_enabled" not in outcome.out)
        for config in BAD:
            with self.subTest(config=config):
                self.assertFalse(schema.is_valid(config))
                self.assertEqual(run("run", "--print-config", "--config", self.write("c.json", config)).code, 2)

    def test_a_printed_config_is_valid(self):
        printed = run("run", "m.pte", "--print-config", "--input", "0=zeros", "--inputs", "x.npz", "--shape", "0=1x2",
                      "--tolerance", "0:cosine>=0.9", "--atol", "1e-3", "--load-option",
                      "XnnpackBackend.workspace_sharing_mode=per_model", "--json", "r.json")
        config = json.loads(re.sub(r"  // .*", "", printed.out))
        self.assertEqual(list(validator("config.schema.json").iter_errors(config)), [])

    def test_configs_of_the_repository_are_valid(self):
        schema = validator("config.schema.json")
        for path in (SOURCE / "configs").glob("*.json"):
            with self.subTest(path=path.name):
                text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE)
                self.assertEqual(list(schema.iter_errors(json.loads(text))), [])

    def test_lists_and_reports_of_options_are_valid(self):
        listed = validator("options.schema.json")
        self.assertEqual(list(listed.iter_errors(run("options", "list", "--json", "-").report())), [])
        name = "XnnpackBackend.workspace_sharing_mode"
        self.assertEqual(list(listed.iter_errors(run("options", "get", name, "--json", "-").report())), [])
        self_test = run("options", "check", "--self-test", "--json", "-").report()
        self.assertEqual(list(validator("selftest.schema.json").iter_errors(self_test)), [])
        report = validator("report.schema.json")
        for arguments in (("options", "check", "--global-option", f"{name}=1", "--load-option", f"{name}=2"),
                          ("options", "check", "--load-option", f"{name}=7"), ("options", "get", "x"), ("rnu",),
                          ("options", "check", "--load-option", f"{name}=1", "--require-evidence", "stored"),
                          ("run", DATA / "tiny_add.pte", "--load-option", f"{name}=1"),
                          ("run", DATA / "tiny_add.pte", "--load-option", f"{name}=1", "--raw-options"),
                          ("run", DATA / "none.pte"), ("bench", DATA / "tiny_add.pte", "--min-runs", "3", "--min-time", "0")):
            with self.subTest(arguments=arguments):
                self.assertEqual(list(report.iter_errors(run(*arguments, "--json", "-").report())), [])

    def test_golden_reports_are_valid(self):
        names = {"pterun.report/1": "report.schema.json", "pterun.options/1": "options.schema.json"}
        seen = set()
        for path in (SOURCE / "tests" / "golden").glob("*.json"):
            document = json.loads(path.read_text(encoding="utf-8"))
            if "schema" in document:
                seen.add(document["schema"])
                self.assertEqual(list(validator(names[document["schema"]]).iter_errors(document)), [], path.name)
        self.assertEqual(seen, set(names))


if __name__ == "__main__":
    unittest.main()
