"""Completion scripts and the manual page: static, complete, and understood by the shells that are installed."""

import re
import shutil
import subprocess
import unittest

from driver import Case, run

COMMANDS = ("run", "bench", "inspect", "options list", "options get", "options check", "compare", "report",
            "completion")


def flags_of(command):
    """The flags that --help of a command names."""
    flags = set()
    for line in run(*command.split(), "--help").out.splitlines():
        if line.startswith("  -"):
            flags.update(word.strip(",") for word in line.split("  ")[1].split() if word.startswith("--"))
    return flags


class Completion(Case):
    def bash(self, *words):
        """What bash offers for the last of the words."""
        script = self.write("pterun.bash", run("completion", "bash").out)
        program = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _pterun; '
                   'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", program, "bash", script, "pterun", *words], cwd=self.folder,
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_every_script_and_the_manual_page_name_every_flag(self):
        for shell in ("bash", "zsh", "fish", "man"):
            outcome = run("completion", shell)
            self.assertEqual((outcome.code, outcome.err), (0, ""))
            text = outcome.out.replace("\\-", "-")
            for command in COMMANDS:
                self.assertIn(command.split()[-1], text)
                flags = flags_of(command)
                self.assertGreaterEqual(len(flags), 1)
                for flag in flags:
                    with self.subTest(shell=shell, command=command, flag=flag):
                        # fish names flags without their dashes.
                        self.assertTrue(re.search(f"-l {flag[2:]}( |$)" if shell == "fish" else flag, text))

    def test_scripts_do_not_run_pterun(self):
        for shell in ("bash", "zsh", "fish"):
            code = [line for line in run("completion", shell).out.splitlines() if not line.startswith("#")]
            self.assertFalse([line for line in code if "$(pterun" in line or "(pterun " in line])

    def test_another_shell_is_a_usage_error(self):
        self.check_error(run("completion", "fihs"), 2, "usage", "did you mean 'fish'?")
        self.check_error(run("completion"), 2, "usage", "SHELL")

    @unittest.skipIf(shutil.which("bash") is None, "bash is not installed")
    def test_bash_completes_commands_flags_choices_options_and_files(self):
        self.write("model.pte", b"")
        self.assertEqual(self.bash("ru"), ["run"])
        self.assertIn("completion", self.bash(""))
        self.assertEqual(self.bash("options", ""), ["list", "get", "check", "--help"])
        self.assertEqual(self.bash("run", "--ite"), ["--iterations"])
        self.assertEqual(self.bash("options", "check", "--self"), ["--self-test"])
        self.assertEqual(self.bash("run", "--verify", ""), ["full", "minimal"])
        self.assertEqual(self.bash("run", "mod"), ["model.pte"])
        self.assertEqual(self.bash("run", "model.pte", "--json", "mod"), ["model.pte"])
        self.assertEqual(self.bash("run", "--load-option", "XnnpackBackend.wo"),
                         ["XnnpackBackend.workspace_sharing_mode="])
        self.assertEqual(self.bash("run", "--threads", ""), [])
        self.assertEqual(self.bash("completion", "z"), ["zsh"])

    @unittest.skipIf(shutil.which("zsh") is None, "zsh is not installed")
    def test_zsh_loads_the_script(self):
        script = self.write("_pterun", run("completion", "zsh").out)
        done = subprocess.run(["zsh", "-f", "-c", f"autoload -Uz compinit && compinit -u -d {self.folder}/dump && "
                               f"source {script} && (( $+functions[_pterun_options_check] )) && print -r -- $_comps[pterun]"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout.strip(), done.stderr), (0, "_pterun", ""))

    @unittest.skipIf(shutil.which("fish") is None, "fish is not installed")
    def test_fish_completes_flags_and_choices(self):
        script = self.write("pterun.fish", run("completion", "fish").out)

        def fish(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"],
                                  capture_output=True, text=True, check=True, env={"HOME": str(self.folder)})
            self.assertEqual(done.stderr, "")
            return [entry.split("\t")[0] for entry in done.stdout.splitlines()]

        self.assertEqual(fish("pterun options ch"), ["check"])
        self.assertEqual(fish("pterun run --ite"), ["--iterations"])
        self.assertEqual(fish("pterun options check --self"), ["--self-test"])
        self.assertIn("minimal", fish("pterun run --verify "))

    @unittest.skipIf(shutil.which("groff") is None, "groff is not installed")
    def test_the_manual_page_formats_without_warnings(self):
        page = run("completion", "man").out.encode()
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))


if __name__ == "__main__":
    unittest.main()
