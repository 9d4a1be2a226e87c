"""docs/inside.md is a program: its code blocks compile, and what they print is what the page says.

inside_test.py COMPILER PAGE FOLDER
"""

import re
import subprocess
import sys
from pathlib import Path


def blocks(text, language):
    """(line of the first line, content) of each fenced block in a language."""
    for found in re.finditer(rf"^```{language}\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, found.start(1)) + 1, found[1]


def main():
    compiler, page, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    text = page.read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    source, program = folder / "inside.cpp", folder / "inside"
    source.write_text("".join(f'#line {line} "{page}"\n{code}' for line, code in blocks(text, "cpp")))
    subprocess.run([compiler, "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", source, "-o", program],
                   check=True)
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    (_, expected), = blocks(text, "text")
    if printed != expected:
        sys.exit(f"{page} says that its program prints\n{expected}but it prints\n{printed}")


if __name__ == "__main__":
    main()
