"""The scripts that complete command lines, in the shells themselves. completion_test.py PROGRAM"""

import shutil
import subprocess
import sys
import unittest

from program import ProgramTest

ProgramTest.program = sys.argv.pop()


class Bash(ProgramTest):
    def complete(self, *words):
        """What bash offers for the last of the words."""
        self.write("script", self.succeed("completion", "bash"))
        script = ('. ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _thalweg; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        result = subprocess.run(["bash", "-c", script, "bash", "thalweg", *words], cwd=self.folder,
                                capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_commands(self):
        self.assertEqual(self.complete("tr"), ["train"])
        self.assertEqual(self.complete("comp"), ["completion"])

    def test_options_of_a_command(self):
        self.assertEqual(self.complete("train", "--res"), ["--resume"])
        self.assertEqual(self.complete("doctor", "--res"), [])

    def test_recipes_and_files(self):
        self.assertEqual(self.complete("train", "spirals"), ["spirals-mlp"])
        self.assertEqual(self.complete("train", "sm"), ["small.toml"])
        self.assertEqual(self.complete("completion", "zs"), ["zsh"])


class OtherShells(ProgramTest):
    def test_their_scripts_parse(self):
        for shell in ("zsh", "fish"):
            script = self.succeed("completion", shell)
            self.assertIn("train", script)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=script, text=True, check=True)

    def test_an_unknown_shell_is_an_error(self):
        self.expect_error(2, "did you mean 'bash'?", "completion", "basch")


if __name__ == "__main__":
    unittest.main()
