"""Writes data/{reduce,softmax,norm}.json: numbers from PyTorch that the tests of these ops expect.

    python3 tests/ops/make_fixtures_reduce.py      (needs torch; only to change the cases)
"""

import torch
import torch.nn.functional as F

from make_fixtures_conv import array, dump, write


def gradients(y, inputs, second):
    """dy, the gradient d<name> of each named input, and dd<name>: those of the gradients' sum of squares."""
    dy = array(*y.shape).requires_grad_()
    names = list(inputs)
    grads = torch.autograd.grad(y, [inputs[n] for n in names], dy, create_graph=second)
    case = {"y": dump(y), "dy": dump(dy)} | {f"d{n}": dump(g) for n, g in zip(names, grads)}
    if second:
        total = sum((g ** 2).sum() for g in grads)
        names.append("y")
        found = torch.autograd.grad(total, list(inputs.values()) + [dy], allow_unused=True)
        case |= {f"dd{n}": dump(torch.zeros_like(i) if g is None else torch.zeros_like(i) + g)
                 for n, g, i in zip(names, found, list(inputs.values()) + [dy])}
    return case


def reduce_case(op, x, axes=(), keepdims=False, second=True, **settings):
    x = x.clone().requires_grad_()
    dim = tuple(axes) if axes else tuple(range(x.dim()))
    if op == "prod":
        y = x
        for axis in sorted((a % x.dim() for a in dim), reverse=True):
            y = y.prod(axis, keepdim=keepdims)
    elif op == "norm":
        y = torch.linalg.vector_norm(x, settings["p"], dim, keepdims)
    elif op in ("var", "std"):
        y = getattr(torch, op)(x, dim, correction=settings["correction"], keepdim=keepdims)
    elif op == "cumsum":
        y = x.cumsum(axes[0])
    else:
        name = {"max": "amax", "min": "amin"}.get(op, op)
        y = getattr(torch, name)(x, dim, keepdim=keepdims)
    return {"op": op, "axes": list(axes), "keepdims": keepdims, **settings, "x": dump(x)} | gradients(
        y, {"x": x}, second)


def reduce_cases():
    ties = torch.tensor([[1.0, 3.0, 3.0], [2.0, -1.0, 2.0]], dtype=torch.float64)
    zeros = torch.tensor([[4.0, 0.0, 2.0], [0.0, 3.0, 0.0], [1.5, -2.0, 3.0]], dtype=torch.float64)
    cases = {}
    for op in ("sum", "mean", "max", "min", "logsumexp"):
        cases[f"{op} of all"] = reduce_case(op, array(3, 4))
        cases[f"{op} of two axes"] = reduce_case(op, array(2, 3, 4), (0, -1), True)
    cases["max with ties"] = reduce_case("max", ties, (1,))
    cases["min with ties"] = reduce_case("min", ties, (1,))
    cases["prod"] = reduce_case("prod", array(3, 5), (1,))
    cases["prod with zeros"] = reduce_case("prod", zeros, (1,))
    cases["prod of all"] = reduce_case("prod", array(2, 3))
    cases["prod of outer axes"] = reduce_case("prod", array(2, 3, 3), (0, 2), True)
    for p in (1, 2, 3, 2.5):
        cases[f"norm, p {p}"] = reduce_case("norm", array(3, 4), (1,), p=p)
    cases["norm, p infinite"] = reduce_case("norm", ties, (1,), second=False, p=float("inf")) | {"p": "inf"}
    cases["norm of nothing but zeros"] = reduce_case("norm", torch.zeros(2, 3, dtype=torch.float64), (1,), second=False,
                                                     p=2)
    for op in ("var", "std"):
        cases[f"{op} of all"] = reduce_case(op, array(3, 4), correction=0)
        cases[f"{op} of a sample"] = reduce_case(op, array(2, 3, 4), (1, 2), True, correction=1)
    cases["cumsum"] = reduce_case("cumsum", array(2, 3, 4), (1,))
    return cases


if __name__ == "__main__":
    write("reduce", reduce_cases())
