"""The rules of the house, each a function that yields one line per breach found under a root folder."""

import re
import subprocess
from pathlib import Path

# What a room may include and link, besides itself. Everything points down the list.
ALLOWED = {
    "base": set(),
    "device": {"base"},
    "tensor": {"base", "device"},
    "ops": {"base", "device", "tensor"},
    "graph": {"base", "device", "tensor", "ops"},
    "kernels": {"base", "device", "tensor", "ops"},
    "data": {"base", "device", "tensor"},
    "comm": {"base", "device", "tensor"},
    "nn": {"base", "device", "tensor", "ops", "graph"},
    "model": {"base", "device", "tensor", "ops", "graph", "nn"},
    "train": {"base", "device", "tensor", "ops", "graph", "data", "comm", "nn", "model"},
}
# The only files of include/ and src/ that are in no room, and know them all.
ROOTS = {"include/thalweg/thalweg.h", "src/thalweg.cpp"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
SOURCES = {".h", ".cpp", ".cu", ".cuh", ".def", ".inc"}
MAX_LINES = 600
MAX_README_LINES = 150


def tracked(root):
    """The files of the tree that git tracks or would track, as paths relative to root."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True).stdout
    return sorted(Path(name) for name in listing.split("\0") if name and (root / name).is_file())


def library_files(root):
    return [path for path in tracked(root)
            if path.parts[0] in ("include", "src") and path.suffix in SOURCES]


def text_of(path):
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def room_of(path):
    """"tensor" for include/thalweg/tensor/shape.h and for src/tensor/shape.cpp; None for the roots."""
    parts = path.parts[2:] if path.parts[0] == "include" else path.parts[1:]
    return parts[0] if len(parts) > 1 else None


def resolve(root, path, target):
    """The file of the tree that an include of path names, or None for one from outside."""
    for folder in ("include", "src", path.parent):
        if (root / folder / target).is_file():
            return Path(folder) / target
    return None


def include_graph(root):
    """{file: [included files of the tree]} of include/ and src/."""
    graph = {}
    for path in library_files(root):
        targets = (resolve(root, path, target) for _, target in INCLUDE.findall(text_of(root / path)))
        graph[path] = [target for target in targets if target]
    return graph


def layer_breaches(root):
    for path, targets in include_graph(root).items():
        if str(path) in ROOTS:
            continue
        room = room_of(path)
        if room not in ALLOWED:
            yield f"{path}: is in no room of the table"
            continue
        for target in targets:
            other = room_of(target)
            if other != room and other not in ALLOWED[room]:
                yield f"{path}: {room} may not include {target}"
            if path.parts[0] == "include" and target.parts[0] != "include":
                yield f"{path}: a public header may not include the internal {target}"


def public_header_breaches(root):
    """Public headers include the standard library and each other: a user compiles nothing else."""
    for path in library_files(root):
        if path.parts[0] != "include":
            continue
        for quote, target in INCLUDE.findall(text_of(root / path)):
            standard = quote == "<" and re.fullmatch(r"[a-z_0-9]+", target)
            if not standard and not target.startswith("thalweg/"):
                yield f"{path}: a public header may not include {target}"


def link_breaches(root):
    """The DEPS of each room's target are held to the same table."""
    for room, allowed in ALLOWED.items():
        build_file = root / "src" / room / "CMakeLists.txt"
        if not build_file.is_file():
            continue
        for block in re.findall(r"\bDEPS\s+([a-z_\s]+)", text_of(build_file)):
            for dep in block.split():
                if dep not in allowed:
                    yield f"src/{room}/CMakeLists.txt: {room} may not link {dep}"


def include_cycles(root):
    graph = include_graph(root)
    done, path = set(), []

    def visit(node):
        if node in path:
            yield " -> ".join(str(step) for step in path[path.index(node):] + [node])
        elif node not in done:
            path.append(node)
            for target in graph.get(node, []):
                yield from visit(target)
            path.pop()
            done.add(node)

    for node in graph:
        yield from visit(node)


def unbuilt_sources(root):
    """Sources are listed by name; one that no list names is dead."""
    for path in tracked(root):
        built = path.parts[0] in ("src", "tests", "cli", "bench") and path.suffix in (".cpp", ".cu")
        if not built or path.parts[:2] == ("tests", "consumer"):
            continue
        folder = root / path.parent
        while not (folder / "CMakeLists.txt").is_file() and folder != root:
            folder = folder.parent
        name = (root / path).relative_to(folder).as_posix()
        if not re.search(rf"(^|[\s(/]){re.escape(name)}\b", text_of(folder / "CMakeLists.txt")):
            yield f"{path}: is not in {folder.relative_to(root) / 'CMakeLists.txt'}"


WRITTEN_BY_PROGRAM = {"docs/recipe.md"}  # a table of all keys: as long as there are keys


def long_files(root):
    code = SOURCES | {".py", ".cmake", ".sh", ".js", ".css", ".html", ".md", ".txt", ""}
    for path in tracked(root):
        if path.suffix not in code or path.name == "LICENSE" or "fixtures" in path.parts:
            continue
        if str(path) in WRITTEN_BY_PROGRAM:
            continue
        lines = text_of(root / path).count("\n")
        if lines > MAX_LINES:
            yield f"{path}: {lines} lines, more than {MAX_LINES}"
        if str(path) == "README.md" and lines > MAX_README_LINES:
            yield f"{path}: {lines} lines, more than {MAX_README_LINES}"


def machine_paths(root):
    """Paths of one machine and hosts of registries have no place in the tree."""
    machine = re.compile(r"/(?:home|root|work|Users)/\w|\b(?:[\w-]+\.)*(?:pypi|pythonhosted|debian)\.(?:org|net)\b")
    for path in tracked(root):
        if path.suffix in (".gz", ".bin", ".png", ".npy", ".safetensors"):
            continue
        for number, line in enumerate(text_of(root / path).splitlines(), 1):
            found = machine.search(line)
            if found and path.parts[:2] != ("tests", "house"):
                yield f"{path}:{number}: names {found.group()}"


def unformatted(root, clang_format):
    paths = [str(path) for path in tracked(root) if path.suffix in (".h", ".cpp", ".cu", ".cuh")]
    if not paths:
        return
    result = subprocess.run([clang_format, "--dry-run", "-ferror-limit=0", *paths],
                            cwd=root, capture_output=True, text=True)
    files = sorted(set(re.findall(r"^(\S+?):\d+:\d+: (?:warning|error)", result.stderr, re.M)))
    for name in files:
        yield f"{name}: clang-format-14 would change it"
