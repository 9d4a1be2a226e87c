"""The program that times the workloads, and the comparison with peers. bench_test.py PROGRAM"""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop()
BENCH = Path(__file__).resolve().parents[2] / "bench"


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(BENCH / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


compare = load("compare")
busy = load("busy")


class Program(unittest.TestCase):
    def test_gives_a_json_line_for_each_measurement(self):
        result = subprocess.run([PROGRAM, "add1", "step444", "--json", "--threads", "1"], check=True,
                                capture_output=True, text=True)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([line["work"] for line in lines], ["add1", "add1_recorded", "step444"])
        for line in lines:
            self.assertEqual(line["threads"], 1)
            self.assertGreater(line["us"], 0.005)
            self.assertLess(line["us"], 1000)

    def test_a_step_is_judged_by_its_time_and_says_what_memory_and_planning_take(self):
        result = subprocess.run([PROGRAM, "lenet_plan", "--json", "--threads", "1"], check=True,
                                capture_output=True, text=True)
        line = json.loads(result.stdout)
        self.assertEqual(busy.judged(line), line["step_ms"])
        self.assertGreater(line["peak_mib"], 1)
        self.assertIn("planning_ms", line)

    def test_an_unknown_workload_is_an_error_with_the_nearest_name(self):
        result = subprocess.run([PROGRAM, "add2"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn("did you mean 'add1'?", result.stderr)


class Comparison(unittest.TestCase):
    def rows(self, ours, peers):
        results = {}, {}
        for table, lines in zip(results, (ours, peers)):
            compare.collect(table, lines)
        return list(compare.rows(*results))

    def test_ratios_are_those_of_medians_and_above_1_where_thalweg_is_faster(self):
        ours = [{"work": "add1", "us": us} for us in (1, 2, 9)]
        peers = [{"work": "add1", "us": us} for us in (8, 3, 4)]
        self.assertEqual([row["times_faster"] for row in self.rows(ours, peers)], [2])

    def test_of_rates_more_is_faster(self):
        rows = self.rows([{"work": "loader", "samples_s": 30}], [{"work": "loader", "samples_s": 10}])
        self.assertEqual(rows[0]["times_faster"], 3)

    def test_a_mode_is_held_against_the_same_mode_and_those_of_the_peer_alone(self):
        ours = [{"work": "mlp", "mode": "loader", "epoch_s": 1}]
        peers = [{"work": "mlp", "mode": mode, "epoch_s": 2} for mode in ("loader", "slices")]
        self.assertEqual([row["peer_mode"] for row in self.rows(ours, peers)], ["loader", "slices"])
        planned = [{"work": "mlp_plan", "mode": "loader", "epoch_s": 0.5}]
        self.assertEqual([row["times_faster"] for row in self.rows(planned, peers[:1])], [4])
        ours = [{"work": "loader", "samples_s": 1}, {"work": "loader", "mode": "2 workers", "samples_s": 1}]
        self.assertEqual([(row["work"], row["peer_mode"]) for row in self.rows(ours, ours)],
                         [("loader", ""), ("loader 2 workers", "2 workers")])


if __name__ == "__main__":
    unittest.main()
