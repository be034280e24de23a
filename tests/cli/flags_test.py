"""Every flag of every command either does something that can be seen or is refused. The tables name for each flag two
calls, one with the flag and one without, and where their outcomes must differ. A flag without a row fails."""

import json
import os
import pathlib
import pty
import re
import select
import subprocess
import time
import unittest

from driver import DATA, PROGRAM, Case, Outcome, run

ADD = DATA / "tiny_add.pte"
MLP = DATA / "tiny_mlp.pte"
SILERO = DATA / "silero.pte"
DIGITS = DATA / "digits.pte"
MODE = "XnnpackBackend.workspace_sharing_mode"
UNKNOWN = "XnnpackBackend.no_such_key=3"
# {cache} is a file of packed weights of which one byte is damaged.
CACHE = ("--load-option", "XnnpackBackend.weight_cache_enabled=true", "--load-option",
         "XnnpackBackend.packed_cache_path={cache}")
ENDLESS = ("--iterations", "1000000000")
QUICK = ("--threads", "1", "--warmup", "0", "--min-runs", "3", "--min-time", "0", "--max-time", "5")
LONG = ("--threads", "1", "--warmup", "0", "--min-runs", "1000000000", "--max-time", "30")

# A row: the flag; a call in which the flag and its value stand last; the call to compare with, None for the same without
# the flag; what must differ:
#   "text"            stdout
#   "code"            the exit code
#   "file"            {out} is written
#   "terminal"        whether progress is drawn on a terminal
#   "/a/0/b"          that place of the JSON report
#   anything else     whether stderr holds it
WORK = [
    ("MODEL", [MLP], [ADD], "/manifest/files/0/sha256"),
    ("--data", [ADD, "--data", MLP], None, "code"),
    ("--method", [DATA / "multi.pte", "--method", "encode"], None, "/methods/0/name"),
    ("--case", [DATA / "bundled_program.bpte", "--case", "999"], None, "code"),
    ("--verify", [ADD, "--verify", "minimal"], None, "/manifest/verification"),
    ("--global-option", [ADD, "--global-option", f"{MODE}=0"], None, "/options"),
    ("--load-option", [ADD, "--load-option", f"{MODE}=1"], None, "/options"),
    ("--raw-options", [ADD, "--load-option", f"{MODE}=3", "--raw-options"], None, "code"),
    ("--allow-unknown-option", [ADD, "--load-option", UNKNOWN, "--allow-unknown-option"], None, "code"),
    ("--verify-cache", [MLP, *CACHE, "--verify-cache"], None, "warning[weight_cache_rejected]"),
    ("--require-evidence", [ADD, "--load-option", UNKNOWN, "--allow-unknown-option", "--require-evidence", "effective"],
     None, "code"),
    ("--input", [ADD, "--input", "1=zeros", "--input", "0=zeros"],
     [ADD, "--input", "1=zeros", "--input", "0=ones"], "/outputs/0/sha256"),
    ("--inputs", [ADD, "--inputs", DATA / "tiny_add.inputs.npz"], None, "/outputs/0/sha256"),
    ("--shape", [DATA / "dyn_mlp.pte", "--shape", "0=2x128"], [DATA / "dyn_mlp.pte", "--shape", "0=3x128"],
     "/outputs/0/shape"),
    ("--input-dim-order", [ADD, "--input-dim-order", "0=0,1,2"], None, "code"),
    ("--seed", [ADD, "--seed", "5"], None, "/outputs/0/sha256"),
    ("--reference", [ADD, "--reference", "interpreter"], None, "/comparisons"),
    ("--atol", [ADD, "--reference", "interpreter", "--atol", "1"], None, "/comparisons/0/tolerance"),
    ("--rtol", [ADD, "--reference", "interpreter", "--rtol", "1"], None, "/comparisons/0/tolerance"),
    ("--tolerance", [ADD, "--reference", "interpreter", "--tolerance", "cosine>=2"], None, "code"),
    ("--python", [ADD, "--python", "no-such-python"], None, "warning[inert_flag]"),
    ("--python-timeout", [ADD, "--python-timeout", "5"], None, "warning[inert_flag]"),
    ("--reference-kind", [ADD, "--reference-kind", "float_eager"], None, "code"),
    ("--threads", [ADD, "--threads", "3"], [ADD, "--threads", "2"], "/manifest/threads"),
    ("--json", [ADD, "--json", "{out}"], None, "file"),
    ("--save-outputs", [ADD, "--save-outputs", "{out}.npz"], None, "file"),
    ("--verbose", [MLP, "--reference", "interpreter", "--load-option", f"{MODE}=1", "-v"], None, "text"),
    ("--quiet", [ADD, "-q"], None, "text"),
    ("--config", [ADD, "--config", "{config}"], None, "/manifest/seed"),
    ("--config-profile", [ADD, "--config", "{config}", "--config-profile", "other"], None, "/manifest/seed"),
    ("--set", [ADD, "--set", "seed=9"], None, "/manifest/seed"),
    ("--print-config", [ADD, "--print-config"], None, "text"),
]

# Reports that a build may not have yet: a flag that is there must write its file.
REPORTS = [(flag, [ADD, flag, "{out}"], None, "file") for flag in ("--junit", "--markdown", "--csv", "--html", "--events",
                                                                   "--export-hyperfine", "--export-google-benchmark")]
RUN = WORK + REPORTS + [
    ("--labels", [DIGITS, "--inputs", DATA / "digits.inputs.npz", "--labels", DATA / "digits.labels.npy"], None,
     "/accuracy"),
    ("--iterations", [ADD, "--iterations", "4"], None, "/timing/steady/runs"),
    ("--warmup", [SILERO, "--warmup", "2"], None, "/timing/steady/runs"),
    ("--fresh-state", [SILERO, "--fresh-state"], None, "warning[inert_flag]"),
    ("--timeout", [SILERO, *ENDLESS, "--timeout", "0.3"], [SILERO], "code"),
    ("--diverge", [ADD, "--diverge"], None, "/diverge"),
    ("--diverge-inputs", [ADD, "--diverge-inputs", "x.npz"], None, "warning[inert_flag]"),
    ("--node", [ADD, "--node", "0:0"], None, "/node"),
    ("--print", [ADD, "--print", "all"], None, "text"),
    ("--progress", [SILERO, *ENDLESS, "--timeout", "2.5", "--progress"], None, "\r"),
    ("--no-progress", [SILERO, *ENDLESS, "--timeout", "2.5", "--no-progress"], None, "terminal"),
]
BENCH = WORK + REPORTS + [
    ("--warmup", [ADD, "--warmup", "7"], [ADD, "--warmup", "3"], "/bench/cells/0/processes/0/warmup/runs"),
    ("--min-runs", [ADD, "--min-runs", "9"], [ADD, "--min-runs", "4"], "/timing/steady/runs"),
    ("--min-time", [ADD, "--min-runs", "3", "--min-time", "0.2"], [ADD, "--min-runs", "3", "--min-time", "0"],
     "/timing/steady/runs"),
    ("--max-time", [ADD, "--min-runs", "1000000000", "--max-time", "0.1"], [ADD],
     "/bench/cells/0/processes/0/stop"),
    ("--until-ci", [ADD, "--min-time", "0", "--max-time", "9", "--until-ci", "90%"], None,
     "/bench/cells/0/processes/0/stop"),
    ("--processes", [ADD, "--processes", "2"], None, "/bench/processes"),
    ("--profile", [ADD, "--profile"], None, "/bench/cells/0/profile"),
    ("--input-seeds", [ADD, "--inputs", DATA / "tiny_add.inputs.npz", "--input-seeds", "3"], None, "warning[inputs_not_rotated]"),
    ("--axis", [ADD, "--plan", "--axis", "threads=1,2"], None, "text"),
    ("--baseline", [ADD, "--baseline", DATA / "none.json"], None, "code"),
    ("--fail-if", [ADD, "--fail-if", "p50>1ns"], None, "code"),
    ("--margin", [ADD, "--margin", "7%"], None, "/bench/margin"),
    ("--order-seed", [ADD, "--order-seed", "7"], None, "warning[inert_flag]"),
    ("--resume", [ADD, "--resume", "{out}"], None, "file"),
    ("--shard", [ADD, "--plan", "--axis", "threads=1,2,4", "--shard", "2/3"], None, "text"),
    ("--plan", [ADD, "--plan"], None, "text"),
    ("--fresh-state", [SILERO, "--fresh-state"], None, "/manifest/config/fresh_state"),
    ("--timeout", [SILERO, *LONG, "--timeout", "0.3"], [SILERO], "code"),
    ("--progress", [SILERO, *LONG, "--timeout", "2", "--progress"], None, "\r"),
    ("--no-progress", [SILERO, *LONG, "--timeout", "2", "--no-progress"], None, "terminal"),
]
INSPECT = [
    ("MODEL", [MLP], [ADD], "/inspect/path"),
    ("--data", [ADD, "--data", MLP], None, "code"),
    ("--method", [DATA / "multi.pte", "--method", "encode"], None, "/inspect/methods"),
    ("--verify", [ADD, "--verify", "minimal"], None, "/inspect/verification"),
    ("--threads", [ADD, "--threads", "3"], [ADD, "--threads", "2"], "text"),
    ("--operators", [ADD, "--operators"], None, "text"),
    ("--json", [ADD, "--json", "{out}"], None, "file"),
    ("--verbose", [MLP, "-v"], None, "text"),
    ("--quiet", [ADD, "-q"], None, "text"),
    ("--config", [ADD, "--config", "{config}"], None, "/manifest/config/seed"),
    ("--config-profile", [ADD, "--config", "{config}", "--config-profile", "other"], None, "/manifest/config/seed"),
    ("--set", [ADD, "--set", "threads=9"], [ADD, "--set", "threads=8"], "/manifest/threads"),
    ("--print-config", [ADD, "--print-config"], None, "text"),
]
OPTIONS = [
    ("--json", ["--json", "{out}"], None, "file"),
    ("--verbose", ["-v"], None, "text"),
    ("--quiet", ["-q"], None, "text"),
    ("--config", ["--print-config", "--config", "{config}"], None, "text"),
    ("--config-profile", ["--print-config", "--config", "{config}", "--config-profile", "other"], None, "text"),
    ("--set", ["--print-config", "--set", "output.verbosity=1"], None, "text"),
    ("--print-config", ["--print-config"], None, "text"),
]


FORMATS = ("--json", "--junit", "--markdown", "--csv", "--html")
EXPORTS = ("--export-hyperfine", "--export-google-benchmark")
FLOAT, QUANTISED = DATA / "digits_q8.float.npz", DATA / "digits_q8.expected.npz"
BUNDLE = DATA / "bundled_program.bpte"
COMPARE = [(flag, [FLOAT, FLOAT, flag, "{out}"], None, "file") for flag in FORMATS] + [
    ("A", [DATA / "tiny_mlp.expected.npz", FLOAT], [FLOAT, FLOAT], "code"),
    ("B", [FLOAT, DATA / "tiny_mlp.expected.npz"], [FLOAT, FLOAT], "code"),
    ("--method", [BUNDLE, BUNDLE, "--method", "none"], None, "code"),
    ("--case", [BUNDLE, BUNDLE, "--case", "999"], None, "code"),
    ("--atol", [QUANTISED, FLOAT, "--atol", "100"], None, "code"),
    ("--rtol", [QUANTISED, FLOAT, "--rtol", "1e12"], None, "code"),
    ("--tolerance", [QUANTISED, FLOAT, "--tolerance", "cosine>=0"], None, "code"),
    ("--verbose", [QUANTISED, FLOAT, "--atol", "100", "-v"], None, "text"),
    ("--quiet", [FLOAT, FLOAT, "-q"], None, "text"),
]
# {report} is a benchmark's report.
REPORT = [(flag, ["{report}", flag, "{out}"], None, "file") for flag in FORMATS + EXPORTS] + [
    ("FILE", ["none.json"], ["{report}"], "code"),
    ("--verbose", ["{report}", "-v"], None, "text"),
    ("--quiet", ["{report}", "-q"], None, "text"),
]


def with_arguments(rows, *arguments):
    return [(flag, [*arguments, *call], other, what) for flag, call, other, what in rows]


TABLE = {
    "run": RUN,
    "bench": BENCH,
    "inspect": INSPECT,
    "options list": OPTIONS + [("BACKEND", ["NoBackend"], ["XnnpackBackend"], "code")],
    "options get": with_arguments(OPTIONS, MODE) + [
        ("BACKEND.KEY", [MODE], ["XnnpackBackend.weight_cache_enabled"], "text")],
    "options check": with_arguments(OPTIONS, "--global-option", f"{MODE}=0") + [
        ("--global-option", ["--load-option", f"{MODE}=1", "--global-option", f"{MODE}=0"], None, "text"),
        ("--load-option", ["--global-option", f"{MODE}=0", "--load-option", f"{MODE}=1"], None, "text"),
        ("--raw-options", ["--load-option", f"{MODE}=3", "--raw-options"], None, "code"),
        ("--allow-unknown-option", ["--load-option", UNKNOWN, "--allow-unknown-option"], None, "code"),
        ("--require-evidence", ["--load-option", f"{MODE}=1", "--require-evidence", "delivered"], None, "code"),
        ("--self-test", ["--self-test"], None, "code"),
    ],
    "completion": [("SHELL", ["fish"], ["bash"], "text")],
    "compare": COMPARE,
    "report": REPORT,
}
COMMANDS = set(re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", run("--help").out, re.MULTILINE))
TABLE = {command: rows for command, rows in TABLE.items() if command in COMMANDS}


def flags_of(command):
    """The flags and positional arguments that the command's help names."""
    text = run(*command.split(), "--help").out
    names = re.findall(r"^  (?:-\w, )?(--[a-z-]+|[A-Z.]+)\b", text, re.MULTILINE)
    return [name for name in dict.fromkeys(names) if name != "--help"]


def report_value(report, pointer):
    for token in pointer.split("/")[1:]:
        report = report[int(token)] if isinstance(report, list) else report.get(token)
    return report


def has_terminals():
    """Whether pseudo-terminals are to be had; not where /dev/pts is missing."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def errors_on_terminal(arguments):
    """stderr of a run whose stderr is a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([PROGRAM, *map(os.fspath, arguments)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = b""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # how Linux says that the other side is closed
                break
            text += piece
    process.wait()
    os.close(ours)
    return text.decode("utf-8")


class Flags(Case):
    def setUp(self):
        super().setUp()
        self.write("c.json", {"schema": "pterun.config/1", "seed": 3, "profiles": {"other": {"seed": 4}}})

    def call(self, command, arguments, what, name):
        """What the row compares."""
        out = self.folder / f"{name}.out"
        texts = [os.fspath(a).replace("{out}", str(out)).replace("{config}", str(self.folder / "c.json"))
                 for a in arguments]
        if any("{cache}" in text for text in texts):
            cache = self.damaged_cache(name)
            texts = [text.replace("{cache}", cache) for text in texts]
        if "{report}" in texts:
            report = self.folder / "bench.json"
            run("bench", ADD, *QUICK, "--processes", "2", "--json", report)
            texts[texts.index("{report}")] = str(report)
        words = command.split()
        if command == "bench":
            skipped = set(texts) | ({"--threads"} if "--axis" in texts else set())
            added = [word for pair in zip(QUICK[::2], QUICK[1::2]) if pair[0] not in skipped for word in pair]
            texts = texts[:1] + added + texts[1:]
        if what == "terminal":
            return "\r" in re.sub(r"\r\n", "\n", errors_on_terminal(words + texts))
        outcome: Outcome = run(*words, *texts, *(["--json", "-"] if what.startswith("/") else []))
        if what.startswith("/"):
            self.assertEqual(outcome.code, 0, outcome.err)
            return report_value(json.loads(outcome.out), what)
        if what == "text":
            self.assertEqual(outcome.code, 0, outcome.err)
        if what == "file":
            self.assertEqual(outcome.code, 0, outcome.err)
            return any(path.stat().st_size > 0 for path in self.folder.glob(f"{name}.out*"))
        return {"text": outcome.out, "code": outcome.code}.get(what, what in outcome.err)

    def damaged_cache(self, name):
        path = self.folder / f"{name}.cache"
        made = run("run", MLP, *(text.replace("{cache}", str(path)) for text in CACHE))
        self.assertEqual(made.code, 0, made.err)
        content = bytearray(path.read_bytes())
        content[-200] ^= 1
        path.write_bytes(content)
        return str(path)

    def check(self, command):
        rows = {}
        for row in TABLE[command]:
            rows.setdefault(row[0], row)
        for flag in flags_of(command):
            with self.subTest(command=command, flag=flag):
                self.assertIn(flag, rows, "no row says what this flag does")
                _, call, other, what = rows[flag]
                short = {"--verbose": "-v", "--quiet": "-q"}.get(flag, flag)
                if what == "terminal" and not has_terminals():
                    self.skipTest("this system has no pseudo-terminals")
                without = other if other is not None else call[:len(call) - call[::-1].index(short) - 1]
                self.assertNotEqual(self.call(command, call, what, "with"), self.call(command, without, what, "without"),
                                    f"{flag} changed nothing in {what}")


def add_test(command):
    def test(self):
        self.check(command)
    setattr(Flags, f"test_every_flag_of_{command.replace(' ', '_')}_has_an_effect", test)


for name in TABLE:
    add_test(name)


class Commands(Case):
    def test_every_command_has_rows(self):
        self.assertEqual(COMMANDS, set(TABLE))

    def test_flags_of_other_commands_are_refused(self):
        known = {command: set(flags_of(command)) for command in TABLE}
        for command, flags in known.items():
            for flag in sorted(set().union(*known.values()) - flags):
                if not flag.startswith("--"):
                    continue
                with self.subTest(command=command, flag=flag):
                    self.check_error(run(*command.split(), flag), 2, "usage", flag)


# A busy machine may not come further than to loading.
PHASE = "reached while (loading|reading inputs and references|executing|comparing with the reference|measuring)"


class Timeout(Case):
    def test_a_run_that_takes_longer_ends_naming_phase_and_limit(self):
        path = self.folder / "report.json"
        outcome = run("run", SILERO, *ENDLESS, "--timeout", "0.3", "--json", path)
        self.check_error(outcome, 6, "OutOfResources", "0.3 s", "--timeout")
        self.assertRegex(outcome.err, PHASE)
        report = json.loads(path.read_text())
        self.assertEqual((report["status"], report["exit_code"]), ("error", 6))
        self.assertEqual(report["error"]["code"], "OutOfResources")

    def test_stdout_holds_one_document_also_then(self):
        report = run("bench", SILERO, *LONG, "--timeout", "0.3", "--json", "-").report()
        self.assertRegex(report["error"]["message"], PHASE)

    def test_a_limit_that_is_not_reached_changes_nothing(self):
        self.assertEqual(run("run", ADD, "--timeout", "100").code, 0)
        self.check_error(run("run", ADD, "--timeout", "0"), 2, "usage", "--timeout")

    def test_in_a_sweep_one_slow_cell_does_not_lose_the_rest(self):
        config = self.write("c.json", {"schema": "pterun.config/1", "timeout_s": 0.3,
                                       "model": {"path": str(SILERO)}})
        outcome = run("bench", "--config", config, *LONG[2:], "--axis", "threads=1,2", "--json", "-")
        report = outcome.report()
        self.assertEqual(outcome.code, 6, outcome.err)
        self.assertEqual([len(cell["failures"]) for cell in report["bench"]["cells"]], [1, 1])
        self.assertIn("time limit", report["error"]["message"])


class InertFlags(Case):
    def test_a_flag_with_nothing_to_act_on_is_warned_about(self):
        for arguments in (["--case", "1"], ["--seed", "1", "--inputs", DATA / "tiny_add.inputs.npz"], ["--atol", "1"],
                          ["--tolerance", "cosine>=0"], ["--python", "python3"], ["--fresh-state"]):
            outcome = run("run", ADD, *arguments)
            self.assertEqual(outcome.code, 0)
            self.assertIn(f"warning[inert_flag]: {arguments[0]}", outcome.err)
        for arguments in (["--order-seed", "1"], ["--margin", "1%"]):
            self.assertIn("warning[inert_flag]", run("bench", ADD, *QUICK, *arguments).err)

    def test_a_config_is_not_a_mistake(self):
        config = self.write("c.json", {"schema": "pterun.config/1", "seed": 1, "tolerance": {"atol": 1},
                                       "inputs": str(DATA / "tiny_add.inputs.npz")})
        self.assertNotIn("inert", run("run", ADD, "--config", config).err)


if __name__ == "__main__":
    unittest.main()
