"""Runs every model of the zoo at 1 and 2 threads against PyTorch eager, and third-party files.

Exit code 77 (a counted skip) when the zoo is not there. Quantised models are judged by bounds on metrics: their
reference is the converted graph in eager, from which one rounding step may differ anywhere (see TOLERANCES).
"""

import json
import os
import subprocess
import sys
import unittest

SOURCE = os.environ["PTERUN_SOURCE_DIR"]
PTERUN = os.environ["PTERUN"]
SHARED = os.environ.get("PTERUN_SHARED", os.path.join(os.path.dirname(SOURCE), "shared"))
ZOO = os.path.join(SHARED, "zoo")
THIRD_PARTY = os.path.join(SHARED, "third-party")

# Models without an entry use the defaults by dtype. int8: one quantum of the output scale, the number in front of the
# "quantum" comment, as measured from the program; transformers: accumulated single quanta, so cosine.
TOLERANCES = {
    "mv2_q8": "max_abs<=0.000536",  # one quantum
    "resnet18_q8": "max_abs<=0.00147",  # one quantum
    "tiny_convrelu_q8": "max_abs<=0.00904",  # one quantum
    "tiny_mlp_4w": "max_abs<=0.001,cosine>=0.9999",  # activations are quantised per row, in eager per tensor
    "vit_q8": "cosine>=0.99",
}


def run(path, *arguments):
    command = [PTERUN, "run", path, "--json", "-", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done, json.loads(done.stdout)


def models():
    return sorted(name[: -len(".pte")] for name in os.listdir(ZOO) if name.endswith(".pte"))


class Zoo(unittest.TestCase):
    def test_every_model_matches_eager_at_one_and_two_threads(self):
        for name in models():
            for threads in ("1", "2"):
                for method, suffix in (("forward", ""), ("encode", ".encode")):
                    inputs = os.path.join(ZOO, f"{name}{suffix}.inputs.npz")
                    if not os.path.exists(inputs):
                        continue
                    arguments = ["--inputs", inputs, "--threads", threads, "--method", method,
                                 "--reference", os.path.join(ZOO, f"{name}{suffix}.expected.npz")]
                    if name in TOLERANCES:
                        arguments += ["--tolerance", TOLERANCES[name]]
                    with self.subTest(model=name, method=method, threads=threads):
                        done, report = run(os.path.join(ZOO, f"{name}.pte"), *arguments)
                        self.assertEqual(done.returncode, 0, done.stderr + json.dumps(report["comparisons"])[:2000])
                        self.assertTrue(report["comparisons"])

    def test_load_options_reach_every_delegate_of_both_methods(self):
        done, report = run(os.path.join(ZOO, "multi.pte"), "--method", "forward,encode",
                           "--global-option", "XnnpackBackend.workspace_sharing_mode=0",
                           "--load-option", "XnnpackBackend.workspace_sharing_mode=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        load = [option for option in report["options"] if option["path"] == "load"][0]
        self.assertEqual([(r["method"], r["delegate"], r["type"], r["value"]) for r in load["receipts"]],
                         [("forward", 0, "int", 1), ("encode", 0, "int", 1)])
        self.assertEqual(load["evidence"], "effective")


class ThirdParty(unittest.TestCase):
    def test_files_of_other_exporters_run(self):
        for name in ("add.pte", "arduino_add.pte", "arduino_hello.pte", "ModuleLinear-no-constant-segment.pte"):
            with self.subTest(file=name):
                done, report = run(os.path.join(THIRD_PARTY, name))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(report["outputs"])

    def test_a_bundled_program_agrees_with_its_own_outputs(self):
        done, report = run(os.path.join(THIRD_PARTY, "bundled_program.bpte"), "--reference", "bundled")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(report["comparisons"])

    def test_missing_operators_are_named(self):
        done, report = run(os.path.join(THIRD_PARTY, "arduino_keyword_spotting.pte"))
        self.assertEqual(done.returncode, 3)
        self.assertEqual(report["error"]["code"], "OperatorMissing")
        self.assertIn("cortex_m::", report["error"]["message"])


if __name__ == "__main__":
    if not os.path.isdir(ZOO):
        print(f"skipped: no zoo at {ZOO}")
        sys.exit(77)
    unittest.main(verbosity=1)
