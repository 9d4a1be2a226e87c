"""Writes data/{conv,pool,index,shape}.json: numbers from PyTorch and NumPy that the tests of these ops expect.

    python3 tests/ops/make_fixtures_conv.py      (needs torch and numpy; only to change the cases)
"""

import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

DATA = Path(__file__).parent / "data"
rng = np.random.default_rng(5)


def array(*shape):
    """Values with two decimals: short files, and exact enough for every dtype's tolerance."""
    return torch.tensor(np.round(rng.uniform(-2, 2, shape), 2), dtype=torch.float64)


def dump(tensor):
    if tensor is None:
        return None
    values = [None if v != v else round(v, 12) for v in tensor.detach().double().flatten().tolist()]
    values = [int(v) if v is not None and v == int(v) else v for v in values]
    return {"shape": list(tensor.shape), "data": values}


def write(name, cases):
    lines = [f"{json.dumps(case)}: {json.dumps(content, separators=(',', ':'))}" for case, content in cases.items()]
    DATA.mkdir(exist_ok=True)
    (DATA / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def conv_case(x_shape, w_shape, bias=True, stride=1, padding=0, dilation=1, groups=1, output_padding=None,
              second=False):
    axes = len(x_shape) - 2
    transposed = output_padding is not None
    x, w = array(*x_shape).requires_grad_(), array(*w_shape).requires_grad_()
    channels = w_shape[1] * groups if transposed else w_shape[0]
    b = array(channels).requires_grad_() if bias else None
    if transposed:
        op = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d][axes - 1]
        y = op(x, w, b, stride, padding, output_padding, groups, dilation)
    else:
        y = [F.conv1d, F.conv2d, F.conv3d][axes - 1](x, w, b, stride, padding, dilation, groups)
    dy = array(*y.shape).requires_grad_()
    case = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups, "transposed": transposed,
            "output_padding": output_padding, "x": dump(x), "w": dump(w), "b": dump(b), "y": dump(y), "dy": dump(dy)}
    inputs = [x, w] + ([b] if bias else [])
    grads = torch.autograd.grad(y, inputs, dy, create_graph=second)
    case |= {f"d{n}": dump(g) for n, g in zip("xwb", grads)}
    if second:
        total = (grads[0] ** 2).sum() + (grads[1] ** 2).sum()
        case |= {f"dd{n}": dump(g) for n, g in zip("xwy", torch.autograd.grad(total, [x, w, dy]))}
    return case


def conv_cases():
    return {
        "1d, stride and padding": conv_case((2, 3, 7), (4, 3, 3), stride=2, padding=1, second=True),
        "1d, dilation": conv_case((2, 2, 9), (3, 2, 3), dilation=3, padding=2),
        "2d": conv_case((2, 3, 5, 4), (4, 3, 3, 3), padding=1),
        "2d, all settings": conv_case((2, 4, 6, 7), (6, 2, 3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2),
                                      groups=2, bias=False, second=True),
        "2d, depthwise": conv_case((1, 3, 5, 5), (3, 1, 3, 3), groups=3, stride=2, padding=1),
        "2d, rows that no window reaches": conv_case((1, 1, 6, 8), (2, 1, 2, 3), stride=(3, 4)),
        "3d": conv_case((1, 2, 3, 4, 3), (2, 2, 2, 3, 2), stride=(1, 2, 1), padding=(0, 1, 1)),
        "transposed 1d": conv_case((2, 3, 4), (3, 2, 3), stride=3, padding=1, output_padding=2, second=True),
        "transposed 2d, all settings": conv_case((2, 4, 3, 2), (4, 3, 2, 3), stride=(2, 3), padding=(1, 0),
                                                 output_padding=(1, 2), dilation=(3, 1), groups=2),
        "transposed 3d": conv_case((1, 2, 2, 2, 3), (2, 2, 2, 1, 2), stride=(1, 2, 2), output_padding=(0, 1, 0),
                                   bias=False),
    }


def pool_case(kind, x_shape, kernel, stride=None, padding=0, ceil=False, include_pad=True):
    x = array(*x_shape).requires_grad_()
    axes = len(x_shape) - 2
    case = {"kind": kind, "kernel": kernel, "stride": stride or 0, "padding": padding, "ceil": ceil,
            "include_pad": include_pad, "x": dump(x)}
    if kind == "max":
        op = [F.max_pool1d, F.max_pool2d, F.max_pool3d][axes - 1]
        y, indices = op(x, kernel, stride, padding, ceil_mode=ceil, return_indices=True)
        case["indices"] = dump(indices)
    else:
        op = [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d][axes - 1]
        y = op(x, kernel, stride, padding, ceil, include_pad)
    dy = array(*y.shape)
    y.backward(dy)
    return case | {"y": dump(y), "dy": dump(dy), "dx": dump(x.grad)}


def pool_cases():
    return {
        "max 1d": pool_case("max", (2, 3, 9), 3, 2, 1),
        "max 2d": pool_case("max", (2, 2, 6, 6), 2),
        "max 2d, overlap": pool_case("max", (1, 2, 6, 7), (3, 2), (1, 2), (1, 0)),
        "max 2d, ceil": pool_case("max", (1, 2, 5, 6), (2, 3), (2, 2), (1, 1), ceil=True),
        "max 2d, ceil without a last window": pool_case("max", (1, 1, 2, 5), 2, 3, 1, ceil=True),
        "max 3d": pool_case("max", (1, 2, 3, 4, 4), (2, 3, 2), (1, 1, 2), (0, 1, 1)),
        "avg 1d": pool_case("avg", (2, 3, 9), 3, 2, 1),
        "avg 2d, without padding in the count": pool_case("avg", (1, 2, 5, 6), (3, 2), (2, 2), (1, 1),
                                                          include_pad=False),
        "avg 2d, ceil": pool_case("avg", (1, 2, 6, 5), (3, 2), 2, 1, ceil=True),
        "avg 2d, ceil without padding": pool_case("avg", (1, 2, 6, 5), (3, 2), 2, 1, True, False),
        "avg 3d": pool_case("avg", (1, 2, 3, 4, 4), (2, 3, 2), (1, 1, 2), (0, 1, 1)),
    }


def take_case(x_shape, indices, axis):
    x, indices = array(*x_shape), np.array(indices)
    y = torch.tensor(np.take(x.numpy(), indices, axis))
    dy = array(*y.shape)
    dx = np.zeros(x_shape)
    np.add.at(dx, (slice(None),) * axis + (indices,), dy.numpy())
    return {"axis": axis, "x": dump(x), "index": dump(torch.tensor(indices)), "y": dump(y), "dy": dump(dy),
            "dx": dump(torch.tensor(dx))}


def gather_case(x_shape, index_shape, axis):
    x = array(*x_shape).requires_grad_()
    index = torch.tensor(rng.integers(0, x_shape[axis], index_shape))
    y = torch.gather(x, axis, index)
    dy = array(*y.shape)
    y.backward(dy)
    base = array(*x_shape)
    return {"axis": axis, "x": dump(x), "index": dump(index), "y": dump(y), "dy": dump(dy), "dx": dump(x.grad),
            "base": dump(base), "scattered": dump(base.scatter_add(axis, index, dy))}


def index_cases():
    return {
        "take rows": take_case((4, 3), [2, 0, 2, -1, 2], 0),
        "take in the middle": take_case((2, 5, 3), [[4, 0], [-5, 4]], 1),
        "take last": take_case((3, 4), [1, 1], 1),
        "gather last": gather_case((3, 4), (3, 6), 1),
        "gather first": gather_case((4, 2, 3), (7, 2, 3), 0),
        "gather middle": gather_case((2, 4, 3), (2, 5, 3), 1),
    }


def shape_case(op, x, y):
    return {"op": op, "x": dump(torch.as_tensor(x)), "y": dump(torch.as_tensor(y))}


def shape_cases():
    x = np.arange(24.0).reshape(2, 3, 4)
    m = x.reshape(4, 6)
    widths = ((1, 0), (2, 1), (3, 2))
    return {
        "pad constant": shape_case("pad", x, np.pad(x, ((1, 0), (0, 2), (1, 1)), constant_values=7)),
        "pad reflect": shape_case("pad", x, np.pad(x, widths, mode="reflect")),
        "pad edge": shape_case("pad", x, np.pad(x, widths, mode="edge")),
        "flip all": shape_case("flip", x, np.flip(x).copy()),
        "flip one": shape_case("flip", x, np.flip(x, 1).copy()),
        "tile": shape_case("tile", x, np.tile(x, (2, 1, 3))),
        "tile more axes": shape_case("tile", x[0], np.tile(x[0], (2, 1, 2))),
        "tile fewer axes": shape_case("tile", x, np.tile(x, (2,))),
        "repeat": shape_case("repeat", x, np.repeat(x, 3, 1)),
        "roll": shape_case("roll", x, np.roll(x, -3, 2)),
        "tril": shape_case("tril", m, np.tril(m, 1)),
        "triu": shape_case("triu", x, np.triu(x, -1)),
        "arange": shape_case("arange", 0, np.arange(1, 3, 0.3)),
        "arange down": shape_case("arange", 0, np.arange(5, -2, -2)),
        "linspace": shape_case("linspace", 0, np.linspace(-1, 2, 8)),
        "eye": shape_case("eye", 0, np.eye(3, 5, 1)),
        "eye below": shape_case("eye", 0, np.eye(4, 2, -1)),
        "concat": shape_case("concat", x, np.concatenate([x, x[:, :1], 2 * x], 1)),
        "stack": shape_case("stack", x, np.stack([x, -x], 2)),
    }


if __name__ == "__main__":
    write("conv", conv_cases())
    write("pool", pool_cases())
    write("index", index_cases())
    write("shape", shape_cases())
