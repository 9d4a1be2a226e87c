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


if __name__ == "__main__":
    write("conv", conv_cases())
