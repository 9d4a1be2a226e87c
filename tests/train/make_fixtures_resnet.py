"""Writes data/resnet.json: the losses of ResNet-20 over 50 steps of SGD in PyTorch.

    python3 tests/train/make_fixtures_resnet.py      (needs torch; only to change the case)

Weights and images are formulas, which resnet_test.cpp has, too."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from make_fixtures import numbers, write

BATCH, SIDE, CLASSES, STEPS = 4, 16, 10, 50


def conv(inputs, outputs, kernel, stride):
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs)]


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(*conv(inputs, outputs, 3, stride), nn.ReLU(), *conv(outputs, outputs, 3, 1))
        self.shortcut = nn.Sequential(*(conv(inputs, outputs, 1, stride) if stride > 1 else []))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


def resnet20():
    layers, inputs = [*conv(3, 16, 3, 1), nn.ReLU()], 16
    for outputs in (16, 32, 64):
        for k in range(3):
            layers.append(Block(inputs, outputs, 2 if k == 0 and outputs > 16 else 1))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, CLASSES))


def scattered(k, shape):
    """Numbers from -1 to 1 with little order."""
    i = torch.arange(math.prod(shape))
    return (((i * i * 31 + i * 7919 + k * 104729) % 1009).double() / 504 - 1).reshape(shape)


def set_weights(net):
    with torch.no_grad():
        for k, p in enumerate(net.parameters()):
            if p.dim() > 1:
                p.copy_(scattered(k, p.shape) * 2 / math.sqrt(p[0].numel()))
            else:
                p.copy_(0.1 * scattered(k, p.shape))
        for m in net.modules():
            if isinstance(m, nn.BatchNorm2d):
                m.weight += 1


def main():
    net = resnet20().double()
    set_weights(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.004, momentum=0.9)
    losses = []
    for step in range(STEPS):
        x = scattered(step % 3, (BATCH, 3, SIDE, SIDE))
        y = torch.arange(BATCH) * (1 + step % 3)
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    write("resnet", {"sgd": {"losses": numbers(torch.stack(losses))}})


if __name__ == "__main__":
    main()
