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


def softmax_cases():
    cases = {}
    for name in ("softmax", "log_softmax"):
        for axis, shape in ((-1, (3, 4)), (1, (2, 3, 2))):
            x = array(*shape).requires_grad_()
            y = getattr(torch, name)(x, axis)
            cases[f"{name} along {axis}"] = {"op": name, "axis": axis, "x": dump(x)} | gradients(y, {"x": x}, True)
    return cases | cross_entropy_cases() | sigmoid_cases()


def cross_entropy_case(shape, axis=-1, label=None, smoothing=0.0, ignore=None, weighted=False):
    x = array(*shape).requires_grad_()
    classes = shape[axis]
    dense = label is None
    label = torch.softmax(array(*shape), axis) if dense else torch.tensor(label)
    weight = (array(classes).abs() + 0.1).requires_grad_() if weighted else None
    moved = x.movedim(axis, 1)
    kept = weight.detach() if weighted else None
    loss = F.cross_entropy(moved, label.movedim(axis, 1) if dense else label, kept, reduction="none",
                           label_smoothing=smoothing, **({} if ignore is None else {"ignore_index": ignore}))
    return {"op": "softmax_cross_entropy", "axis": axis, "smoothing": smoothing, "ignore": ignore, "dense": dense,
            "label": dump(label), "weight": dump(weight), "x": dump(x)} | gradients(loss, {"x": x}, True)


def cross_entropy_cases():
    return {
        "cross entropy, classes": cross_entropy_case((4, 3), label=[0, 2, 1, 2]),
        "cross entropy, smoothed": cross_entropy_case((4, 3), label=[0, 2, 1, 2], smoothing=0.1),
        "cross entropy, weights": cross_entropy_case((4, 3), label=[0, 2, 1, 2], weighted=True),
        "cross entropy, all": cross_entropy_case((4, 3), label=[0, -1, 1, 2], smoothing=0.2, ignore=-1, weighted=True),
        "cross entropy, an ignored class": cross_entropy_case((4, 3), label=[0, 2, 1, 2], smoothing=0.2, ignore=2),
        "cross entropy, positions": cross_entropy_case((2, 3, 2), axis=1, label=[[0, 2], [1, 1]], weighted=True),
        "cross entropy, dense": cross_entropy_case((3, 4)),
        "cross entropy, dense, all": cross_entropy_case((2, 3, 2), axis=1, smoothing=0.3, weighted=True),
    }


def sigmoid_cases():
    cases = {}
    for weighted in (False, True):
        x, label = array(3, 4).requires_grad_(), torch.sigmoid(array(3, 4)).requires_grad_()
        weight = (array(4).abs() + 0.1).requires_grad_() if weighted else None
        # PyTorch's own has no gradient for the weight.
        y = (1 - label) * x + (1 + ((weight if weighted else 1) - 1) * label) * F.softplus(-x)
        assert y.allclose(F.binary_cross_entropy_with_logits(
            x, label, pos_weight=weight.detach() if weighted else None, reduction="none"), 1e-12)
        inputs = {"x": x, "label": label} | ({"weight": weight} if weighted else {})
        cases[f"sigmoid cross entropy{', weighted' if weighted else ''}"] = {
            "op": "sigmoid_cross_entropy", "label": dump(label), "weight": dump(weight), "x": dump(x)} | gradients(
                y, inputs, True)
    return cases


def norm_case(op, shape, parameter_shape, bias=True, **settings):
    inputs = {"x": array(*shape).requires_grad_()}
    x, w, b = inputs["x"], None, None
    if parameter_shape:
        w = inputs["w"] = array(*parameter_shape).requires_grad_()
    if parameter_shape and bias:
        b = inputs["b"] = array(*parameter_shape).requires_grad_()
    eps = settings["epsilon"]
    if op == "batch_norm":
        y = F.batch_norm(x, None, None, w, b, True, 0.1, eps)
    elif op == "layer_norm":
        y = F.layer_norm(x, shape[settings["axis"]:], w, b, eps)
    elif op == "rms_norm":
        y = F.rms_norm(x, shape[settings["axis"]:], w, eps)
    else:
        y = F.group_norm(x, settings["groups"], w, b, eps)
    return {"op": op, **settings, "x": dump(x), "w": dump(w), "b": dump(b)} | gradients(y, inputs, True)


def inference_case():
    inputs = {n: array(*s) for n, s in (("x", (2, 3, 2)), ("mean", (3,)), ("var", (3,)), ("w", (3,)), ("b", (3,)))}
    inputs["var"] = inputs["var"].abs() + 0.1
    inputs = {n: t.requires_grad_() for n, t in inputs.items()}
    x, mean, var, w, b = (t.view(1, 3, 1) if t.dim() == 1 else t for t in inputs.values())
    y = (x - mean) / torch.sqrt(var + 1e-3) * w + b
    return {"op": "batch_norm_inference", "epsilon": 1e-3} | {n: dump(t) for n, t in inputs.items()} | gradients(
        y, inputs, True)


def norm_cases():
    return {
        "batch norm": norm_case("batch_norm", (4, 3), (3,), epsilon=1e-5),
        "batch norm of images": norm_case("batch_norm", (2, 3, 2, 2), (3,), epsilon=1e-3),
        "batch norm, plain": norm_case("batch_norm", (2, 2, 3), None, epsilon=1e-5),
        "batch norm in prediction": inference_case(),
        "layer norm": norm_case("layer_norm", (3, 5), (5,), axis=-1, epsilon=1e-5),
        "layer norm of two axes": norm_case("layer_norm", (2, 3, 2), (3, 2), axis=-2, epsilon=1e-3),
        "layer norm without bias": norm_case("layer_norm", (3, 4), (4,), bias=False, axis=-1, epsilon=1e-5),
        "rms norm": norm_case("rms_norm", (3, 5), (5,), bias=False, axis=-1, epsilon=1e-5),
        "group norm": norm_case("group_norm", (2, 4, 3), (4,), groups=2, epsilon=1e-5),
        "instance norm": norm_case("group_norm", (2, 3, 2, 2), (3,), groups=3, epsilon=1e-5),
        "group norm, plain": norm_case("group_norm", (2, 4), None, groups=2, epsilon=1e-5),
    }


if __name__ == "__main__":
    write("reduce", reduce_cases())
    write("softmax", softmax_cases())
    write("norm", norm_cases())
