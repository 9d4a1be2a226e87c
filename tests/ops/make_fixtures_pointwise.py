"""Writes data/pointwise.json: values and gradients that PyTorch gives for every row of pointwise.def, where,
clip, cast and the matrix products.

    python3 tests/ops/make_fixtures_pointwise.py      (needs torch; only to change the cases)
"""

import torch
import torch.nn.functional as F

from make_fixtures_conv import dump as dump_finite, write

INF, NAN = float("inf"), float("nan")
PLAIN = [-2.7, -1.3, -0.6, 0.0, 0.4, 0.9, 1.0, 2.5, 11.0]
SPECIAL = [-INF, -0.0, INF, NAN]
UNARY = {
    "neg": torch.neg, "abs": torch.abs, "square": torch.square, "reciprocal": torch.reciprocal, "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt, "cbrt": lambda x: x.sign() * x.abs() ** (1 / 3), "exp": torch.exp, "exp2": torch.exp2,
    "expm1": torch.expm1, "log": torch.log, "log2": torch.log2, "log10": torch.log10, "log1p": torch.log1p,
    "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "asin": torch.asin, "acos": torch.acos, "atan": torch.atan,
    "sinh": torch.sinh, "cosh": torch.cosh, "tanh": torch.tanh, "asinh": torch.asinh, "acosh": torch.acosh,
    "atanh": torch.atanh, "erf": torch.erf, "sigmoid": torch.sigmoid,
    "softplus": lambda x: F.softplus(x, threshold=700), "log_sigmoid": F.logsigmoid, "relu": F.relu, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "softsign": F.softsign, "selu": F.selu,
    "hard_sigmoid": lambda x: torch.clamp(x / 6 + 0.5, 0, 1), "sign": torch.sign, "floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc,
    "round": torch.round, "isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite,
    "logical_not": torch.logical_not,
}
STEPS = {"sign", "floor", "ceil", "trunc", "round", "isnan", "isinf", "isfinite", "logical_not"}
# Where the value at an infinity or NaN is a convention of one framework only, or a limit it does not take.
NO_SPECIAL = {"cbrt", "gelu", "gelu_tanh", "silu", "softsign", "selu", "hard_sigmoid", "softplus", "log_sigmoid", "sign"}
BINARY = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "pow": torch.pow, "maximum": torch.maximum,
    "minimum": torch.minimum, "remainder": torch.remainder, "atan2": torch.atan2, "hypot": torch.hypot,
    "logaddexp": torch.logaddexp, "prelu": lambda a, b: torch.where(a > 0, a, b * a),
    "elu": lambda a, b: torch.where(a > 0, a, b * torch.expm1(a)), "floor_divide": torch.floor_divide,
    "equal": torch.eq, "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le, "greater": torch.gt,
    "greater_equal": torch.ge, "logical_and": torch.logical_and, "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor,
}
BINARY_STEPS = {"floor_divide", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
                "logical_or", "logical_xor"}
A = [-2.7, -1.3, 0.4, 1.5, 2.5, 3.0]
B = [0.7, 1.4, 2.2, 1.5, 0.3, 2.0]


def dump(tensor):
    """As dump_finite; infinities as the words "inf" and "-inf"."""
    values = tensor.detach().double().flatten()
    result = dump_finite(torch.where(torch.isinf(values), torch.zeros_like(values), values).reshape(tensor.shape))
    for i, v in enumerate(values.tolist()):
        if v in (INF, -INF):
            result["data"][i] = str(v)
    return result


def case(f, inputs, differentiable):
    inputs = [torch.tensor(i, dtype=torch.float64) for i in inputs]
    if not differentiable:
        y = f(*inputs)
        return {"inputs": [dump(i) for i in inputs], "y": dump(y.double()), "grads": None}
    inputs = [i.requires_grad_() for i in inputs]
    y = f(*inputs)
    grads = torch.autograd.grad(y.sum(), inputs, allow_unused=True)
    return {"inputs": [dump(i) for i in inputs], "y": dump(y),
            "grads": [None if g is None else dump(g) for g in grads]}


def cases():
    result = {}
    for name, f in UNARY.items():
        # torch has no cbrt, and this stand-in no gradient at 0.
        result[name] = case(f, [[v for v in PLAIN if v or name != "cbrt"]], name not in STEPS)
        if name not in NO_SPECIAL:
            result[name + " special"] = case(f, [SPECIAL], False)
    for name, f in BINARY.items():
        result[name] = case(f, [A, B], name not in BINARY_STEPS)
        result[name + " broadcast"] = case(f, [[[0.5], [1.5]], [0.25, 0.75, 1.25]], name not in BINARY_STEPS)
    matrix = torch.arange(12, dtype=torch.float64).reshape(3, 4).sin()
    other = torch.arange(8, dtype=torch.float64).reshape(4, 2).cos()
    result["matmul"] = case(torch.matmul, [matrix.tolist(), other.tolist()], True)
    result["matmul broadcast"] = case(torch.matmul, [[matrix.tolist(), matrix.tolist()], other.tolist()], True)
    result["linear"] = case(F.linear, [matrix.tolist(), other.t().tolist(), [0.1, -0.2]], True)
    return result


if __name__ == "__main__":
    torch.manual_seed(0)
    write("pointwise", cases())
