"""Runs the program in a folder of its own."""

import os
import subprocess
import tempfile
import unittest

# Whoever runs the tests has settings of his own, which must not matter.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("THALWEG_")}

# A net that is trained in a moment, on data that are always there.
SMALL = """[run]
name = "small"

[data]
set = "spirals"
train_samples = 200
test_samples = 100
batch_size = 10

[[net.layer]]
kind = "dense"
units = 8
activation = "tanh"

[[net.layer]]
kind = "dense"
units = 2

[optimizer]
kind = "adam"
learning_rate = 0.01

[train]
epochs = 2
"""


class ProgramTest(unittest.TestCase):
    program = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("small.toml", SMALL)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, *names):
        with open(os.path.join(self.folder, *names), "rb") as file:
            return file.read()

    def start(self, *arguments, **options):
        return subprocess.Popen([self.program, *arguments], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **{"env": ENVIRONMENT, **options})

    def run_program(self, *arguments, **options):
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=250)
        return process.returncode, out, err

    def succeed(self, *arguments, **options):
        code, out, err = self.run_program(*arguments, **options)
        self.assertEqual(code, 0, err)
        return out

    def expect_error(self, code, text, *arguments, **options):
        """The exit code, and one line `thalweg: ...` that says so."""
        found, _, err = self.run_program(*arguments, **options)
        line = err.splitlines()[-1] if err else ""
        self.assertIn(text, line)
        self.assertTrue(line.startswith("thalweg: "), line)
        self.assertEqual(found, code, err)

    def train(self, *arguments, **options):
        """The run's folder."""
        out = self.succeed("train", "small.toml", *arguments, **options)
        return [line.split()[1] for line in out.splitlines() if line.startswith("run ")][0]
