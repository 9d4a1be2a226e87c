"""Writes data/{loss,nets}.json: numbers from PyTorch that the tests of losses and nets expect.

    python3 tests/nn/make_fixtures.py      (needs torch and numpy; only to change the cases)
"""

import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

DATA = Path(__file__).parent / "data"
rng = np.random.default_rng(7)


def array(*shape, low=-2, high=2):
    return torch.tensor(np.round(rng.uniform(low, high, shape), 2), dtype=torch.float64)


def dump(value):
    if not isinstance(value, torch.Tensor):
        return value
    numbers = [round(v, 12) for v in value.detach().double().flatten().tolist()]
    return {"shape": list(value.shape), "data": [int(v) if v == int(v) else v for v in numbers]}


def write(name, cases):
    lines = [f"{json.dumps(case)}: "
             + json.dumps({key: dump(value) for key, value in content.items()}, separators=(",", ":"))
             for case, content in cases.items()]
    DATA.mkdir(exist_ok=True)
    (DATA / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def with_gradient(inputs, loss, **more):
    """The loss per sample, and the gradient of its sum with respect to the first input."""
    first = next(iter(inputs.values())).requires_grad_()
    value = loss(**inputs)
    value.sum().backward()
    return {**inputs, "y": value, "gradient": first.grad, **more}


def per_sample(x):
    return x.flatten(1).mean(1) if x.dim() > 1 else x


def losses():
    signs = torch.tensor([1.0, -1, -1, 1, 1, -1], dtype=torch.float64).reshape(2, 3)
    probabilities = torch.softmax(array(2, 4), 1)
    probabilities[0, 1] = 0
    pair = lambda **kind: {"pred": array(2, 3, **kind), "label": array(2, 3, **kind)}
    return {
        "l2": with_gradient(pair(), lambda pred, label: per_sample((pred - label) ** 2 / 2)),
        "l1": with_gradient(pair(), lambda pred, label: per_sample(F.l1_loss(pred, label, reduction="none"))),
        # PyTorch's huber is ours times delta.
        "huber": with_gradient(pair(), lambda pred, label: per_sample(
            F.huber_loss(pred, label, reduction="none", delta=0.7) / 0.7), rho=0.7),
        "hinge": with_gradient({"pred": array(2, 3), "label": signs},
                               lambda pred, label: per_sample(F.relu(0.8 - pred * label)), margin=0.8),
        "squared hinge": with_gradient({"pred": array(2, 3), "label": signs},
                                       lambda pred, label: per_sample(F.relu(1 - pred * label) ** 2)),
        "sigmoid": with_gradient({"pred": array(2, 3), "label": array(2, 3, low=0, high=1)},
                                 lambda pred, label: per_sample(
                                     F.binary_cross_entropy_with_logits(pred, label, reduction="none"))),
        "kl": with_gradient({"pred": array(2, 4, low=-3, high=-0.1), "label": probabilities},
                            lambda pred, label: per_sample(F.kl_div(pred, label, reduction="none"))),
        "kl of logits": with_gradient({"pred": array(2, 4), "label": probabilities},
                                      lambda pred, label: per_sample(
                                          F.kl_div(F.log_softmax(pred, 1), label, reduction="none"))),
        "cosine": with_gradient({"a": array(3, 4), "b": array(3, 4), "label": signs.flatten()[:3].clone()},
                                lambda a, b, label: F.cosine_embedding_loss(a, b, label, 0.1, reduction="none"),
                                margin=0.1),
        "triplet": with_gradient({"anchor": array(3, 4), "positive": array(3, 4), "negative": array(3, 4)},
                                 lambda anchor, positive, negative: F.relu(
                                     ((positive - anchor) ** 2 - (negative - anchor) ** 2).sum(1) + 1)),
        "softmax of images": with_gradient(
            {"pred": array(2, 3, 2, 2), "label": torch.tensor([[[0, 2], [1, 1]], [[2, 2], [0, 1]]]).double()},
            lambda pred, label: per_sample(F.cross_entropy(pred, label.long(), reduction="none"))),
    }


def net_case(net, x, names):
    """A training step of `net`: its parameters under our names, output, gradients, running statistics."""
    net = net.double().train()
    with torch.no_grad():
        for value in net.parameters():
            value.copy_(array(*value.shape, low=-1, high=1))
    start = {ours: value.detach().clone() for ours, value in zip(names, net.parameters())}
    y = net(x)
    head = array(*y.shape)
    (y * head).sum().backward()
    case = {"x": x, "y": y, "head": head}
    for ours, value in zip(names, net.parameters()):
        case["parameter " + ours] = start[ours]
        case["gradient " + ours] = value.grad
    for name, value in net.named_buffers():
        if name.endswith(("running_mean", "running_var")):
            case["running " + name] = value
    return case


def nets():
    images = nn.Sequential(nn.Conv2d(2, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4), nn.GELU(), nn.MaxPool2d(2),
                           nn.Flatten(), nn.Linear(4, 3))
    signal = nn.Sequential(nn.ConvTranspose1d(2, 4, 3, stride=2, groups=2, output_padding=1), nn.GroupNorm(2, 4),
                           nn.PReLU(4), nn.Conv1d(4, 2, 2, dilation=2, bias=False))
    words = nn.Sequential(nn.Embedding(5, 4), nn.LayerNorm(4), nn.Linear(4, 3), nn.ELU(0.5))
    return {
        "images": net_case(images, array(3, 2, 6, 6),
                           ["0.weight", "0.bias", "1.gamma", "1.beta", "5.weight", "5.bias"]),
        "signal": net_case(signal, array(2, 2, 4),
                           ["0.weight", "0.bias", "1.gamma", "1.beta", "2.alpha", "3.weight"]),
        "words": net_case(words, torch.tensor([[0, 3, 3], [4, 1, 0]]),
                          ["0.weight", "1.gamma", "1.beta", "2.weight", "2.bias"]),
    }


if __name__ == "__main__":
    write("loss", losses())
    write("nets", nets())
