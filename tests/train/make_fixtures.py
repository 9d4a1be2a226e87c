"""Writes data/{optimizers,schedules,mlp}.json: what PyTorch gave, for the tests of room train.

    python3 tests/train/make_fixtures.py      (needs torch; only to change the cases)
"""

import json
import math
from pathlib import Path

import torch

DATA = Path(__file__).parent / "data"
torch.manual_seed(3)


def write(name, cases):
    lines = [f"{json.dumps(case)}: {json.dumps(content, separators=(',', ':'))}" for case, content in cases.items()]
    DATA.mkdir(exist_ok=True)
    (DATA / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def numbers(tensor, digits=12):
    return [round(v, digits) for v in tensor.detach().double().flatten().tolist()]


# Six weights in two tensors; the gradient of weight i at step t is 0.3 w + sin(1.7 t + 0.9 i).
START = [0.5, -1.25, 2.0, 0.125, -0.75, 1.5]
STEPS = 20


def trajectory(make):
    parameters = [torch.tensor(START[:4], dtype=torch.float64).reshape(2, 2), torch.tensor(START[4:], dtype=torch.float64)]
    parameters = [torch.nn.Parameter(p) for p in parameters]
    optimizer = make(parameters)
    weights = []
    for t in range(STEPS):
        i = 0
        for p in parameters:
            with torch.no_grad():
                wave = torch.tensor([math.sin(1.7 * t + 0.9 * (i + k)) for k in range(p.numel())], dtype=torch.float64)
                p.grad = 0.3 * p + wave.reshape(p.shape)
            i += p.numel()
        optimizer.step()
        weights.append(numbers(torch.cat([p.flatten() for p in parameters])))
    return weights


def optimizers():
    o = torch.optim
    makers = {
        "sgd": lambda p: o.SGD(p, lr=0.1),
        "sgd_decay": lambda p: o.SGD(p, lr=0.1, weight_decay=0.05),
        "sgd_momentum": lambda p: o.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.05),
        "sgd_dampening": lambda p: o.SGD(p, lr=0.1, momentum=0.9, dampening=0.5),
        "sgd_nesterov": lambda p: o.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.05),
        "sgd_maximize": lambda p: o.SGD(p, lr=0.01, momentum=0.5, weight_decay=0.05, maximize=True),
        "adam": lambda p: o.Adam(p, lr=0.05),
        "adam_decay": lambda p: o.Adam(p, lr=0.05, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1),
        "adamw": lambda p: o.AdamW(p, lr=0.05),
        "adamw_decay": lambda p: o.AdamW(p, lr=0.05, betas=(0.8, 0.95), eps=1e-4, weight_decay=0.1),
        "rmsprop": lambda p: o.RMSprop(p, lr=0.05),
        "rmsprop_momentum": lambda p: o.RMSprop(p, lr=0.02, alpha=0.9, momentum=0.8, weight_decay=0.1),
        "rmsprop_centered": lambda p: o.RMSprop(p, lr=0.02, alpha=0.9, eps=1e-3, momentum=0.8, centered=True),
        "adagrad": lambda p: o.Adagrad(p, lr=0.1),
        "adagrad_decay": lambda p: o.Adagrad(p, lr=0.1, lr_decay=0.05, initial_accumulator_value=0.1, weight_decay=0.1, eps=1e-6),
        "groups": lambda p: o.SGD([{"params": [p[0]], "lr": 0.1, "momentum": 0.9},
                                   {"params": [p[1]], "lr": 0.02, "weight_decay": 0.2, "momentum": 0.0}]),
    }
    return {name: trajectory(make) for name, make in makers.items()}


def rates(make, steps, base=0.5):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=base)
    schedule = make(optimizer)
    values = []
    for _ in range(steps):
        values.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if len(values) < steps:
            schedule.step()
    return values


def schedules():
    s = torch.optim.lr_scheduler

    def warm(optimizer):
        rise = s.LinearLR(optimizer, start_factor=0.1, end_factor=1.0, total_iters=4)
        return s.SequentialLR(optimizer, [rise, s.CosineAnnealingLR(optimizer, T_max=8, eta_min=0.01)], milestones=[4])

    return {
        "step": rates(lambda o: s.StepLR(o, step_size=3, gamma=0.5), 10),
        "multi_step": rates(lambda o: s.MultiStepLR(o, milestones=[2, 5], gamma=0.1), 8),
        "polynomial": rates(lambda o: s.PolynomialLR(o, total_iters=6, power=2.0), 9),
        "cosine": rates(lambda o: s.CosineAnnealingLR(o, T_max=8, eta_min=0.01), 9),
        "one_cycle": rates(lambda o: s.OneCycleLR(o, max_lr=0.5, total_steps=20), 20),
        "warmup": rates(warm, 13),
    }


def tenths(*shape, scale=1.0):
    return torch.round(torch.randn(*shape, dtype=torch.float64) * scale * 100) / 100


def train(net, batches, optimizer, steps):
    losses = []
    for step in range(steps):
        x, y = batches[step % len(batches)]
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 9))
    return losses


def run(net, batches, optimizer):
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(tenths(*p.shape, scale=0.3))
    start = {name: {"shape": list(p.shape), "data": numbers(p, 2)} for name, p in net.named_parameters()}
    return {"classes": net[-1].out_features, "weights": start,
            "batches": [{"x": {"shape": list(x.shape), "data": numbers(x, 2)}, "y": y.tolist()} for x, y in batches],
            "losses": train(net, batches, optimizer(net.parameters()), 100)}


def mlp():
    batches = [(tenths(8, 16), torch.randint(0, 4, (8,))) for _ in range(6)]
    layers = torch.nn
    make = lambda: layers.Sequential(layers.Linear(16, 12), layers.ReLU(), layers.Linear(12, 8), layers.Tanh(), layers.Linear(8, 4)).double()
    return {
        "sgd": run(make(), batches, lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-3)),
        "adam": run(make(), batches, lambda p: torch.optim.Adam(p, lr=0.01)),
    }


def lenet():
    batches = [(tenths(4, 1, 12, 12), torch.randint(0, 3, (4,))) for _ in range(4)]
    n = torch.nn
    net = n.Sequential(n.Conv2d(1, 4, 3, padding=1), n.ReLU(), n.MaxPool2d(2), n.Conv2d(4, 6, 3), n.ReLU(), n.MaxPool2d(2),
                       n.Flatten(), n.Linear(24, 16), n.ReLU(), n.Linear(16, 3)).double()
    return {"sgd": run(net, batches, lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9))}


if __name__ == "__main__":
    write("optimizers", optimizers())
    write("schedules", schedules())
    write("mlp", mlp())
    write("lenet", lenet())
