"""Makes fixtures/reference.safetensors with the safetensors library (0.8.0), the golden file of safetensors_test.cpp."""

from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

tensors = {
    "0.weight": np.arange(6, dtype=np.float32).reshape(2, 3) / 2,
    "0.bias": np.array([-1, 1], np.float32),
    "half": np.array([1, 65504, -2**-24], np.float16),
    "double": np.array([np.pi]),
    "count": np.array(2**40 + 1, np.int64),
    "i32": np.array([-2**31], np.int32),
    "i16": np.array([[-7]], np.int16),
    "i8": np.array([-128, 127], np.int8),
    "u8": np.array([255, 0], np.uint8),
    "flag": np.array([True, False, True]),
    "empty": np.zeros((3, 0, 2), np.float32),
    'na"me\n\u00e9': np.array([4], np.float32),
}
target = Path(__file__).parent / "fixtures" / "reference.safetensors"
save_file(tensors, target, metadata={"format": 'a "test"'})
