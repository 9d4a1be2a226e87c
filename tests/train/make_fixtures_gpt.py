"""Writes data/gpt.json: the losses of a small GPT over 50 steps of AdamW in PyTorch.

    python3 tests/train/make_fixtures_gpt.py      (needs torch; only to change the case)

Weights and tokens are formulas, which gpt_test.cpp has, too."""

import torch
import torch.nn.functional as F
from torch import nn

from make_fixtures import numbers, write

VOCABULARY, LENGTH, UNITS, HEADS, BATCH, STEPS = 11, 9, 16, 2, 4, 50


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(UNITS), nn.LayerNorm(UNITS)
        self.query, self.key, self.value, self.out = (nn.Linear(UNITS, UNITS) for _ in range(4))
        self.up, self.down = nn.Linear(UNITS, 4 * UNITS), nn.Linear(4 * UNITS, UNITS)

    def forward(self, x):
        heads = lambda y: y.unflatten(-1, (HEADS, -1)).transpose(1, 2)
        n = self.norm1(x)
        y = F.scaled_dot_product_attention(heads(self.query(n)), heads(self.key(n)), heads(self.value(n)), is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))

    def in_order(self):
        """As thalweg lists them."""
        layers = (self.norm1, self.query, self.key, self.value, self.out, self.norm2, self.up, self.down)
        return [p for layer in layers for p in (layer.weight, layer.bias)]


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, UNITS), nn.Embedding(LENGTH, UNITS)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.norm, self.head = nn.LayerNorm(UNITS), nn.Linear(UNITS, VOCABULARY)

    def forward(self, x):
        y = self.tokens(x) + self.positions.weight
        for block in self.blocks:
            y = block(y)
        return self.head(self.norm(y))

    def in_order(self):
        first, last = [self.tokens.weight, self.positions.weight], (self.norm, self.head)
        middle = [p for block in self.blocks for p in block.in_order()]
        return first + middle + [p for layer in last for p in (layer.weight, layer.bias)]


def tokens(step):
    b, t = torch.arange(BATCH)[:, None], torch.arange(LENGTH + 1)
    return (3 * b * b + 5 * t + t * t * (1 + step % 4)) % VOCABULARY


def main():
    net = Gpt().double()
    norms = {id(p) for m in net.modules() if isinstance(m, nn.LayerNorm) for p in [m.weight]}
    with torch.no_grad():
        for k, p in enumerate(net.in_order()):
            wave = torch.sin(0.7 + 1.3 * k + 0.9 * torch.arange(p.numel(), dtype=torch.float64))
            p.copy_((0.25 * wave + (1 if id(p) in norms else 0)).reshape(p.shape))
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    losses = []
    for step in range(STEPS):
        x = tokens(step)
        loss = F.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    write("gpt", {"adamw": {"losses": numbers(torch.stack(losses))}})


if __name__ == "__main__":
    main()
