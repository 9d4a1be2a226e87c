"""PyTorch on the fixed workloads: torch_bench.py [add1 step444 loader lenet mlp ...], JSON lines.

Each figure is the best of several timed blocks after warm-up. Threads are OMP_NUM_THREADS; FASHION is the
folder of Fashion-MNIST. resnet20, lstm, gpt, bf16 and compiled are there for what is to come."""

import gzip
import json
import os
import struct
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

THREADS = int(os.environ.get("OMP_NUM_THREADS", "2"))
FASHION = os.environ.get("FASHION", "/usr/share/datasets/fashion-mnist/")
torch.set_num_threads(THREADS)
torch.manual_seed(7)


def out(**figures):
    print(json.dumps(figures | {"threads": THREADS, "torch": torch.__version__}), flush=True)


def best(step, n, blocks=5, warm=2):
    for _ in range(warm):
        step()
    seconds = 1e9
    for _ in range(blocks):
        begin = time.perf_counter()
        for _ in range(n):
            step()
        seconds = min(seconds, (time.perf_counter() - begin) / n)
    return seconds


def idx(name):
    data = gzip.open(os.path.join(FASHION, name)).read()
    dims = data[3]
    shape = struct.unpack(">" + "I" * dims, data[4:4 + 4 * dims])
    return torch.frombuffer(bytearray(data[4 + 4 * dims:]), dtype=torch.uint8).reshape(shape)


def mlp_net():
    return nn.Sequential(nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def slices(x, y):
    order = torch.randperm(len(x))
    return ((x[order[i:i + 64]], y[order[i:i + 64]]) for i in range(0, len(x), 64))


def mlp():
    x = idx("train-images-idx3-ubyte.gz").reshape(-1, 784).float() / 255
    y = idx("train-labels-idx1-ubyte.gz").long()
    test_x = idx("t10k-images-idx3-ubyte.gz").reshape(-1, 784).float() / 255
    test_y = idx("t10k-labels-idx1-ubyte.gz").long()
    net = mlp_net()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=64, shuffle=True)
    for mode in ("loader", "slices"):
        optimizer = torch.optim.SGD(net.parameters(), lr=.1)
        times = []
        for _ in range(4):
            begin, total = time.perf_counter(), 0.
            for a, b in (loader if mode == "loader" else slices(x, y)):
                optimizer.zero_grad()
                loss = F.cross_entropy(net(a), b)
                loss.backward()
                optimizer.step()
                total += loss.item()
            times.append(time.perf_counter() - begin)
        accuracy = (net(test_x).argmax(1) == test_y).float().mean().item()
        out(work="mlp", mode=mode, epoch_s=min(times), loss=total / 938, test_acc=accuracy)


def steps(name, net, x, y, n=20, optimizer=None, **more):
    optimizer = optimizer or torch.optim.SGD(net.parameters(), lr=.01, momentum=.9)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()

    seconds = best(step, n)
    out(work=name, step_ms=seconds * 1e3, items_s=len(x) / seconds,
        params=sum(p.numel() for p in net.parameters()), **more)


def lenet_net():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, 10))


def lenet():
    steps("lenet", lenet_net(), torch.rand(64, 1, 28, 28), torch.randint(10, (64,)))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.short = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.short = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                       nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.short(x))


def resnet20_net():
    layers = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    inputs = 16
    for outputs, stride in ((16, 1), (32, 2), (64, 2)):
        for k in range(3):
            layers.append(Block(inputs, outputs, stride if k == 0 else 1))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def resnet20():
    for mode, layout in (("channels first", torch.contiguous_format), ("channels last", torch.channels_last)):
        net = resnet20_net().to(memory_format=layout)
        x = torch.rand(32, 3, 32, 32).to(memory_format=layout)
        steps("resnet20", net, x, torch.randint(10, (32,)), n=6, mode=mode)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(943, 150)
        self.lstm = nn.LSTM(150, 300, batch_first=True)
        self.out = nn.Linear(300, 129)

    def forward(self, x):
        return self.out(self.lstm(self.embedding(x))[0]).flatten(0, 1)


def lstm():
    steps("lstm", Tagger(), torch.randint(943, (32, 20)), torch.randint(129, (640,)), n=10)


class Gpt(nn.Module):
    def __init__(self, vocabulary=65, tokens=128, width=128, heads=4, layers=4):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.place = nn.Embedding(tokens, width)
        self.heads = heads
        self.blocks = nn.ModuleList([
            nn.ModuleDict({
                "norm1": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width),
                "project": nn.Linear(width, width), "norm2": nn.LayerNorm(width),
                "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)})
            for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, x):
        batch, tokens = x.shape
        h = self.token(x) + self.place(torch.arange(tokens))
        for block in self.blocks:
            qkv = block["qkv"](block["norm1"](h)).view(batch, tokens, 3, self.heads, -1)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            h = h + block["project"](a.transpose(1, 2).reshape(batch, tokens, -1))
            h = h + block["down"](F.gelu(block["up"](block["norm2"](h)), approximate="tanh"))
        return self.head(self.norm(h)).flatten(0, 1)


def gpt():
    net = Gpt()
    steps("gpt", net, torch.randint(65, (16, 128)), torch.randint(65, (2048,)), n=4,
          optimizer=torch.optim.AdamW(net.parameters(), lr=1e-3))


def add1():
    a, b = torch.ones(1), torch.ones(1)
    with torch.no_grad():
        out(work="add1", us=best(lambda: a + b, 20000) * 1e6)
    r = torch.ones(1, requires_grad=True)
    out(work="add1_recorded", us=best(lambda: r + b, 20000) * 1e6)


def step444():
    net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=.01)
    x, y = torch.rand(4, 4), torch.rand(4, 4)

    def step():
        optimizer.zero_grad()
        F.mse_loss(net(x), y).backward()
        optimizer.step()

    out(work="step444", us=best(step, 500) * 1e6)


def loader():
    data = torch.utils.data.TensorDataset(torch.rand(60000, 784), torch.randint(10, (60000,)))
    for workers in (0, 2):
        batches = torch.utils.data.DataLoader(data, batch_size=128, shuffle=True, num_workers=workers)
        seconds = 1e9
        for _ in range(2):
            begin = time.perf_counter()
            samples = sum(len(labels) for _, labels in batches)
            seconds = min(seconds, time.perf_counter() - begin)
        more = {"mode": f"{workers} workers"} if workers else {}
        out(work="loader", **more, samples_s=samples / seconds)


def bf16():
    net, x, y = resnet20_net(), torch.rand(32, 3, 32, 32), torch.randint(10, (32,))
    optimizer = torch.optim.SGD(net.parameters(), lr=.01, momentum=.9)

    def step():
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()

    out(work="resnet20_bf16", step_ms=best(step, 6) * 1e3)


def compiled():
    """The same nets under torch.compile (inductor): the strongest PyTorch on a CPU."""
    torch._dynamo.config.recompile_limit = 64
    net = mlp_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=.1)
    x, y = torch.rand(59968, 784), torch.randint(10, (59968,))
    loss = torch.compile(lambda a, b: F.cross_entropy(net(a), b))

    def epoch():
        for a, b in slices(x, y):
            optimizer.zero_grad()
            loss(a, b).backward()
            optimizer.step()

    out(work="mlp", mode="compiled", epoch_s=best(epoch, 1, 3, 1))
    net = lenet_net()
    steps("lenet", torch.compile(net), torch.rand(64, 1, 28, 28), torch.randint(10, (64,)), mode="compiled")


if __name__ == "__main__":
    for name in sys.argv[1:] or ["add1", "step444", "loader", "lenet", "mlp"]:
        globals()[name]()
