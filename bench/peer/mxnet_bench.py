"""MXNet 1.9.1 Gluon, hybridized, on the fixed workloads: mxnet_bench.py [step444 lenet mlp], JSON lines."""

import gzip
import json
import os
import struct
import sys
import time

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd

nn = gluon.nn
FASHION = os.environ.get("FASHION", "/usr/share/datasets/fashion-mnist/")
THREADS = int(os.environ.get("OMP_NUM_THREADS", "0"))


def out(**figures):
    print(json.dumps({**figures, "threads": THREADS, "mxnet": mx.__version__}), flush=True)


def idx(name):
    data = gzip.open(os.path.join(FASHION, name)).read()
    dims = data[3]
    shape = struct.unpack(">" + "I" * dims, data[4:4 + 4 * dims])
    return np.frombuffer(data[4 + 4 * dims:], np.uint8).reshape(shape)


def make_step(net, loss, rate, momentum=0.):
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": rate, "momentum": momentum})

    def step(x, y):
        with autograd.record():
            value = loss(net(x), y)
        value.backward()
        trainer.step(x.shape[0])
        return value

    return step


def best(step, n, blocks=5):
    for _ in range(3):
        step()
    nd.waitall()
    seconds = 1e9
    for _ in range(blocks):
        begin = time.perf_counter()
        for _ in range(n):
            step()
        nd.waitall()
        seconds = min(seconds, (time.perf_counter() - begin) / n)
    return seconds


def sequential(*layers):
    net = nn.HybridSequential()
    net.add(*layers)
    return net


def mlp():
    x = idx("train-images-idx3-ubyte.gz").reshape(-1, 784).astype("f") / 255
    y = idx("train-labels-idx1-ubyte.gz").astype("f")
    net = sequential(nn.Dense(64, activation="relu"), nn.Dense(64, activation="relu"), nn.Dense(10))
    step = make_step(net, gluon.loss.SoftmaxCrossEntropyLoss(), .1)
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), batch_size=64, shuffle=True)
    times = []
    for _ in range(3):
        begin, total = time.perf_counter(), 0
        for a, b in loader:
            total += step(a, b).mean().asscalar()
        times.append(time.perf_counter() - begin)
    out(work="mlp", mode="loader", epoch_s=min(times), loss=total / 938)


def lenet():
    net = sequential(
        nn.Conv2D(6, 5, padding=2, activation="relu"), nn.MaxPool2D(), nn.Conv2D(16, 5, activation="relu"),
        nn.MaxPool2D(), nn.Flatten(), nn.Dense(120, activation="relu"), nn.Dense(84, activation="relu"),
        nn.Dense(10))
    step = make_step(net, gluon.loss.SoftmaxCrossEntropyLoss(), .01, .9)
    x, y = nd.random.uniform(shape=(64, 1, 28, 28)), nd.array(np.random.randint(10, size=64))
    seconds = best(lambda: step(x, y), 20)
    out(work="lenet", step_ms=seconds * 1e3, items_s=64 / seconds)


def step444():
    step = make_step(sequential(nn.Dense(4, activation="tanh"), nn.Dense(4)), gluon.loss.L2Loss(), .01)
    x, y = nd.random.uniform(shape=(4, 4)), nd.random.uniform(shape=(4, 4))
    out(work="step444", us=best(lambda: step(x, y), 1000) * 1e6)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["step444", "lenet", "mlp"]:
        globals()[name]()
