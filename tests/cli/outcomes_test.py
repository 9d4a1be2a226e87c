"""Recipes reach the losses that others did. outcomes_test.py PROGRAM"""

import json
import math
import os
import random
import re
import shutil
import sys
import unittest

from program import ProgramTest

ProgramTest.program = sys.argv.pop()


def least_logistic_loss(points):
    """The minimum of the mean cross entropy over lines, by Newton's method."""
    w = [0.0, 0.0, 0.0]
    for _ in range(25):
        gradient, hessian = [0.0] * 3, [[1e-12 * (i == j) for j in range(3)] for i in range(3)]
        for x, y, label in points:
            features = (x, y, 1.0)
            p = 1 / (1 + math.exp(-sum(a * b for a, b in zip(w, features))))
            for i in range(3):
                gradient[i] += (p - label) * features[i]
                for j in range(3):
                    hessian[i][j] += p * (1 - p) * features[i] * features[j]
        for i in range(3):  # solves hessian * step = gradient
            pivot = hessian[i][i]
            for row in range(3):
                if row == i:
                    continue
                factor = hessian[row][i] / pivot
                hessian[row] = [a - factor * b for a, b in zip(hessian[row], hessian[i])]
                gradient[row] -= factor * gradient[i]
        w = [w[i] - gradient[i] / hessian[i][i] for i in range(3)]
    scores = [(w[0] * x + w[1] * y + w[2], label) for x, y, label in points]
    return sum(math.log1p(math.exp(s)) - s * label for s, label in scores) / len(points)


class Outcomes(ProgramTest):
    def last_epoch(self, recipe, *settings):
        """The figures of the last epoch's training, and of the test after it if there is one."""
        self.succeed("train", recipe, "--runs", recipe, *[word for text in settings for word in ("--set", text)])
        run = os.path.join(recipe, sorted(os.listdir(self.path(recipe)))[-1])
        lines = [json.loads(line) for line in self.read(run, "metrics.jsonl").splitlines()]
        shutil.rmtree(self.path(recipe))
        return {line["part"]: line for line in lines if line["part"] in ("train", "test")}

    # cntk.md: cross entropy 0.1579, error 0.0727 in the third epoch.
    def test_the_recipe_of_simple2d_reaches_what_cntk_did(self):
        data = os.path.join(os.environ.get("THALWEG_CONFORMANCE_DATA", ""), "cntk/ctf/Simple_dense.txt")
        if not os.path.exists(data):
            self.skipTest("no files of CNTK in THALWEG_CONFORMANCE_DATA")
        last = self.last_epoch("simple2d-ctf", "data.train=" + data, "data.test=",
                               "data.streams=['features=F:dense:2', 'labels=L:dense:2']")["train"]
        self.assertAlmostEqual(last["loss"], 0.1579, delta=0.004)
        self.assertAlmostEqual(1 - last["accuracy"], 0.0727, delta=0.004)
        # The same points and classes as sparse rows.
        rows = re.sub(r"\|L (\S+) \S+", lambda found: "|L %d:1" % (found[1] != "1"),
                      re.sub(r"\|F (\S+) (\S+)", r"|F 0:\1 1:\2", self.read(data).decode()))
        self.write("sparse.ctf", rows)
        sparse = self.last_epoch("simple2d-ctf", "data.train=sparse.ctf", "data.test=",
                                 "data.streams=['features=F:sparse:2', 'labels=L:sparse:2']")["train"]
        self.assertAlmostEqual(sparse["loss"], last["loss"], delta=0.001)
        self.assertAlmostEqual(sparse["accuracy"], last["accuracy"], delta=0.001)

    def test_the_recipe_of_logistic_regression_reaches_the_least_loss_there_is(self):
        random_state = random.Random(7)
        points = []
        for i in range(1000):
            centre = 1 + 3 * (i % 2)
            points.append((random_state.gauss(centre, 1.5), random_state.gauss(centre, 1.5), i % 2))
        self.write("Train_cntk_text.txt", "".join("|features %.6f %.6f |labels %d\n" % p for p in points))
        self.write("sparse.ctf", "".join("|features 1:%.6f 0:%.6f |labels %s\n" %
                                         (p[1], p[0], "0:1" if p[2] else "") for p in points))
        least = least_logistic_loss(points)
        dense = self.last_epoch("logistic-regression-ctf")["train"]
        sparse = self.last_epoch(
            "logistic-regression-ctf", "data.train=sparse.ctf",
            "data.streams=['features=features:sparse:2', 'labels=labels:sparse:1']")["train"]
        for last in (dense, sparse):
            self.assertAlmostEqual(last["loss"], least, delta=0.01 * least)
        self.assertAlmostEqual(dense["loss"], sparse["loss"], delta=1e-5)

    # cntk.md: loss 0.344399, error 0.1258, and 0.0811 of the test's 1024 points, from random weights.
    def test_the_recipe_of_cntks_first_steps_reaches_what_cntk_did(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy, which draws the example's points")
        draw = numpy.random.RandomState(0)
        for name, count in (("train.ctf", 20000), ("test.ctf", 1024)):
            labels = draw.randint(size=count, low=0, high=2)
            points = ((draw.randn(count, 2) + 3) * (labels[:, None] + 1)).astype(numpy.float32)
            self.write(name, "".join(f"|features {x:.9g} {y:.9g} |labels {label}:1\n"
                                     for (x, y), label in zip(points, labels)))
        found = self.last_epoch("first-steps-ctf")
        self.assertAlmostEqual(found["train"]["loss"], 0.3444, delta=0.015)
        self.assertAlmostEqual(1 - found["train"]["accuracy"], 0.1258, delta=0.015)
        self.assertAlmostEqual(1 - found["test"]["accuracy"], 0.0811, delta=0.0025)
        # From weights next to zero, as the same steps in NumPy's f64.
        found = self.last_epoch("first-steps-ctf", "net.init.kind=uniform", "net.init.scale=1e-9")
        self.assertAlmostEqual(found["train"]["loss"], 0.336151906, delta=2e-6)
        self.assertAlmostEqual(1 - found["train"]["accuracy"], 0.123, delta=0.001)  # the first minibatch guesses
        self.assertAlmostEqual(1 - found["test"]["accuracy"], 0.0810546875, delta=1e-6)


if __name__ == "__main__":
    unittest.main()
