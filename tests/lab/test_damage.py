"""Damage by byte: every file that planwire writes is flipped, zeroed, cut, overwritten, doubled and replaced by an
older copy. Its readers see the same, or say so."""

import ast
import shutil
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from random import Random
from typing import Final

import pytest

import planwire
from planwire.errors import PlanwireError
from tests.lab.file_table import ELSEWHERE, ROWS, Row, Said

ROOT = Path(planwire.__file__).parent
TRIES = [2, pytest.param(25, marks=[pytest.mark.lab, pytest.mark.timeout(400)])]
SECTOR = 512


def flipped(data: bytes, _older: bytes, draw: Random) -> bytes:
    place = draw.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << draw.randrange(8))]) + data[place + 1 :]


def zeroed(data: bytes, _older: bytes, draw: Random) -> bytes:
    place = draw.randrange(len(data)) // SECTOR * SECTOR
    return data[:place] + bytes(min(SECTOR, len(data) - place)) + data[place + SECTOR :]


def cut(data: bytes, _older: bytes, draw: Random) -> bytes:
    return data[: draw.randrange(len(data))]


def garbage(data: bytes, _older: bytes, draw: Random) -> bytes:
    place = draw.randrange(len(data))
    some = draw.randbytes(min(len(data) - place, draw.choice([4, 40, 600])))
    return data[:place] + some + data[place + len(some) :]


def doubled(data: bytes, _older: bytes, draw: Random) -> bytes:
    return data + data[draw.choice([0, len(data) // 2]) :]


def older_copy(_data: bytes, older: bytes, _draw: Random) -> bytes:
    return older


DAMAGES: Final = (flipped, zeroed, cut, garbage, doubled, older_copy)
Damage = Callable[[bytes, bytes, Random], bytes]


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))


@pytest.mark.parametrize("tries", TRIES)
@pytest.mark.parametrize("name", ROWS)
def test_a_damaged_file_is_read_as_it_was_or_its_reader_says_so(
    name: str, tries: int, draw: Random, tmp_path: Path
) -> None:
    row, sound, before = ROWS[name], tmp_path / "sound", tmp_path / "before"
    sound.mkdir()
    row.make(sound, lambda: shutil.copytree(sound, before, dirs_exist_ok=True))
    expected = _looked(row, sound, tmp_path)
    was = _looked(row, before, tmp_path)
    paths = [each.relative_to(sound) for each in sorted(sound.rglob("*")) if each.is_file()]
    assert {str(each) for each in paths if not any(fnmatch(str(each), pattern) for pattern in row.patterns)} == set()
    for path in paths:
        data, old = (sound / path).read_bytes(), before / path
        for damage in DAMAGES:
            for _ in range(tries if data else 0):
                changed = damage(data, old.read_bytes() if old.exists() else data, draw)
                damaged = _copy(sound, tmp_path / "damaged")
                (damaged / path).write_bytes(changed)
                found = _looked(row, damaged, tmp_path)
                is_fine = (
                    isinstance(found, Exception)
                    or found == expected
                    or row.may_be(found, expected)
                    or (damage is older_copy and found == was)
                    or (row.is_editable and damage is not zeroed)
                )
                if not is_fine:
                    _copy(damaged, tmp_path / "bad")
                    pytest.fail(f"{path} {damage.__name__}: {found} instead of {expected}"[:3_000])


def _copy(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(source, target))


def _looked(row: Row, folder: Path, tmp_path: Path) -> object:
    """What readers see of a copy of the files: to look may change them."""
    copied = _copy(folder, tmp_path / "looked at")
    try:
        return row.look(copied)
    except (PlanwireError, Said) as said:
        return said


#: Calls that make files: of other packages, and of planwire's own.
MAKING: Final = {
    *("NamedTemporaryFile", "TemporaryDirectory", "copyfile", "hardlink_to", "mkdtemp", "mkstemp", "symlink_to"),
    *("touch", "write_bytes", "write_text"),
}
OWN: Final = {"put", "refill", "write_mark"}


def makes_files(tree: ast.Module) -> bool:
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    own = {name.name for each in imports if each.module == "planwire.journal.spool_append" for name in each.names}
    return any(makes_a_file(each, own & OWN) for each in ast.walk(tree) if isinstance(each, ast.Call))


def makes_a_file(call: ast.Call, own: set[str]) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in own or "O_CREAT" in ast.unparse(call)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    modes = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    is_written = any(set(mode) <= set("wabxt+r") and set(mode) & set("wax") for mode in modes)
    return name in MAKING or "O_CREAT" in ast.unparse(call) or (name == "open" and is_written)


@pytest.mark.parametrize(
    "code",
    [
        "path.write_text('x')",
        "path.open('wb')",
        "from planwire.journal.spool_append import put\nput(folder, name, data)",
        "handle = os.open(path, os.O_CREAT | os.O_WRONLY)",
        "handle = locked(path, os.O_CREAT)",
    ],
)
def test_a_module_that_makes_a_file_is_found(code: str) -> None:
    assert makes_files(ast.parse(code))


def test_every_module_that_writes_files_is_in_the_table() -> None:
    files = [path for path in ROOT.rglob("*.py") if makes_files(ast.parse(path.read_text()))]
    found = {path.relative_to(ROOT).with_suffix("").as_posix() for path in files}
    listed = {module for row in ROWS.values() for module in row.modules}
    assert found - listed - ELSEWHERE.keys() == set(), "which file is that, and what if it is damaged?"
    assert ELSEWHERE.keys() - found == set(), "it no longer writes files"
    assert not listed & ELSEWHERE.keys()
    assert all((ROOT / f"{module}.py").exists() for module in listed)
