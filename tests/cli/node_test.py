"""`pterun run --node`: one node of a delegate or one operator by itself, and the command that --diverge prints for it."""

import io
import json
import struct
import subprocess
import unittest
import zipfile

from driver import DATA, PROGRAM, Case, run

LIVE = DATA / "live"
CAT = DATA / "conformance" / "operators" / "cases" / "_chunk_cat__float32__s0.pte"
CODES = {"f4": "f", "f8": "d", "i8": "q", "i1": "b"}


def npz(**arrays):
    """The bytes of an npz of arrays (dtype, shape, elements)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, (dtype, shape, elements) in arrays.items():
            size = f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
            order = "|" if dtype == "i1" else "<"
            header = f"{{'descr': '{order}{dtype}', 'fortran_order': False, 'shape': {size}, }}".encode()
            header += b" " * (-(len(header) + 11) % 64) + b"\n"
            body = struct.pack(f"<{len(elements)}{CODES[dtype]}", *elements)
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body)
    return out.getvalue()


def read_npy(path):
    """dtype and elements of a one-array npy file."""
    data = path.read_bytes()
    length, = struct.unpack("<H", data[8:10])
    dtype = data[10:10 + length].decode().split("'descr': '")[1][1:3]
    body = data[10 + length:]
    code = CODES[dtype]
    return dtype, list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body))


class Reproduction(Case):
    """What --diverge prints runs the node again and finds the same."""

    # A program, a byte of it (from the end) that makes the reference another program, and the node that is off then.
    CASES = (("tiny_mlp_4w", 216, "FullyConnected"), ("tiny_mlp_qd8", 305, "FullyConnected"),
             ("tiny_convrelu_q8", 30, "Conv2d"), ("digits_portable", 910, "aten::addmm.out"),
             ("live/net_q8", 10346, "aten::native_layer_norm.out"), ("live/net_q8", 10, "FullyConnected"))

    def test_the_printed_command_finds_the_same_error(self):
        for name, place, node in self.CASES:
            with self.subTest(name=name, node=node):
                program = DATA / f"{name}.pte"
                data = bytearray(program.read_bytes())
                data[-place] ^= 0x20
                other = self.write("other program.pte", bytes(data))
                found = run("run", program, "--diverge", "--reference", f"pte:{other}", "--json", "-",
                            cwd=self.folder).report()["diverge"]
                self.assertEqual(found["first"]["name"], node)
                self.assertIn("--node", found["command"])
                done = subprocess.run(found["command"] + " --json again.json", shell=True, cwd=self.folder, check=False,
                                      capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 1, done.stderr)
                again = json.loads((self.folder / "again.json").read_text(encoding="utf-8"))
                self.assertEqual(again["node"]["name"], node)
                self.assertEqual(again["node"]["node"], found["first"]["node"])
                self.assertEqual({item["reference_kind"] for item in again["comparisons"]}, {"program", "file"})
                worst = {kind: max(item["metrics"]["max_abs"] for item in again["comparisons"]
                                   if item["reference_kind"] == kind) for kind in ("program", "file")}
                self.assertEqual(worst, dict.fromkeys(worst, found["first"]["max_abs"]))
                self.assertTrue(again["comparisons"][0]["worst"])
                self.assertEqual(again["comparisons"][0]["tolerance"]["bounds"],
                                 [f"max_abs<={found['first']['allowed']}"])
                # The program against itself is right about the very same inputs.
                alone = run("run", program, "--node", found["command"].split("--node ")[1].split()[0], "--inputs",
                            self.folder / found["inputs_file"], "--json", "-").report()
                kinds = [(item["reference_kind"], item["pass"]) for item in alone["comparisons"]]
                self.assertIn(("file", False), kinds)
                self.assertNotIn(("interpreter", False), kinds)

    def test_the_command_names_the_program_as_it_was_called(self):
        found = run("run", LIVE / "net.pte", "--diverge", "--threads", "1", "--verify", "minimal", "--reference",
                    f"pte:{LIVE / 'net_wrong.pte'}", "--json", "-", cwd=self.folder).report()["diverge"]
        self.assertTrue(found["command"].startswith(f"{PROGRAM} run {LIVE / 'net.pte'} --method forward --node 0:1 "))
        for part in (" --threads 1", " --verify minimal", " --inputs net.diverge.npz"):
            self.assertIn(part, found["command"])


class Nodes(Case):
    def node(self, program, node, *arguments):
        return run("run", DATA / f"{program}.pte", "--node", node, *arguments, cwd=self.folder)

    def test_every_node_and_operator_of_a_program_runs_alone(self):
        ran = set()
        for name in ("tiny_mlp_4w", "tiny_convrelu_q8", "ops", "silero", "live/net_q8", "dyn_mlp"):
            listing = run("inspect", DATA / f"{name}.pte", "--json", "-").report()["inspect"]["methods"][0]
            for instruction in listing["instructions"]["list"]:
                targets = [str(instruction["index"])]
                if instruction["delegate"] is not None:
                    graph = listing["delegates"][instruction["delegate"]]["graph"]
                    targets = [f"{instruction['index']}:{i}" for i, node in enumerate(graph)
                               if not node["output"].startswith("qdint8")]
                for target in targets:
                    with self.subTest(name=name, node=target):
                        outcome = self.node(name, target, "--json", "-")
                        self.assertEqual(outcome.code, 0, outcome.err)
                        report = outcome.report()
                        self.assertEqual([item["pass"] for item in report["comparisons"]],
                                         [True] * (instruction["delegate"] is not None))
                        ran.add(report["node"]["name"])
        self.assertGreater(len(ran), 25)

    def test_inputs_come_from_a_file_and_results_go_to_one(self):
        self.write("in.npz", npz(input_0=("f4", (1, 16), [2.0] * 16), input_1=("f8", (1, 16), range(16)),
                                 want=("f4", (1, 16), [2.0 + i for i in range(16)])))
        outcome = self.node("tiny_add", "0:0", "--inputs", "in.npz", "--save-outputs", "./out/", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        report = outcome.report()
        self.assertEqual([item["reference"] for item in report["comparisons"]], ["the interpreter", "want of in.npz"])
        self.assertEqual([item["source"] for item in report["node"]["inputs"]], ["in.npz:input_0", "in.npz:input_1"])
        self.assertEqual(read_npy(self.folder / "out" / "output_0.npy"), ("f4", [2.0 + i for i in range(16)]))

    def test_a_wrong_expectation_is_exit_1_within_the_tolerance_it_is_not(self):
        self.write("in.npz", npz(input_0=("f4", (1, 16), [1.0] * 16), input_1=("f4", (1, 16), [1.0] * 16),
                                 want=("f4", (1, 16), [2.5] * 16)))
        outcome = self.node("tiny_add", "0:0", "--inputs", "in.npz")
        self.assertEqual(outcome.code, 1, outcome.err)
        self.assertIn("got 2, want 2.5", outcome.out)
        self.assertIn("Add (method forward, instruction 0, delegate 0, node 0)", outcome.out)
        for tolerance in (("--atol", "0.5"), ("--tolerance", "max_abs<=0.5")):
            self.assertEqual(self.node("tiny_add", "0:0", "--inputs", "in.npz", *tolerance).code, 0)

    def test_quantised_inputs_are_numbers_or_stored_integers(self):
        shape, count = (1, 3, 32, 32), 3 * 32 * 32
        scale = self.node("tiny_convrelu_q8", "0:1", "--json", "-").report()["comparisons"][0]["quanta"]["scale"]
        hashes = set()
        for dtype, elements in (("i1", [5] * count), ("f8", None), ("f4", None)):
            if elements is None:  # 5 as the number that it stands for, whose zero point is that of stored zeros
                self.write("zero.npz", npz(input_0=("f8", shape, [0.0] * count)))
                zero = int(self.node("tiny_convrelu_q8", "0:1", "--inputs", "zero.npz", "--json",
                                     "-").report()["outputs"][0]["stats"]["max"])
                elements = [(5 - zero) * scale] * count
            self.write("in.npz", npz(input_0=(dtype, shape, elements)))
            report = self.node("tiny_convrelu_q8", "0:1", "--inputs", "in.npz", "--json", "-").report()
            self.assertEqual(report["outputs"][0]["stats"]["max"], 5)
            hashes.add(report["outputs"][0]["sha256"])
        self.assertEqual(len(hashes), 1)

    def test_numbers_beyond_what_a_quantised_input_can_hold_are_clamped(self):
        self.write("in.npz", npz(input_0=("f8", (1, 3, 32, 32), [1e9, -1e9, float("inf")] * 1024)))
        report = self.node("tiny_convrelu_q8", "0:1", "--inputs", "in.npz", "--json", "-").report()
        self.assertEqual((report["status"], report["outputs"][0]["stats"]["min"], report["outputs"][0]["stats"]["max"]),
                         ("pass", -128, 127))

    def test_a_node_of_a_dynamic_delegate_takes_smaller_inputs(self):
        self.write("in.npz", npz(input_0=("f4", (3, 256), [0.5] * 768)))
        report = self.node("dyn_mlp", "0:2", "--inputs", "in.npz", "--json", "-").report()
        self.assertEqual((report["status"], report["outputs"][0]["shape"]), ("pass", [3, 10]))

    def test_a_file_gives_an_operator_its_tensors_and_numbers(self):
        self.write("in.npz", npz(input_0=("i8", (1024,), range(1024)), input_1=("i8", (), [7]),
                                 want_2=("i8", (1024,), [i % 7 for i in range(1024)])))
        report = self.node("ops", "7", "--inputs", "in.npz", "--json", "-").report()
        self.assertEqual((report["status"], report["node"]["name"]), ("pass", "aten::fmod.Scalar_out"))
        self.assertEqual([item["reference_kind"] for item in report["comparisons"]], ["file"])
        self.assertEqual(report["outputs"][0]["stats"]["max"], 6)

    def test_items_of_a_list_have_keys_of_their_own(self):
        self.write("in.npz", npz(input_0_0=("f4", (1, 2, 5, 1), [1.0] * 10), input_0_1=("f4", (1, 2, 5, 1), [2.0] * 10),
                                 want=("f4", (1, 2, 5, 2), [1.0, 2.0] * 10)))
        outcome = run("run", CAT, "--node", "2", "--inputs", "in.npz", "--json", "-", cwd=self.folder)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(outcome.report()["comparisons"][0]["metrics"]["max_abs"], 0)

    def test_bfloat16_is_given_as_float32(self):
        self.write("in.npz", npz(input_0=("f4", (3,), [1.0, 2.0, -3.0]), want=("f4", (3,), [2.0, 4.0, -6.0])))
        outcome = self.node("live/types", "1", "--inputs", "in.npz", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        report = outcome.report()
        self.assertEqual((report["outputs"][0]["dtype"], report["comparisons"][0]["metrics"]["max_abs"]), ("bfloat16", 0))

    def test_an_operator_without_expectation_is_a_warning(self):
        outcome = self.node("ops", "2", "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual([warning["code"] for warning in outcome.report()["warnings"]], ["nothing_compared"])

    def test_a_config_names_the_node(self):
        config = self.write("c.json", {"schema": "pterun.config/1", "model": {"path": str(DATA / "tiny_add.pte")},
                                       "node": "0:0", "iterations": 3})
        outcome = run("run", "--config", config, "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        report = outcome.report()
        self.assertEqual(report["node"]["name"], "Add")
        self.assertEqual([warning["code"] for warning in report["warnings"]], ["inert_setting"])


class Errors(Case):
    def check(self, program, node, arguments, code, error, *parts):
        self.check_error(run("run", DATA / f"{program}.pte", "--node", node, *arguments, cwd=self.folder), code, error,
                         *parts)

    def test_what_there_is_not_lists_what_there_is(self):
        self.check("ops", "99", [], 2, "usage", "no instruction 99", "0 aten::arange.start_out", "5 delegate 0",
                   "and 3 more", "pterun inspect -v")
        self.check("ops", "14:3", [], 2, "usage", "no node 3", "0 SquareRoot, 1 Div, 2 Add")
        self.check("ops", "14", [], 2, "usage", "choose one of its nodes with 14:NODE", "0 SquareRoot")
        self.check("ops", "2:0", [], 2, "usage", "aten::erf.out", "no nodes")
        for text in ("", "x", "1:", ":1", "-1", "1:2:3", "1.5"):
            if text:
                self.check("ops", text, [], 2, "usage", "INSTRUCTION:NODE", text)
        self.check("ops", "2", ["--method", "other"], 2, "InvalidArgument", "other", "forward")

    def test_a_result_inside_xnnpack_names_the_node_that_reads_it(self):
        self.check("tiny_mlp_qd8", "0:0", [], 2, "NotSupported", "exists only inside XNNPACK", "1 (FullyConnected)")

    def test_files_that_do_not_fit(self):
        ones = ("f4", (1, 16), [1.0] * 16)
        for arrays, parts in (
                ({"input_0": ones}, ("no 'input_1'", "float32[1, 16]", "it holds input_0")),
                ({"x": ones}, ("no 'input_0'", "it holds x", "input_0, input_1")),
                ({"input_0": ones, "input_1": ("f4", (16,), [1.0] * 16)}, ("[16], the node takes [1, 16]", "NHWC")),
                ({"input_0": ones, "input_1": ones, "input_2": ones}, ("'input_2'", "input_0, input_1"))):
            self.write("in.npz", npz(**arrays))
            with self.subTest(keys=list(arrays)):
                self.check("tiny_add", "0:0", ["--inputs", "in.npz"], 4, "input", "in.npz", *parts)
        self.check("tiny_add", "0:0", ["--inputs", "none.npz"], 4, "input", "none.npz")
        ints = ("i8", (1024,), [1] * 1024)
        for arrays, parts in (({"input_0": ints, "input_1": ("f8", (), [1.0])}, ("'input_1'", "an int64 number")),
                              ({"input_0": ("f4", (1024,), [1.0] * 1024)}, ("float32[1024]", "takes int64")),
                              ({"input_0": ("i8", (8,), [1] * 8)}, ("int64[8]", "takes int64[1024]")),
                              ({"input_1": ("i8", (), [1])}, ("no 'input_0'", "reads int64[1024]"))):
            self.write("in.npz", npz(**arrays))
            with self.subTest(keys=list(arrays)):
                self.check("ops", "7", ["--inputs", "in.npz"], 4, "input", "in.npz", *parts)

    def test_constants_stay(self):
        self.write("in.npz", npz(input_0=("f4", (3,), [1.0] * 3), input_1=("f4", (), [0.5])))
        self.check("live/types", "1", ["--inputs", "in.npz"], 4, "input", "'input_1'", "a constant, bfloat16", "leave it out")

    def test_what_was_computed_when_the_method_was_loaded_cannot_be_run(self):
        self.check("reports/pte/C15.linear_bf16", "0", [], 2, "usage", "instruction 0", "when the method is loaded",
                   "1 aten::addmm.out")

    def test_an_expectation_of_another_shape_is_refused(self):
        ones = ("f4", (1, 16), [1.0] * 16)
        self.write("in.npz", npz(input_0=ones, input_1=ones, want=("f4", (16,), [2.0] * 16)))
        self.check("tiny_add", "0:0", ["--inputs", "in.npz"], 4, "reference", "[16]")

    def test_flags_that_a_node_has_no_use_for_are_refused(self):
        for flags in (["--diverge"], ["--iterations", "2"], ["--warmup", "1"], ["--fresh-state"], ["--input", "ones"],
                      ["--shape", "0=1x16"], ["--input-dim-order", "0=0,1"], ["--labels", "x.npy"], ["--case", "0"],
                      ["--load-option", "XnnpackBackend.workspace_sharing_mode=1"], ["--raw-options"],
                      ["--global-option", "XnnpackBackend.workspace_sharing_mode=1"], ["--verify-cache"],
                      ["--require-evidence", "stored"], ["--reference-kind", "float_eager"], ["--python", "python3"],
                      ["--diverge-inputs", "x.npz"]):
            with self.subTest(flag=flags[0]):
                self.check("tiny_add", "0:0", flags, 2, "usage", flags[0], "with --node")
        self.check("tiny_add", "0:0", ["--reference", "x.npz"], 2, "usage", "x.npz", "no single nodes")
        self.check("tiny_add", "0:0", ["--method", "a,b"], 2, "usage", "2 steps")

    def test_a_reference_that_is_built_otherwise_is_refused(self):
        self.check("tiny_add", "0:0", ["--reference", f"pte:{DATA / 'dyn_mlp.pte'}"], 4, "reference", "FullyConnected",
                   "not Add")
        self.check("ops", "2", ["--reference", f"pte:{DATA / 'digits_portable.pte'}"], 4, "reference",
                   "aten::convolution.out")


if __name__ == "__main__":
    unittest.main()
