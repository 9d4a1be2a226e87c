"""Writes data/attention.json: what PyTorch's modules give, for the tests of attention layers.

    python3 tests/nn/make_fixtures_attention.py      (needs torch and numpy; only to change the cases)
"""

import torch
from torch import nn

from make_fixtures import array, write


def ready(net):
    net = net.double().train()
    with torch.no_grad():
        for value in net.parameters():
            value.copy_(array(*value.shape, low=-1, high=1))
    return net


def renamed(prefix, attention, of):
    """Our names of the parts of PyTorch's joint weight; `of` gives a tensor for a parameter."""
    weights, biases = of(attention.in_proj_weight).chunk(3), of(attention.in_proj_bias).chunk(3)
    parts = {f"{prefix}{name}.{kind}": value for kind, values in (("weight", weights), ("bias", biases))
             for name, value in zip(("query", "key", "value"), values)}
    return parts | {prefix + "out.weight": of(attention.out_proj.weight), prefix + "out.bias": of(attention.out_proj.bias)}


def values(p):
    return p.detach().clone()


def gradients(p):
    return p.grad


def case(y, inputs, parameters, **more):
    head = array(*y.shape)
    start = parameters(values)
    (y * head).sum().backward()
    found = parameters(gradients)
    return {**inputs, **more, "y": y, "head": head} | {"gradient of " + n: x.grad for n, x in inputs.items()} | {
        "parameter " + n: v for n, v in start.items()} | {"gradient " + n: v for n, v in found.items()}


def attention(causal=False, memory=None, mask=None):
    net = ready(nn.MultiheadAttention(6, 2, batch_first=True))
    inputs = {"x": array(2, 4, 6).requires_grad_()}
    if memory:
        inputs["memory"] = array(*memory).requires_grad_()
    other = inputs.get("memory", inputs["x"])
    hidden = torch.ones(4, 4, dtype=torch.bool).triu(1) if causal else None if mask is None else ~mask
    y = net(inputs["x"], other, other, attn_mask=hidden, need_weights=False)[0]
    more = {} if mask is None else {"mask": mask.double()}
    return case(y, inputs, lambda of: renamed("", net, of), **more)


def block():
    net = ready(nn.TransformerEncoderLayer(6, 2, 10, dropout=0, activation="gelu", batch_first=True, norm_first=True))
    x = array(2, 4, 6).requires_grad_()
    y = net(x, src_mask=torch.ones(4, 4, dtype=torch.bool).triu(1))

    def parameters(of):
        return renamed("attention.", net.self_attn, of) | {
            "norm1.gamma": of(net.norm1.weight), "norm1.beta": of(net.norm1.bias), "norm2.gamma": of(net.norm2.weight),
            "norm2.beta": of(net.norm2.bias), "up.weight": of(net.linear1.weight), "up.bias": of(net.linear1.bias),
            "down.weight": of(net.linear2.weight), "down.bias": of(net.linear2.bias)}

    return case(y, {"x": x}, parameters)


if __name__ == "__main__":
    some = torch.tensor([[True, False, True], [False, True, True], [True, True, True], [False, False, True]])
    write("attention", {
        "self": attention(),
        "causal": attention(causal=True),
        "cross": attention(memory=(2, 3, 6)),
        "masked": attention(memory=(2, 3, 6), mask=some),
        "block": block(),
    })
