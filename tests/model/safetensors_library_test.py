"""Files of ours and of the safetensors library, read by the other. Argument: the program model_samples."""

import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

program = sys.argv[1]
reference = Path(__file__).parent / "fixtures" / "reference.safetensors"


def run(*arguments):
    subprocess.run([program, *map(str, arguments)], check=True)


def check_same(ours, theirs):
    assert sorted(ours) == sorted(theirs), (sorted(ours), sorted(theirs))
    for name, value in theirs.items():
        assert ours[name].dtype == value.dtype and ours[name].shape == value.shape, name
        assert ours[name].tobytes() == value.tobytes(), name


with tempfile.TemporaryDirectory() as folder:
    ours = Path(folder) / "ours.safetensors"
    run("write", ours)
    check_same(load_file(ours), load_file(reference))
    with safe_open(ours, "np") as file:
        assert file.metadata() == {"format": 'a "test"'}, file.metadata()

    theirs, copy = Path(folder) / "theirs.safetensors", Path(folder) / "copy.safetensors"
    rng = np.random.default_rng(1)
    tensors = {f"layers.{i}.weight": rng.standard_normal((i, 5)).astype(np.float32) for i in range(40)}
    tensors["steps"] = np.arange(7)
    save_file(tensors, theirs)
    run("copy", theirs, copy)
    check_same(load_file(copy), tensors)
    assert copy.read_bytes() == theirs.read_bytes()
print("ok")
