"""planwire starts itself without a module of the folder that it stands in, whatever the environment says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from planwire.own_process import own_command
from tests.hostile_repository import HostileRepository

#: What a person's shell may have: an empty entry of PYTHONPATH is the working folder.
PATHS = ("", ".", os.pathsep, f"{os.pathsep}/nowhere")


@pytest.fixture
def hostile(tmp_path: Path) -> HostileRepository:
    return HostileRepository(tmp_path)


def said(command: list[str], folder: Path, **more: str) -> str:
    environment = {**os.environ, **more}
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("path", PATHS)
def test_an_own_process_takes_no_code_from_the_folder_or_the_environment(path: str, hostile: HostileRepository) -> None:
    assert said(own_command("--version"), hostile.folder, PYTHONPATH=path).startswith("planwire ")
    assert not hostile.ran()


def test_another_module_of_planwire_starts_likewise(hostile: HostileRepository) -> None:
    command = own_command("--help", module="planwire.demo.agent")
    assert "--speed" in said(command, hostile.folder, PYTHONPATH=".")
    assert not hostile.ran()


def test_the_installed_program_takes_no_code_from_the_folder(hostile: HostileRepository) -> None:
    program = Path(sys.executable).with_name("planwire")
    assert said([str(program), "--version"], hostile.folder).startswith("planwire ")
    assert not hostile.ran()


def test_the_module_imports_nothing_from_the_folder_once_it_runs(tmp_path: Path) -> None:
    """Python itself looks there first with `-m`; what planwire imports then comes from elsewhere."""
    hostile = HostileRepository(tmp_path)
    for name in ("planwire", "runpy", "typing"):  # `-m` and `planwire` itself take these before planwire has a say
        for path in (hostile.folder / f"{name}.py", hostile.folder / name / "__init__.py"):
            path.unlink(missing_ok=True)
    folder = tmp_path / "few"
    folder.mkdir()
    for name in ("argparse", "gettext", "random", "shutil", "sqlite3", "json"):
        (hostile.folder / f"{name}.py").rename(folder / f"{name}.py")
    assert said([sys.executable, "-m", "planwire", "--version"], folder).startswith("planwire ")
    assert not hostile.ran()


def test_a_module_is_found_beside_planwire_without_an_installation(tmp_path: Path, hostile: HostileRepository) -> None:
    """A copy in a folder that no settings of Python name: the file knows where it is."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    import planwire

    (place / "planwire").symlink_to(Path(planwire.__file__).parent)
    command = [sys.executable, "-I", str(place / "planwire/own_process.py"), "planwire", "--version"]
    assert said(command, hostile.folder).startswith("planwire ")
    assert not hostile.ran()
