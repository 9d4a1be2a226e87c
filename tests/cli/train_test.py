"""Runs from start to end, and runs that are stopped. train_test.py PROGRAM"""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import unittest

from program import ENVIRONMENT, SMALL, ProgramTest

ProgramTest.program = sys.argv.pop()

# Long enough to be stopped, with checkpoints on the way.
LONG = ["--set", "train.epochs=60", "--set", "train.checkpoints.every_steps=25"]


class Train(ProgramTest):
    def test_leaves_a_complete_folder(self):
        run = self.train()
        self.assertRegex(run, r"^runs/small-\d{8}T\d{6}Z$")
        for name in ("config.toml", "metrics.jsonl", "report.html", "model.safetensors", "checkpoints"):
            self.assertTrue(os.path.exists(self.path(os.path.join(run, name))), name)
        found = json.loads(self.succeed("inspect", run, "--json"))
        self.assertEqual(found["steps"], 40)
        self.assertEqual(found["epochs"], 2)
        self.assertIn("accuracy", found["test"])
        checkpoint = os.path.join(run, "checkpoints", "step-00000040.safetensors")
        found = json.loads(self.succeed("inspect", checkpoint, "--json"))
        self.assertEqual((found["format"], found["step"]), ("checkpoint", 40))

    def test_says_what_it_trains_and_how_well(self):
        out, err = self.run_program("train", "small.toml")[1:]
        self.assertIn("Dense", out)
        self.assertIn("accuracy", out + err)
        self.assertIn("report.html", out)

    def test_damaged_checkpoints_are_named(self):
        run = self.train()
        self.assertEqual(json.loads(self.succeed("inspect", run, "--json"))["damaged"], [])
        cut = os.path.join(run, "checkpoints", "step-00000040.safetensors")
        with open(self.path(cut), "r+b") as file:
            file.truncate(1000)
        changed = os.path.join(run, "checkpoints", "best.safetensors")
        with open(self.path(changed), "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last ^ 1]))
        code, out, err = self.run_program("inspect", run, "--json")
        self.assertEqual(code, 3)
        damaged = json.loads(out)["damaged"]
        self.assertEqual(len(damaged), 2)
        self.assertIn(cut, damaged[0])
        self.assertIn(changed, damaged[1])
        self.assertIn("checksum", damaged[1])
        self.assertIn(cut, self.run_program("inspect", run)[1])
        self.assertIn(f"{run}: 2 of them", err)

    def test_a_set_in_place_of_another_is_named_wherever_the_run_is(self):
        net = SMALL.replace('set = "spirals"', 'set = "fashion_mnist"\nfolder = "none"')
        net = net.replace("train_samples = 200\ntest_samples = 100\n", "").replace("units = 2", "units = 10")
        self.write("clothes.toml", net.replace('name = "small"', 'name = "clothes"'))
        out = self.succeed("train", "clothes.toml", "--set", "train.max_steps=30")
        self.assertIn("Data: drawn_digits (train), 60000 samples; drawn_digits (test), 10000 samples; in place of fashion_"
                      "mnist, which is not there\n", out)
        run = [line.split()[1] for line in out.splitlines() if line.startswith("run ")][0]
        self.assertTrue(run.startswith("runs/clothes-on-drawn_digits-"), run)
        report = self.read(run, "report.html").decode()
        self.assertIn("<title>clothes-on-drawn_digits", report)
        self.assertRegex(report, r"<dt>Data</dt><dd id=\"data\">drawn_digits \(train\), 60000 samples")

    def test_a_run_goes_on_and_is_measured_on_its_own_data_only(self):
        run = self.train()
        path = self.path(os.path.join(run, "config.toml"))
        text = self.read(run, "config.toml").decode()
        begin, end = text.index("[data]"), text.index("batch_size")
        self.write(path, text[:begin] + '[data]\nset = "fashion_mnist"\nfolder = "none"\n' + text[end:])
        self.expect_error(4, "fashion_mnist: the data set is not there", "train", "--resume", run)
        self.expect_error(4, "fashion_mnist: the data set is not there", "eval", run)

    def test_results_are_on_standard_output_where_there_is_no_terminal(self):
        code, out, err = self.run_program("train", "small.toml")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"epoch 2/2  step 40 .*accuracy .*test .*accuracy")
        self.assertNotIn("| test", err)

    def test_the_report_has_the_time_of_each_epoch(self):
        report = self.read(self.train(), "report.html").decode()
        seconds = re.findall(r'"epoch":\s*\d+,\s*"step":\s*\d+,\s*"seconds":\s*([0-9.e+-]+)', report)
        self.assertEqual(len(seconds), 2, report[-3000:])
        self.assertTrue(all(float(text) > 0 for text in seconds), seconds)

    def test_the_report_has_settings_net_and_results(self):
        report = self.read(self.train(), "report.html").decode()
        for text in ("optimizer.learning_rate", "confusion", "thalweg train small.toml", "Dense"):
            self.assertIn(text, report)

    def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads_and_workers(self):
        first = self.train("--threads", "1")
        second = self.train("--threads", "2", "--set", "data.workers=2")
        other = self.train("--seed", "2")
        self.assertEqual(self.read(first, "model.safetensors"), self.read(second, "model.safetensors"))
        self.assertEqual(self.read(first, "metrics.jsonl"), self.read(second, "metrics.jsonl"))
        self.assertNotEqual(self.read(first, "model.safetensors"), self.read(other, "model.safetensors"))

    def test_the_config_of_a_run_gives_the_same_run(self):
        first = self.train("--set", "optimizer.learning_rate=0.02")
        out = self.succeed("train", os.path.join(first, "config.toml"))
        second = [line.split()[1] for line in out.splitlines() if line.startswith("run ")][0]
        self.assertEqual(self.read(first, "model.safetensors"), self.read(second, "model.safetensors"))

    def test_a_recipe_that_comes_along_learns(self):
        out = self.succeed("train", "spirals-mlp")
        run = [line.split()[1] for line in out.splitlines() if line.startswith("run ")][0]
        result = json.loads(self.succeed("eval", run, "--json"))
        self.assertGreater(result["accuracy"], 0.97)
        self.assertEqual(result["samples"], 1000)

    def test_a_tagger_learns_from_what_comes_before_and_after(self):
        out = self.succeed("train", "lstm-tagging")
        run = [line.split()[1] for line in out.splitlines() if line.startswith("run ")][0]
        self.assertGreater(json.loads(self.succeed("eval", run, "--json"))["accuracy"], 0.99)

    def test_a_gpt_learns_to_repeat_a_text_of_ones_own(self):
        with open(self.path("text.txt"), "w") as text:
            text.write("one two three four five six seven eight nine ten. " * 200)
        out = self.succeed("train", "char-gpt", "--set", "data.train=text.txt", "--set", "train.epochs=10",
                           "--set", "net.layer.1.length=32", "--set", "data.length=32", "--set", "data.batch_size=8")
        run = [line.split()[1] for line in out.splitlines() if line.startswith("run ")][0]
        result = json.loads(self.succeed("eval", run, "--json"))
        self.assertGreater(result["accuracy"], 0.9)
        self.assertLess(result["perplexity"], 1.5)

    def test_a_loss_that_is_not_a_number_stops_the_run(self):
        self.expect_error(2, "step", "train", "small.toml", "--set",
                          "optimizer={kind='sgd', learning_rate=1e38}", "--set", "train.epochs=50")


CTF = """[run]
name = "ctf"

[data]
set = "files"
train = "points.ctf"
streams = ["x=X:dense:2", "y=Y:sparse:2"]
batch_size = 16

[[net.layer]]
kind = "dense"
units = 2

[optimizer]
kind = "adam"
learning_rate = 0.05

[train]
epochs = 4
"""


TAGS = """[run]
name = "tags"

[data]
set = "files"
train = "tags.ctf"
streams = ["words=w:sparse:10", "tags=t:sparse:3"]
packing = "padded"
batch_size = 16

[[net.layer]]
kind = "embedding"
count = 10
units = 16

[[net.layer]]
kind = "gru"
units = 32

[[net.layer]]
kind = "dense"
units = 3

[optimizer]
kind = "adam"
learning_rate = 0.01

[train]
epochs = 12

[train.loss]
kind = "token_cross_entropy"
"""


class Files(ProgramTest):
    """Training from files that a minibatch source reads."""

    def setUp(self):
        super().setUp()
        # Which of two numbers is larger, and a tenth of the rows says otherwise.
        rows = ""
        for i in range(500):
            x, y = i * 37 % 101 / 101, i * 53 % 103 / 103
            rows += f"|X {x:.4f} {y:.4f} |Y {int((x < y) != (i % 10 == 0))}:1\n"
        self.write("points.ctf", rows)
        self.write("small.toml", CTF)

    def test_learns_and_goes_on_with_the_same_bits(self):
        run = self.train()
        figures = json.loads(self.succeed("eval", run, "--json"))
        self.assertEqual(figures["samples"], 500)
        self.assertGreater(figures["accuracy"], 0.85)
        self.assertIn("confusion", self.read(run, "report.html").decode())
        other = self.train("--set", "data.workers=3")
        stopped = self.train("--set", "train.max_steps=50", "--set", "train.checkpoints.every_steps=7")
        self.succeed("train", "--resume", stopped, "--set", "train.max_steps=0")
        for name in ("model.safetensors", "metrics.jsonl"):
            self.assertEqual(self.read(run, name), self.read(other, name), name)
        self.assertEqual(self.read(run, "model.safetensors"), self.read(stopped, "model.safetensors"))

    def test_files_that_are_not_there_name_the_key_and_where_it_looked(self):
        self.expect_error(4, "THALWEG_DATA", "train", "simple2d-ctf")
        self.expect_error(4, "data.train", "train", "simple2d-ctf")

    def test_learns_from_csv(self):
        rows = "a,b,larger\n" + "".join(f"{i % 7},{i % 5},{int(i % 7 < i % 5)}\n" for i in range(350))
        self.write("points.csv", rows)
        run = self.train("--set", "data.train=points.csv", "--set", "train.epochs=10",
                         "--set", "data.streams=['x=a..b:dense:2', 'y=larger:dense:1:i64']")
        self.assertGreater(json.loads(self.succeed("eval", run, "--json"))["accuracy"], 0.95)

    def test_a_table_needs_no_more_than_the_name_of_its_label(self):
        rows = "".join(f"{i % 7},{i % 5},{int(i % 7 < i % 5)}\n" for i in range(350))
        self.write("points.csv", "a,b,larger\n" + rows)
        table = ["--set", "data.train=points.csv", "--set", "data.streams=[]"]
        self.expect_error(2, "has the columns a, b, larger; name the label's", "train", "small.toml", *table)
        run = self.train(*table, "--set", "data.label=larger", "--set", "train.epochs=10")
        self.assertGreater(json.loads(self.succeed("eval", run, "--json"))["accuracy"], 0.95)

    def test_what_cannot_be_learnt_from_leaves_no_run(self):
        self.write("t.csv", "a,b,y\n1,2,0.5\n2,3,1\n")
        table = ["--runs", "none", "--set", "data.streams=[]", "--set", "data.label=y", "--set", "data.train=t.csv"]
        self.expect_error(2, "label of sample 0 is 0.5; expected the number of a", "train", "small.toml", *table)
        self.write("t.csv", "a,b,y\n1,2,cat\n2,3,dog\n")
        self.expect_error(3, "t.csv:2:5: expected f32, found 'cat'", "train", "small.toml", *table)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_measures_by_ten_views(self):
        data = "[data]\nset = 'drawn_shapes'\ntrain_samples = 40\ntest_samples = 20\nbatch_size = 20\n"
        crop = "[[data.transform]]\nkind = 'center_crop'\nheight = 28\nwidth = 28\n"
        net = "[[net.layer]]\nkind = 'flatten'\n[[net.layer]]\nkind = 'dense'\nunits = 10\n[train]\nepochs = 1\n"
        self.write("small.toml", data + crop + net)
        run = self.train()
        one, ten = (json.loads(self.succeed("eval", run, "--json", *more))["loss"] for more in ((), ("--views",)))
        self.assertTrue(0 < abs(one - ten) < 0.5, (one, ten))
        self.write("small.toml", data + net)
        self.expect_error(2, "no transform center_crop", "eval", self.train(), "--views")

    def test_learns_tags_of_padded_sequences(self):
        # A tag is the sum of a word and the one before, modulo 3.
        rows = ""
        for sentence in range(300):
            words = [(sentence * 7 + t * t * 5 + sentence * t) % 10 for t in range(2 + sentence % 6)]
            for before, word in zip([0] + words, words):
                rows += f"{sentence} |w {word}:1 |t {(word + before) % 3}:1\n"
        self.write("tags.ctf", rows)
        self.write("small.toml", TAGS)
        run = self.train()
        figures = json.loads(self.succeed("eval", run, "--json"))
        self.assertEqual(figures["samples"], 1350)
        self.assertGreater(figures["accuracy"], 0.98)
        self.assertIn("GRU(16 -> 32", self.succeed("summary", "small.toml"))

    def test_balances_classes(self):
        # One of ten is of the second class, and x says which.
        rows = "".join(f"|X {i % 10} 1 |Y {int(i % 10 == 0)}:1\n" for i in range(500))
        self.write("points.ctf", rows)
        plain, balanced = self.train(), self.train("--set", "data.balance=true")
        self.assertNotEqual(self.read(plain, "model.safetensors"), self.read(balanced, "model.safetensors"))
        self.assertGreater(json.loads(self.succeed("eval", balanced, "--json"))["accuracy"], 0.85)

    def test_finds_files_below_the_folder_of_data(self):
        os.mkdir(self.path("sets"))
        os.rename(self.path("points.ctf"), self.path("sets/points.ctf"))
        self.succeed("train", "small.toml", env={**ENVIRONMENT, "THALWEG_DATA": self.path("sets")})
        self.expect_error(4, "points.ctf", "train", "small.toml")

    def test_a_bad_record_is_told_with_its_place(self):
        with open(self.path("points.ctf"), "a", encoding="utf-8") as file:
            file.write("|X 0.5 |Y 1:1\n")
        self.expect_error(3, "points.ctf:501", "train", "small.toml")
        run = self.train("--set", "data.max_errors=1")
        self.assertTrue(os.path.exists(self.path(os.path.join(run, "model.safetensors"))))


class Profile(ProgramTest):
    def test_leaves_a_trace_and_a_table_and_the_same_bits(self):
        plain = self.train()
        out = self.succeed("train", "small.toml", "--profile")
        run = [line.split()[1] for line in out.splitlines() if line.startswith("run ")][0]
        self.assertEqual(self.read(plain, "metrics.jsonl"), self.read(run, "metrics.jsonl"))
        self.assertRegex(out, r"op +kernel +calls +time +mean +share +GFLOP/s +GB/s +peak\n")
        self.assertRegex(out, r"linear .*%")
        events = self.events(run)
        self.assertLessEqual({"linear", "step", "evaluation", "live tensors"}, {event["name"] for event in events})
        ops = [event for event in events if event.get("cat") == "op"]
        self.assertGreater(sum(event["args"]["planned"] for event in ops), len(ops) / 2)

    def test_a_run_without_a_plan_is_profiled_op_by_op(self):
        ops = [event for event in self.events(self.train("--profile", "--set", "train.plan=false")) if event.get("cat") == "op"]
        self.assertIn("linear", {event["name"] for event in ops})
        self.assertFalse(any(event["args"]["planned"] for event in ops))

    def events(self, run):
        return json.loads(self.read(run, "profile.json"))["traceEvents"]


class Predict(ProgramTest):
    def test_names_the_classes_of_samples(self):
        run = self.train("--set", "train.epochs=1")
        self.write("points.csv", "0.1,0.2\n-0.5,0.5\n")
        lines = self.succeed("predict", run, "points.csv", "--json", "--top", "2").splitlines()
        self.assertEqual(len(lines), 2)
        first = json.loads(lines[0])
        self.assertEqual((first["file"], first["sample"]), ("points.csv", 0))
        self.assertAlmostEqual(sum(entry["probability"] for entry in first["classes"]), 1, places=6)

    def test_a_run_without_a_model_is_an_error(self):
        run = self.train("--set", "train.epochs=1")
        os.remove(self.path(os.path.join(run, "model.safetensors")))
        self.write("points.csv", "0.1,0.2\n")
        self.expect_error(3, "the run has no trained net", "predict", run, "points.csv")


class Export(ProgramTest):
    def test_a_model_is_measured_printed_and_drawn_as_its_run(self):
        run = self.train()
        self.assertEqual(self.succeed("export", run, "-o", "model"), "model   model\n")
        self.assertEqual(self.succeed("eval", "model", "--json"), self.succeed("eval", run, "--json"))
        self.assertIn("Dense(", self.succeed("summary", "model"))
        self.assertIn('[label="Dense(', self.succeed("plot", "model"))
        self.expect_error(2, "--plan is of training steps", "plot", "model", "--plan")

    def test_the_best_checkpoint_is_exported(self):
        run = self.train()
        best = os.path.join(run, "checkpoints", "best.safetensors")
        self.succeed("export", run, "-o", "model", "--weights", best)
        self.assertEqual(self.succeed("eval", "model", "--json"), self.succeed("eval", run, "--weights", best, "--json"))

    def test_a_damaged_model_is_told_by_its_field(self):
        self.succeed("export", "small.toml", "-o", "model")
        path = os.path.join(self.path("model"), "model.json")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"version": 1', '"version": 9'))
        self.expect_error(3, "version: expected at most 1", "summary", "model")


class Stopped(ProgramTest):
    def start_long(self):
        process = self.start("train", "small.toml", *LONG)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            runs = os.listdir(self.path("runs")) if os.path.isdir(self.path("runs")) else []
            folder = self.path(os.path.join("runs", runs[0], "checkpoints")) if runs else ""
            if folder and os.path.isdir(folder) and any(not name.startswith(".") for name in os.listdir(folder)):
                return process, os.path.join("runs", runs[0])
            if process.poll() is not None:
                break
            time.sleep(0.005)
        self.fail("no checkpoint came: " + process.communicate()[1])

    def expect_same_as_never_stopped(self, run):
        whole = self.train(*LONG, "--runs", "others")
        for name in ("model.safetensors", "metrics.jsonl"):
            self.assertEqual(self.read(whole, name), self.read(run, name), name)

    def test_ctrl_c_writes_a_checkpoint_and_the_command_that_goes_on(self):
        process, run = self.start_long()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        command = [line for line in (out + err).splitlines() if "--resume" in line][-1]
        command = command[command.index(self.program):].split()
        subprocess.run(command, cwd=self.folder, env=ENVIRONMENT, check=True, capture_output=True)
        self.expect_same_as_never_stopped(run)

    def test_a_killed_run_goes_on(self):
        process, run = self.start_long()
        process.kill()
        process.communicate()
        self.succeed("train", "--resume", run)
        self.expect_same_as_never_stopped(run)

    def report_of(self, run):
        page = self.read(run, "report.html").decode()
        return json.loads(page.split('id="thalweg-run">')[1].split("</script>")[0])

    def test_the_report_of_a_run_that_went_on_is_about_all_of_it(self):
        process, run = self.start_long()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        first = self.report_of(run)
        self.succeed("train", "--resume", run)
        whole = self.report_of(run)
        stopped_at = json.loads(self.read(run, "times.json"))["resumed"][0]["step"]
        self.assertEqual(sum(phase["calls"] for phase in whole["phases"] if phase["name"] == "step"), 1200)
        self.assertEqual(whole["started"], first["started"])
        self.assertTrue(whole["resumed"].startswith(f"after step {stopped_at}, 20"), whole["resumed"])
        self.assertGreater(whole["seconds"], first["seconds"])
        self.assertEqual([epoch["epoch"] for epoch in whole["epochs"]], list(range(1, 61)))
        self.assertTrue(all(epoch["seconds"] > 0 for epoch in whole["epochs"]), whole["epochs"])
        for before, after in zip(first["epochs"], whole["epochs"]):
            self.assertEqual(before, after)
        self.assertEqual(whole["steps"]["step"][1:], list(range(10, 1201, 10)))
        for name in ("step", "loss", "learning_rate"):
            known = len(first["steps"][name])
            self.assertEqual(first["steps"][name], whole["steps"][name][:known])

    def test_damaged_times_are_told_of_and_no_hindrance(self):
        run = self.train()
        self.write(os.path.join(run, "times.json"), '{"started": 3}')
        code, _, err = self.run_program("train", "--resume", run, "--set", "train.epochs=3")
        self.assertEqual(code, 0)
        self.assertIn("times.json is damaged", err)
        self.assertEqual([epoch["seconds"] > 0 for epoch in self.report_of(run)["epochs"]], [False, False, True])

    def test_a_terminal_that_closes_stops_a_run_as_ctrl_c_does(self):
        process, run = self.start_long()
        process.send_signal(signal.SIGHUP)
        err = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 129, err)
        self.assertIn("stopped by SIGHUP after step", err)
        self.succeed("train", "--resume", run)
        self.expect_same_as_never_stopped(run)

    def test_a_run_that_stopped_early_says_so_and_how_it_goes_on(self):
        run = self.train("--set", "train.epochs=30", "--set", "train.early_stopping.patience=2", "--set",
                         "train.early_stopping.min_delta=0.5")
        self.assertIn(b"no more improvement", self.read(run, "report.html"))
        out = self.succeed("train", "--resume", run)
        self.assertIn("3 epochs, 60 steps; nothing is left to train; it stopped early, as the last 2 evaluations "
                      "brought no better loss; to go on, --set train.early_stopping.patience=N", out)
        out = self.succeed("train", "--resume", run, "--set", "train.early_stopping.patience=4")
        self.assertIn("goes on after step 60, in epoch 4", out)
        self.assertEqual(json.loads(self.succeed("inspect", run, "--json"))["epochs"], 5)

    def test_what_is_no_run_cannot_go_on(self):
        self.expect_error(3, "nowhere", "train", "--resume", "nowhere")
        self.expect_error(2, "give one", "train", "small.toml", "--resume", "nowhere")

    def test_a_finished_run_says_that_nothing_is_left(self):
        run = self.train()
        before = self.read(run, "config.toml")
        self.assertIn("nothing is left to train", self.succeed("train", "--resume", run))
        self.expect_error(2, "train.epochs = 1 is less", "train", "--resume", run, "--set", "train.epochs=1")
        self.assertEqual(self.read(run, "config.toml"), before)
        self.assertIn("goes on after step 40, in epoch 3",
                      self.succeed("train", "--resume", run, "--set", "train.epochs=3"))

    def test_a_run_goes_on_for_longer_than_it_was_meant_to(self):
        run = self.train()
        self.succeed("train", "--resume", run, "--set", "train.epochs=3")
        self.assertEqual(json.loads(self.succeed("inspect", run, "--json"))["epochs"], 3)
        self.assertIn(b"epochs = 3\n", self.read(run, "config.toml"))


    def test_a_run_goes_on_with_another_learning_rate_if_it_is_given(self):
        run = self.train()
        self.succeed("train", "--resume", run, "--set", "train.epochs=3", "--set", "optimizer.learning_rate=0.25")
        steps = [json.loads(line) for line in self.read(run, "metrics.jsonl").splitlines()]
        rates = {line["epoch"]: line["learning_rate"] for line in steps if line["part"] == "step"}
        self.assertEqual(rates, {1: 0.01, 2: 0.01, 3: 0.25})

    def test_a_run_goes_on_in_its_own_folder(self):
        self.expect_error(2, "stays in its folder", "train", "--resume", "runs/a", "--runs", "other")

    def test_the_command_that_goes_on_is_quoted_for_the_shell(self):
        folder = "my 'runs'"
        process = self.start("train", "small.toml", "--runs", folder, *LONG)
        while not any(name.startswith("step") for _, _, names in os.walk(self.path(folder)) for name in names):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1]
        command = [line for line in err.splitlines() if "--resume" in line][-1].split(": ", 1)[1]
        subprocess.run(command, shell=True, cwd=self.folder, env=ENVIRONMENT, check=True, capture_output=True)

    def test_a_checkpoint_can_be_measured(self):
        run = self.train()
        best = os.path.join(run, "checkpoints", "step-00000040.safetensors")
        self.assertEqual(self.succeed("eval", run, "--weights", best), self.succeed("eval", run))


class Disk(ProgramTest):
    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_a_folder_that_cannot_be_written_ends_with_3(self):
        os.mkdir(self.path("closed"), 0o500)
        self.expect_error(3, "closed", "train", "small.toml", "--runs", "closed")

    def test_a_file_in_place_of_the_folder_ends_with_3(self):
        self.write("file", "")
        self.expect_error(3, "file", "train", "small.toml", "--runs", "file")

    def test_a_full_disk_ends_with_3_and_leaves_the_last_checkpoint(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        # Metrics grow with the steps, checkpoints do not: the disk is full some way into the run.
        self.expect_error(3, "runs/small-", "train", "small.toml", *LONG, preexec_fn=limit)
        run = os.path.join("runs", os.listdir(self.path("runs"))[0])
        self.succeed("train", "--resume", run)
        self.expect_whole(run)

    def expect_whole(self, run):
        found = json.loads(self.succeed("inspect", run, "--json"))
        self.assertEqual(found["epochs"], 60)


if __name__ == "__main__":
    unittest.main()
