"""Runs the pterun program for tests. PTERUN names the program, PTERUN_SOURCE_DIR the source tree."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["PTERUN"]
SOURCE = pathlib.Path(os.environ["PTERUN_SOURCE_DIR"])
DATA = SOURCE / "tests" / "data"


class Outcome:
    """Exit code, stdout and stderr of one run."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8")
        self.err = done.stderr.decode("utf-8")

    def report(self):
        """stdout as exactly one JSON document."""
        return json.loads(self.out)


def run(*arguments, env=None, cwd=None):
    """Runs the program; the variables that it reads are unset unless `env` sets them."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("PTERUN") and k != "NO_COLOR"}
    variables.update(env or {})
    done = subprocess.run(
        [PROGRAM, *[os.fsencode(a) if isinstance(a, (str, os.PathLike)) else a for a in arguments]],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=120, env=variables, cwd=cwd, check=False)
    return Outcome(done)


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        """Writes text, bytes or, for anything else, JSON to a file of the folder."""
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def check_error(self, outcome, code, error, *parts):
        """The exit code, the error code on stderr, and parts of the message; stdout stays empty."""
        self.assertEqual(outcome.code, code, outcome.err)
        self.assertIn(f"error[{error}]: ", outcome.err)
        for part in parts:
            self.assertIn(part, outcome.err)
        self.assertEqual(outcome.out, "")
