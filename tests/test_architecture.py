"""The rings of CONTRIBUTING.md: who may import whom, and that the core does no I/O."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import planwire

ROOT = Path(planwire.__file__).parent
RINGS = (
    {"errors", "events", "plan"},
    {"ages", "changes", "diff", "edit", "fold", "markdown", "moments", "overview", "safe", "steps"},
    {"acp", "board", "editing", "steer", "calls", "chat", "check", "reviews", "tools"},
    {"attached", "blocking", "journal", "peers", "planfile", "relay", "session", "sight", "watching"},
    {"adapters", "demo", "web", "mcp", "terminal", "cli", "__init__", "__main__"},
)
CORE = {name for ring in RINGS[:3] for name in ring}
PURE = {
    "bisect",
    "collections",
    "contextlib",
    "difflib",
    "functools",
    "itertools",
    "json",
    "math",
    "re",
    "types",
    "typing",
    "msgspec",
    "markdown_it",
}
LATE = {
    "acp",
    "argparse",
    "asyncio",
    "difflib",
    "json",
    "markdown_it",
    "mcp",
    "pydantic",
    "rich",
    "sqlite3",
    "starlette",
    "textual",
    "uvicorn",
}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield path.relative_to(ROOT).parts[0].removesuffix(".py"), path


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            assert node.module is not None
            if node.module == "planwire":
                yield from (f"planwire.{alias.name}" for alias in node.names)
            else:
                yield node.module


def ring_of(part: str) -> int:
    return next(number for number, ring in enumerate(RINGS) if part in ring)


def test_every_module_belongs_to_a_ring() -> None:
    assert {part for part, _ in modules()} <= {name for ring in RINGS for name in ring}


@pytest.mark.parametrize(
    ("part", "path"), [pytest.param(*each, id=str(each[1].relative_to(ROOT))) for each in modules()]
)
def test_modules_import_only_from_their_own_ring_and_those_inside_it(part: str, path: Path) -> None:
    for name in imports(path):
        if name.startswith("planwire."):
            inner = name.split(".")[1]
            if inner in {member for ring in RINGS for member in ring}:
                assert ring_of(inner) <= ring_of(part), f"{path.name} imports {name}"


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=str(path.relative_to(ROOT))) for part, path in modules() if part in CORE]
)
def test_the_core_imports_nothing_that_does_io(path: Path) -> None:
    outside = {name.split(".")[0] for name in imports(path)} - {"planwire"}
    assert outside <= PURE


def test_the_core_opens_no_files_and_reads_no_clock() -> None:
    for part, path in modules():
        if part in CORE:
            called = {
                node.func.id
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            assert called.isdisjoint({"open", "input", "print", "exec", "eval", "__import__"}), path


def test_importing_planwire_imports_no_heavy_package() -> None:
    code = "import sys, planwire; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    bare = subprocess.run(
        [sys.executable, "-c", "import sys, msgspec; print(*{name.split('.')[0] for name in sys.modules})"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert LATE.isdisjoint(set(loaded) - set(bare))


def test_files_hold_one_idea_and_no_buckets() -> None:
    for _, path in modules():
        assert len(path.read_text().splitlines()) <= 400, path
        assert path.stem not in {"utils", "helpers", "common", "misc", "shared"}
        assert len(path.relative_to(ROOT).parts) <= 2
