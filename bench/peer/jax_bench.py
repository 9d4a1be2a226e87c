"""JAX, whole steps jitted, on the fixed workloads: jax_bench.py [step444 lenet mlp], JSON lines."""

import json
import os
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

THREADS = int(os.environ.get("OMP_NUM_THREADS", "0"))


def out(**figures):
    print(json.dumps(figures | {"threads": THREADS, "jax": jax.__version__}), flush=True)


def best(step, state, n, *data):
    for _ in range(3):
        state = step(state, *data)
    jax.block_until_ready(state)
    seconds = 1e9
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(n):
            state = step(state, *data)
        jax.block_until_ready(state)
        seconds = min(seconds, (time.perf_counter() - begin) / n)
    return seconds


def dense_net(sizes):
    key = jax.random.PRNGKey(0)
    return [(jax.random.normal(jax.random.fold_in(key, i), (a, b)) * .1, jnp.zeros(b))
            for i, (a, b) in enumerate(zip(sizes, sizes[1:]))]


def forward(net, x, activation):
    for w, b in net[:-1]:
        x = activation(x @ w + b)
    return x @ net[-1][0] + net[-1][1]


def cross_entropy(scores, labels):
    return jnp.mean(jax.nn.logsumexp(scores, 1) - jnp.take_along_axis(scores, labels[:, None], 1)[:, 0])


def mlp():
    def loss(net, x, y):
        return cross_entropy(forward(net, x, jax.nn.relu), y)

    @jax.jit
    def step(net, x, y):
        value, slope = jax.value_and_grad(loss)(net, x, y)
        return jax.tree.map(lambda a, b: a - .1 * b, net, slope), value

    net = dense_net([784, 64, 64, 10])
    x = np.random.rand(60000, 784).astype("f")
    y = np.random.randint(10, size=60000)
    seconds = 1e9
    for _ in range(4):
        order = np.random.permutation(60000)[:59968]
        begin = time.perf_counter()
        for i in range(0, 59968, 64):
            net, _ = step(net, x[order[i:i + 64]], y[order[i:i + 64]])
        jax.block_until_ready(net)
        seconds = min(seconds, time.perf_counter() - begin)
    out(work="mlp", mode="slices", epoch_s=seconds)


def step444():
    def loss(net, x, y):
        return jnp.mean((forward(net, x, jnp.tanh) - y) ** 2)

    @jax.jit
    def step(net, x, y):
        return jax.tree.map(lambda a, b: a - .01 * b, net, jax.grad(loss)(net, x, y))

    ones = jnp.ones((4, 4))
    out(work="step444", us=best(step, dense_net([4, 4, 4]), 2000, ones, ones) * 1e6)


def lenet_scores(p, x):
    def conv(x, w, padding):
        return jax.lax.conv_general_dilated(x, w, (1, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def pool(x):
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    x = pool(jax.nn.relu(conv(x, p[0], "SAME") + p[1]))
    x = pool(jax.nn.relu(conv(x, p[2], "VALID") + p[3])).reshape(64, 400)
    return jax.nn.relu(jax.nn.relu(x @ p[4] + p[5]) @ p[6] + p[7]) @ p[8] + p[9]


def lenet():
    @jax.jit
    def step(state, x, y):
        net, speed = state
        slope = jax.grad(lambda net: cross_entropy(lenet_scores(net, x), y))(net)
        speed = jax.tree.map(lambda a, b: .9 * a + b, speed, slope)
        return jax.tree.map(lambda a, b: a - .01 * b, net, speed), speed

    shapes = [(5, 5, 1, 6), (6,), (5, 5, 6, 16), (16,), (400, 120), (120,), (120, 84), (84,), (84, 10), (10,)]
    net = [jnp.asarray(np.random.randn(*shape).astype("f") * .05) for shape in shapes]
    x = jnp.asarray(np.random.rand(64, 28, 28, 1).astype("f"))
    y = jnp.asarray(np.random.randint(10, size=64))
    seconds = best(step, (net, jax.tree.map(jnp.zeros_like, net)), 20, x, y)
    out(work="lenet", step_ms=seconds * 1e3, items_s=64 / seconds)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["step444", "lenet", "mlp"]:
        globals()[name]()
