"""References that run live in Python: the protocol and every way to fail, with a stand-in for the interpreter; PyTorch and
ExecuTorch themselves where PTERUN_TEST_PYTHON (or python3) has them, else a counted skip."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from driver import DATA, PROGRAM, Case, run
from live_python import HAS_EXECUTORCH, HAS_TORCH, REAL, StandInCase, has_module

LIVE = DATA / "live"
ADD = DATA / "tiny_add.pte"

ECHO = """
out.write("ready float_eager stand-in 1.0\\n")
for line in sys.stdin:
    with open({log!r}, "a") as log:
        log.write(line)
    header, data = read(os.path.join(folder, "inputs.safetensors"))
    tensors = []
    for name in sorted(header, key=int):
        begin, end = header[name]["data_offsets"]
        tensors.append((name, header[name]["dtype"], header[name]["shape"], data[begin:end]))
    write(os.path.join(folder, "outputs.safetensors"), {outputs})
    out.write("ok\\n")
"""


class StandIn(StandInCase):
    def echo(self, outputs="tensors"):
        log = self.folder / "requests"
        log.touch()
        return self.stand_in(ECHO.format(log=str(log), outputs=outputs)), log

    def reference(self, python, *arguments, reference="executorch", model=ADD, env=None):
        return run("run", model, "--reference", reference, "--python", python, "--json", "-", *arguments, env=env)

    def check_refused(self, outcome, *parts):
        self.assertEqual(outcome.code, 4, outcome.err)
        error = outcome.report()["error"]
        self.assertEqual(error["code"], "reference")
        for part in parts:
            self.assertIn(part, error["message"] + error["hint"])

    def test_outputs_of_the_live_process_are_compared(self):
        python, log = self.echo('[("0", tensors[0][1], tensors[0][2], tensors[0][3])]')
        outcome = self.reference(python, "--input", "0=ones", "--input", "1=zeros")
        self.assertEqual(outcome.code, 0, outcome.err)
        (comparison,) = outcome.report()["comparisons"]
        self.assertIn("stand-in 1.0", comparison["reference"])
        self.assertEqual(log.read_text(), f"run {'forward'.encode().hex()} tensor tensor\n")
        outcome = self.reference(python, "--input", "0=ones", "--input", "1=ones")
        self.assertEqual(outcome.code, 1, outcome.err)

    def test_numbers_none_and_bfloat16_are_handed_over(self):
        python, log = self.echo()
        outcome = self.reference(python, "--seed", "3", model=LIVE / "types.pte")
        self.assertEqual(outcome.code, 4, outcome.err)  # the stand-in gives inputs back
        words = log.read_text().split()[2:]
        self.assertEqual([word.partition(":")[0] for word in words],
                         ["tensor", "tensor", "tensor", "tensor", "int", "float", "none"])
        self.assertEqual(words[4], "int:3")
        self.assertEqual(float.fromhex(words[5].partition(":")[2]), 0.25)

    def test_steps_ask_one_process_in_order(self):
        python, log = self.echo('[("0", tensors[0][1], tensors[0][2], tensors[0][3])]')
        outcome = self.reference(python, "--method", "forward,encode", model=DATA / "multi.pte")
        self.assertIn(outcome.code, (1, 4), outcome.err)
        self.assertEqual([bytes.fromhex(line.split()[1]).decode() for line in log.read_text().splitlines()][:1],
                         ["forward"])

    def test_the_environment_names_the_interpreter_and_the_flag_wins(self):
        python, log = self.echo('[("0", tensors[0][1], tensors[0][2], tensors[0][3])]')
        arguments = ["run", ADD, "--reference", "executorch", "--input", "0=ones", "--input", "1=zeros"]
        self.assertEqual(run(*arguments, env={"PTERUN_PYTHON": python}).code, 0)
        self.check_error(run(*arguments, "--python", "/absent/python", env={"PTERUN_PYTHON": python}), 4, "reference",
                         "/absent/python")

    def test_an_interpreter_that_is_not_there_says_how_to_name_one(self):
        self.check_refused(self.reference("/absent/python"), "'/absent/python' cannot be started",
                           "No such file or directory", "--python PROGRAM", "PTERUN_PYTHON")

    def test_a_missing_module_says_how_to_get_it(self):
        python = self.stand_in('out.write("error missing torch Python 3.9: No module named torch\\n")')
        self.check_refused(self.reference(python), "no module 'torch'", "pip install torch", "--python PROGRAM")
        python = self.stand_in('out.write("error missing executorch Python 3.9: No module\\n")')
        self.check_refused(self.reference(python), "no module 'executorch'", "pip install executorch torch")

    def test_the_embedded_script_reports_a_python_without_torch(self):
        if has_module(sys.executable, "torch"):
            self.skipTest("this Python has PyTorch")
        self.check_refused(self.reference(sys.executable), "no module 'torch'", "pip install torch")

    def test_a_model_that_does_not_load_and_a_run_that_fails_are_errors_with_their_text(self):
        python = self.stand_in('out.write("error model ValueError: no such archive\\n")')
        self.check_refused(self.reference(python), "cannot load", "no such archive")
        python = self.stand_in('out.write("ready executorch x\\n")\nsys.stdin.readline()\n'
                               'out.write("error run RuntimeError: shapes differ\\n")')
        self.check_refused(self.reference(python), "shapes differ")

    def test_a_crash_shows_the_last_words_on_stderr(self):
        python = self.stand_in('sys.stderr.write("first\\nthe end is near\\n")\nsys.stderr.flush()\n'
                               'os.kill(os.getpid(), 11)')
        self.check_refused(self.reference(python), "killed by signal 11", "the end is near")
        python = self.stand_in('out.write("ready executorch x\\n")\nsys.stdin.readline()\n'
                               'sys.stderr.write("gone\\n")\nsys.exit(3)')
        self.check_refused(self.reference(python), "ended with exit code 3", "gone")

    def test_much_text_on_stderr_blocks_nothing(self):
        python = self.stand_in('sys.stderr.write("x" * 3000000)\nsys.stderr.flush()\nout.write("error model full\\n")')
        self.check_refused(self.reference(python), "full")

    def test_silence_ends_with_the_timeout(self):
        begin = time.monotonic()
        outcome = self.reference(self.stand_in("time.sleep(100)"), "--python-timeout", "0.5")
        self.check_refused(outcome, "has not answered for 0.5 s", "--python-timeout")
        self.assertLess(time.monotonic() - begin, 50)

    def test_an_answer_that_is_none_is_shown(self):
        self.check_refused(self.reference(self.stand_in('out.write("hello\\n")')), "answers 'hello'")
        self.check_refused(self.reference("/bin/true"), "ended with exit code 0")

    def test_an_interrupt_ends_the_process_too(self):
        mark = self.folder / "pid"
        python = self.stand_in(f'open({str(mark)!r}, "w").write(str(os.getpid()))\ntime.sleep(100)')
        process = subprocess.Popen([PROGRAM, "run", str(ADD), "--reference", "executorch", "--python", python],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        for _ in range(1000):
            if mark.exists() and mark.read_text():
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)
        with self.assertRaises(ProcessLookupError):
            os.kill(int(mark.read_text()), 0)

    def nested(self):
        """An interpreter that starts a process and sleeps, and where both write their numbers."""
        pids = self.folder / "pids"
        child = 'subprocess.Popen(["sleep", "100"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)'
        python = self.stand_in(f'import subprocess\nchild = {child}\n'
                               f'open({str(pids) + ".new"!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")\n'
                               f'os.rename({str(pids) + ".new"!r}, {str(pids)!r})\ntime.sleep(100)')
        return python, pids

    def check_gone(self, pids):
        """Both have ended; a dead process that nobody has waited for yet counts as such."""
        for pid in pids.read_text().split():
            for _ in range(500):
                try:
                    state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
                except (FileNotFoundError, ProcessLookupError):
                    break
                if state in "ZX":
                    break
                time.sleep(0.01)
            else:
                self.fail(f"process {pid} runs on")

    def test_the_time_limit_of_a_run_ends_the_process_and_what_it_has_started(self):
        python, pids = self.nested()
        folder = self.folder / "tmp"
        folder.mkdir()
        outcome = self.reference(python, "--timeout", "2", env={"TMPDIR": str(folder)})
        self.assertEqual(outcome.code, 6, outcome.err)
        self.check_gone(pids)
        self.assertEqual(list(folder.iterdir()), [])

    def test_signals_end_the_process_and_what_it_has_started(self):
        for signals in ([signal.SIGINT], [signal.SIGTERM], [signal.SIGINT, signal.SIGTERM]):
            with self.subTest(signals=signals):
                python, pids = self.nested()
                pids.unlink(missing_ok=True)
                process = subprocess.Popen([PROGRAM, "run", str(ADD), "--reference", "executorch", "--python", python],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for _ in range(1000):
                    if pids.exists():
                        break
                    time.sleep(0.01)
                for each in signals:
                    process.send_signal(each)
                self.assertIn(process.wait(timeout=60), (130, *(-each for each in signals)))
                self.check_gone(pids)

    def test_the_temporary_folder_is_removed(self):
        folder = self.folder / "tmp"
        folder.mkdir()
        python, _ = self.echo('[("0", tensors[0][1], tensors[0][2], tensors[0][3])]')
        self.reference(python, env={"TMPDIR": str(folder)})
        self.assertEqual(list(folder.iterdir()), [])

    def test_a_pt2_that_is_not_there_needs_no_python(self):
        self.check_refused(self.reference("/absent/python", reference="eager:/absent.pt2"), "/absent.pt2")

    def test_a_python_that_nothing_uses_is_a_warning(self):
        outcome = run("run", ADD, "--python", "python3", "--python-timeout", "3", "--json", "-")
        self.assertEqual([w["message"].split()[0] for w in outcome.report()["warnings"] if w["code"] == "inert_flag"],
                         ["--python", "--python-timeout"])

    def test_the_timeout_is_a_positive_number(self):
        self.check_error(run("run", ADD, "--python-timeout", "0"), 2, "usage", "--python-timeout")


@unittest.skipUnless(HAS_TORCH, "no PyTorch in PTERUN_TEST_PYTHON or python3")
class Torch(Case):
    def compare(self, name, *arguments, reference=None, model=None):
        return run("run", model or LIVE / f"{name}.pte", "--python", REAL, "--json", "-",
                   "--reference", reference or f"eager:{LIVE / name}.pt2", *arguments)

    def test_a_float_program_matches_live_eager(self):
        outcome = self.compare("net", "--inputs", LIVE / "net.inputs.npz")
        self.assertEqual(outcome.code, 0, outcome.err)
        (comparison,) = outcome.report()["comparisons"]
        self.assertIn("float eager, PyTorch", comparison["reference"])

    def test_a_converted_graph_is_named_as_such(self):
        outcome = self.compare("net_q8", "--inputs", LIVE / "net.inputs.npz", "--atol", "0.05")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("converted graph", outcome.report()["comparisons"][0]["reference"])

    def test_every_kind_of_input_and_output_goes_both_ways(self):
        outcome = self.compare("types")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual([output["dtype"] for output in outcome.report()["outputs"]],
                         ["bfloat16", "float64", "int64", "bool", "float32"])
        self.assertEqual(len(outcome.report()["comparisons"]), 5)

    def test_state_advances_with_the_steps(self):
        steps = [{"reference": f"eager:{LIVE / 'state.pt2'}", "inputs": ["ones"]}] * 3
        config = self.write("c.json", {"schema": "pterun.config/1", "model": {"path": str(LIVE / "state.pte")},
                                       "python": REAL, "steps": steps})
        outcome = run("run", "--config", config, "--json", "-")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual([output["stats"]["max"] for output in outcome.report()["outputs"]], [2, 4, 6])

    def test_another_model_is_a_reference_error(self):
        outcome = self.compare("net", reference=f"eager:{LIVE / 'types.pt2'}")
        self.assertEqual(outcome.code, 4, outcome.err)
        self.assertIn("takes 7 inputs, 1 were given", outcome.report()["error"]["message"])
        path = self.write("text.pt2", "no archive")
        outcome = self.compare("net", reference=f"eager:{path}")
        self.assertEqual(outcome.code, 4, outcome.err)
        self.assertIn("cannot load", outcome.report()["error"]["message"])


@unittest.skipUnless(HAS_EXECUTORCH, "no executorch in PTERUN_TEST_PYTHON or python3")
class Official(Case):
    def test_programs_match_the_official_runtime(self):
        for name in ("net", "types"):
            outcome = run("run", LIVE / f"{name}.pte", "--python", REAL, "--json", "-", "--reference", "executorch")
            with self.subTest(name=name):
                self.assertEqual(outcome.code, 0, outcome.err)
                self.assertIn("ExecuTorch 1.", outcome.report()["comparisons"][0]["reference"])

    def test_a_bundled_program_runs_on_it(self):
        outcome = run("run", DATA / "bundled_program.bpte", "--python", REAL, "--json", "-", "--reference", "executorch")
        self.assertEqual(outcome.code, 0, outcome.err)


if __name__ == "__main__":
    unittest.main()
