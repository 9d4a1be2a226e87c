"""Writes data/attention.json: numbers from PyTorch that the tests of attention and rope expect.

    python3 tests/ops/make_fixtures_attention.py      (needs torch; only to change the cases)
"""

import torch
import torch.nn.functional as F

from make_fixtures_conv import array, dump, write


def case(q, k, v, y, inputs, **settings):
    dy = array(*y.shape)
    grads = torch.autograd.grad(y, inputs, dy)
    names = ("dq", "dk", "dv", "dmask")
    return {"q": dump(q), "k": dump(k), "v": dump(v), **settings, "y": dump(y), "dy": dump(dy)} | {
        n: dump(g) for n, g in zip(names, grads)}


def attention(q, k, v, mask=None, causal=False, scale=None):
    q, k, v = (array(*shape).requires_grad_() for shape in (q, k, v))
    seen = mask
    if causal:  # the last query sees all keys
        seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
    inputs = [q, k, v]
    if mask is not None and mask.dtype != torch.bool:
        inputs.append(mask.requires_grad_())
    y = F.scaled_dot_product_attention(q, k, v, seen, scale=scale, enable_gqa=q.shape[1] != k.shape[1])
    return case(q, k, v, y, inputs, causal=causal, scale=scale or 0,
                mask=None if mask is None else dump(mask), bool=mask is not None and mask.dtype == torch.bool)


def turned(x, angles, neighbours):
    """Pairs of x as complex numbers, times e^(i angle)."""
    half = x.shape[-1] // 2
    u, v = (x[..., 0::2], x[..., 1::2]) if neighbours else (x[..., :half], x[..., half:])
    z = torch.complex(u, v) * torch.polar(torch.ones_like(angles), angles)
    pair = (z.real, z.imag)
    return torch.stack(pair, -1).flatten(-2) if neighbours else torch.cat(pair, -1)


def rope(*shape, neighbours, offset=0, base=10000):
    x = array(*shape).requires_grad_()
    rates = base ** (-torch.arange(0, shape[-1], 2, dtype=torch.float64) / shape[-1])
    positions = torch.arange(offset, offset + shape[-2], dtype=torch.float64)
    y = turned(x, positions[:, None] * rates, neighbours)
    dy = array(*y.shape)
    (dx,) = torch.autograd.grad(y, x, dy)
    return {"x": dump(x), "neighbours": neighbours, "offset": offset, "base": base, "y": dump(y), "dy": dump(dy),
            "dx": dump(dx)}


def main():
    some = torch.tensor([[True, False, True], [False, True, True]])
    cases = {
        "plain": attention((2, 2, 3, 4), (2, 2, 3, 4), (2, 2, 3, 4)),
        "causal": attention((1, 2, 4, 3), (1, 2, 4, 3), (1, 2, 4, 3), causal=True),
        "cross": attention((2, 1, 2, 3), (2, 1, 5, 3), (2, 1, 5, 2), scale=0.3),
        "causal cross": attention((1, 2, 2, 3), (1, 2, 5, 3), (1, 2, 5, 3), causal=True),
        "grouped": attention((1, 4, 3, 2), (1, 2, 3, 2), (1, 2, 3, 2), causal=True),
        "bool mask": attention((2, 1, 2, 2), (2, 1, 3, 2), (2, 1, 3, 2), mask=some),
        "added mask": attention((1, 2, 2, 2), (1, 2, 3, 2), (1, 2, 3, 2), mask=array(2, 1, 3)),
        "long": attention((1, 1, 35, 3), (1, 1, 133, 3), (1, 1, 133, 2), causal=True),
    }
    ropes = {
        "rope of halves": rope(2, 3, 6, neighbours=False),
        "rope of neighbours": rope(1, 2, 3, 4, neighbours=True, offset=7, base=100),
    }
    write("attention", cases | ropes)


if __name__ == "__main__":
    main()
