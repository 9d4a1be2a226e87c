"""What the program says and how it ends. command_test.py PROGRAM"""

import json
import math
import os
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path
from xml.etree import ElementTree

from program import ENVIRONMENT, SMALL, ProgramTest

ProgramTest.program = sys.argv.pop()
ROOT = Path(__file__).resolve().parents[2]


class Usage(ProgramTest):
    def test_help_names_commands_and_exit_codes(self):
        text = self.succeed("--help")
        for command in ("train", "eval", "predict", "inspect", "convert", "summary", "plot", "export", "bench", "doctor", "completion"):
            self.assertIn(f"\n  {command} ", text)
        self.assertIn("130  stopped by Ctrl-C", text)

    def test_help_of_a_command_shows_defaults(self):
        self.assertRegex(self.succeed("train", "--help"), r"--device TEXT=cpu")

    def test_wrong_usage_names_what_was_probably_meant(self):
        for arguments, text in (
                (["trian"], "there is no command 'trian'; did you mean 'train'?; see thalweg --help"),
                (["train", "--sede", "3"], "there is no option --sede; did you mean '--seed'?; see thalweg train"),
                (["eval"], "RUN is required; see thalweg eval --help"),
                (["train", "--threads", "many"], "--threads"),
                ([], "see thalweg --help")):
            with self.subTest(arguments=arguments):
                self.expect_error(2, text, *arguments)

    def test_an_empty_word_is_not_taken_for_none(self):
        for words in (["train", ""], ["train", "--resume", ""], ["train", "small.toml", "--runs", ""],
                      ["eval", ""], ["eval", "run", "--weights", ""]):
            self.expect_error(2, "is empty", *words)

    def test_a_wrong_number_of_threads_is_found_before_anything_is_done(self):
        for threads in ("0", "abc"):
            self.expect_error(2, "THALWEG_THREADS", "train", "small.toml", env=dict(ENVIRONMENT, THALWEG_THREADS=threads))
        self.assertFalse(os.path.exists(self.path("runs")))

    def test_a_negative_seed_is_out_of_range(self):
        self.expect_error(2, "'run.seed' is out of range", "train", "small.toml", "--seed", "-1")

    def test_output_that_is_lost_ends_with_3(self):
        for words in (["train", "--keys"], ["--help"], ["doctor"], ["train", "small.toml"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                found = subprocess.run([self.program, *words], cwd=self.folder, stdout=full, stderr=subprocess.PIPE,
                                       env=ENVIRONMENT, check=False)
            self.assertEqual(found.returncode, 3, words)
            self.assertIn(b"No space left", found.stderr)

    def test_a_reader_that_has_seen_enough_is_no_error(self):
        for words in (["train", "--keys"], ["--help"], ["inspect", "many.safetensors"]):
            header = json.dumps({f"tensor{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
                                 for i in range(5000)}).encode()
            with open(self.path("many.safetensors"), "wb") as file:
                file.write(struct.pack("<Q", len(header)) + header)
            reading, writing = os.pipe()
            os.close(reading)
            # As a shell starts it: Python itself ignores SIGPIPE, and so would its children.
            found = subprocess.run([self.program, *words], cwd=self.folder, stdout=writing, stderr=subprocess.PIPE,
                                   env=ENVIRONMENT, check=False, restore_signals=True)
            os.close(writing)
            self.assertEqual((found.returncode, found.stderr), (0, b""), words)

    def test_a_run_goes_on_without_a_reader(self):
        reading, writing = os.pipe()
        os.close(reading)
        found = subprocess.run([self.program, "train", "small.toml"], cwd=self.folder, stdout=writing,
                               stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
        os.close(writing)
        self.assertEqual((found.returncode, found.stderr), (0, b""))
        run = os.path.join("runs", os.listdir(self.path("runs"))[0])
        self.assertTrue(os.path.exists(self.path(os.path.join(run, "model.safetensors"))))

    def test_help_of_bench_names_the_workloads(self):
        text = self.succeed("bench", "--help")
        known = self.run_program("bench", "none")[2].split("known are ")[1].strip().split(", ")
        self.assertGreater(len(known), 10)
        for name in known:
            self.assertRegex(text, rf"\n  {name} +[a-zA-Z0-9]")

    def test_closed_streams_take_nothing_and_no_file_takes_their_place(self):
        command = f"'{self.program}' train small.toml 0<&- >&- 2>&-"
        subprocess.run(command, shell=True, cwd=self.folder, env=ENVIRONMENT, check=True)
        run = os.path.join("runs", os.listdir(self.path("runs"))[0])
        for line in self.read(run, "metrics.jsonl").splitlines():
            json.loads(line)

    def test_a_device_that_is_not_there_ends_with_4(self):
        self.expect_error(4, "cuda:200", "train", "small.toml", "--device", "cuda:200")
        self.expect_error(2, "tpu", "train", "small.toml", "--device", "tpu")


class Recipes(ProgramTest):
    def test_what_is_no_run_and_no_known_file_is_said_to_be(self):
        self.expect_error(3, "there is no such run", "eval", ".")
        self.write("program", "\x7fELF, and more of that")
        self.expect_error(3, "name it by --format", "inspect", "program")

    def test_the_formats_and_their_options_are_in_help_error_and_docs(self):
        table = self.succeed("inspect", "--help").split("Formats, their endings", 1)[1].strip()
        self.assertIn("header", table)
        self.assertIn(table, (ROOT / "docs/data-files.md").read_text(encoding="utf-8"))
        self.write("a.csv", "a,b\n1,2\n")
        self.expect_error(2, "csv has no option 'foo'; it has header, delimiter", "inspect", "a.csv", "--option",
                          "foo=1")
        self.write("one.csv", "1,2\n")
        self.expect_error(3, "header=false", "inspect", "one.csv")

    def test_train_without_a_name_lists_the_recipes(self):
        listed = [line.split()[0] for line in self.succeed("train").splitlines()]
        self.assertEqual(sorted(path.stem for path in (ROOT / "recipes").glob("*.toml")), sorted(listed))

    def test_every_recipe_that_comes_along_has_a_net(self):
        # The files of a recipe that has some.
        for part in ("Train", "Test"):
            self.write(f"SimpleData{part}_cntk_text.txt", "|features 1 2 |labels 1 0\n")
        self.write("Train_cntk_text.txt", "|features 1 2 |labels 1\n")
        for name in ("train.ctf", "test.ctf"):
            self.write(name, "|features 1 2 |labels 1:1\n")
        for line in self.succeed("train").splitlines():
            name = line.split()[0]
            with self.subTest(name=name):
                self.assertIn("Dense", self.succeed("summary", name))

    def test_summary_shows_the_plan_of_a_step(self):
        text = self.succeed("summary", "spirals-mlp", "--plan")
        self.assertRegex(text, r"8 calls: [1-9] replayed, \d traced, 0 eager; 1 plans made")
        self.assertRegex(text, r"temporaries in \d+ bytes, 1\.\d+ times the \d+ that live at once")
        self.assertRegex(text, r"linear\(argument0 f32 .* blocked; passed over: onednn")

    def test_plot_draws_the_net_and_the_plan_of_a_step(self):
        dot = self.succeed("plot", "fashion-mnist-lenet", "--set", "data.set=drawn_digits")
        self.assertTrue(dot.startswith("digraph net {"))
        self.assertIn('"input" -> "0" [label="1 x 28 x 28"]', dot)
        self.assertNotIn("weight", dot)
        self.succeed("plot", "spirals-mlp", "--plan", "-o", "plan.svg")
        svg = ElementTree.parse(self.path("plan.svg")).getroot()
        self.assertEqual(svg.tag, "{http://www.w3.org/2000/svg}svg")
        titles = [e.text for e in svg.iter("{http://www.w3.org/2000/svg}title")]
        self.assertTrue(any(t.startswith("linear (dense)") for t in titles), titles)
        self.assertTrue(any(t.startswith("argument 0 (input)") for t in titles), titles)

    def test_plot_writes_what_graphviz_reads(self):
        if not shutil.which("dot"):
            self.skipTest("there is no dot program")
        self.succeed("plot", "spirals-mlp", "--plan", "-o", "plan.dot")
        subprocess.run(["dot", "-Tplain", self.path("plan.dot")], check=True, capture_output=True)

    def test_plot_refuses_a_format_that_it_does_not_have(self):
        self.expect_error(2, "dot", "plot", "spirals-mlp", "--format", "pdf")

    def test_the_reference_page_is_what_the_program_knows(self):
        self.assertEqual((ROOT / "docs/recipe.md").read_text(encoding="utf-8"), self.succeed("train", "--keys"))

    def test_print_gives_the_whole_recipe(self):
        text = self.succeed("train", "small.toml", "--print", "--set", "train.epochs=7", "--seed", "5")
        self.assertIn("\nepochs = 7\n", text)
        self.assertIn("\nseed = 5\n", text)
        self.write("whole.toml", text)
        self.assertEqual(text, self.succeed("train", "whole.toml", "--print"))

    def test_a_bad_recipe_ends_with_2_and_names_file_and_line(self):
        self.write("bad.toml", "[train]\nepoch = 3\n")
        self.expect_error(2, "recipe: unknown key 'train.epoch'; bad.toml:2; did you mean 'epochs'?",
                          "train", "bad.toml")
        self.expect_error(2, "--set train.epochs=0: expected at least 1, found 0",
                          "train", "small.toml", "--set", "train.epochs=0")
        self.expect_error(2, "did you mean 'spirals-mlp'?", "train", "spiral-mlp")
        self.expect_error(3, "missing.toml", "train", "missing.toml")
        self.expect_error(2, "did you mean 'accuracy'", "train", "small.toml", "--set",
                          "train.metrics=['acuracy']")

    def test_a_net_that_does_not_fit_its_data_names_the_layer(self):
        conv = '[[net.layer]]\nkind = "conv2d"\nchannels = 2\n\n[optimizer]'
        self.write("conv.toml", SMALL.replace("[optimizer]", conv))
        self.expect_error(2, "in 2 (Conv2D)", "train", "conv.toml")

    def test_data_that_are_not_there_end_with_4_and_say_how_to_get_them(self):
        self.expect_error(4, "mnist", "train", "small.toml", "--set", "data={set='mnist', folder='none'}")

    def write_images(self, folder, **counts):
        os.makedirs(self.path(folder), exist_ok=True)
        for part, count in counts.items():
            for name, shape in (("images-idx3", (count, 28, 28)), ("labels-idx1", (count,))):
                with open(self.path(f"{folder}/{part}-{name}-ubyte"), "wb") as file:
                    file.write(struct.pack(f">BBBB{len(shape)}I", 0, 0, 8, len(shape), *shape))
                    file.write(bytes(math.prod(shape)))

    def test_data_without_samples_end_with_2_before_anything_is_trained(self):
        for train, test, text in ((0, 2, "no samples to train on"), (2, 0, "no samples to test on")):
            self.write_images("set", train=train, t10k=test)
            self.expect_error(2, text, "train", "small.toml", "--set", "data={set='mnist', folder='set'}")
        self.assertFalse(os.path.exists(self.path("runs")))


class Inspect(ProgramTest):
    def inspect(self, name):
        return json.loads(self.succeed("inspect", name, "--json"))

    def test_idx(self):
        with open(self.path("a.idx"), "wb") as file:
            file.write(bytes([0, 0, 8, 2]) + struct.pack(">II", 2, 3) + bytes([1, 2, 3, 4, 5, 9]))
        self.assertEqual(self.inspect("a.idx"), {"file": "a.idx", "format": "idx", "dtype": "u8", "shape": [2, 3],
                                                 "min": 1.0, "max": 9.0, "mean": 4.0})

    def test_safetensors(self):
        header = b'{"__metadata__":{"a":"b"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
        with open(self.path("a.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + bytes(8))
        found = self.inspect("a.safetensors")
        self.assertEqual(found["tensors"], [{"name": "w", "dtype": "f32", "shape": [2], "bytes": 8}])
        self.assertEqual(found["metadata"], {"a": "b"})
        self.assertIn("w", self.succeed("inspect", "a.safetensors"))

    def test_a_name_cannot_command_the_terminal(self):
        header = b'{"a\\u001b[31m":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
        with open(self.path("a.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header + bytes(8))
        self.assertIn("a?[31m", self.succeed("inspect", "a.safetensors"))

    def test_all_files_are_told_of_whatever_is_wrong_with_some(self):
        with open(self.path("a.idx"), "wb") as file:
            file.write(bytes([0, 0, 8, 1]) + struct.pack(">I", 2) + bytes([1, 2]))
        self.write("cut.safetensors", "abc")
        code, out, err = self.run_program("inspect", "missing", "a.idx", "cut.safetensors", "a.idx")
        self.assertEqual(code, 3)
        self.assertEqual(out.count("a.idx: idx"), 2)
        self.assertEqual([line[:8] for line in err.splitlines()], ["thalweg:"] * 2)
        self.assertIn("missing", err.splitlines()[0])
        self.assertIn("cut.safetensors", err.splitlines()[1])
        # The worst: a wrong command and a file that is not there.
        self.write("a.csv", "a,b\n1,2\n")
        self.assertEqual(self.run_program("inspect", "a.csv", "missing.csv", "--option", "foo=1")[0], 2)
        self.assertEqual(self.run_program("inspect", "a.csv", "missing.csv")[0], 3)

    def test_damaged_files_end_with_3(self):
        self.write("short", "abc")
        self.expect_error(3, "short", "inspect", "short")
        self.expect_error(3, "missing", "inspect", "missing")
        self.expect_error(3, "there is no config.toml in it", "inspect", ".")


class Doctor(ProgramTest):
    def test_says_what_is_there_and_what_absences_cost(self):
        found = json.loads(self.succeed("doctor", "--json"))
        for name in ("processor", "simd", "threads", "memory", "libxsmm", "onednn", "cuda", "fashion_mnist"):
            self.assertIn("detail", found[name])
            if not found[name]["found"]:
                self.assertTrue(found[name]["cost"] and found[name]["remedy"], name)
        self.assertIn("processor", self.succeed("doctor"))

    def test_follows_the_environment(self):
        found = json.loads(self.succeed("doctor", "--json", env={**os.environ, "THALWEG_THREADS": "3"}))
        self.assertEqual(found["threads"]["detail"], "3 (THALWEG_THREADS=3)")


if __name__ == "__main__":
    unittest.main()
