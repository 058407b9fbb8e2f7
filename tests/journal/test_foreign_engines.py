"""Engines of other packages, by their entry points: each passes the contract, though it is one file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from planwire.journal.store import Store

HERE = Path(__file__).parent
#: The tests that are the contract of an engine.
CONTRACT = ("test_contract.py", "test_once.py", "test_stored.py", "test_state_machine.py", "test_follower.py")


@pytest.mark.parametrize(
    ("scheme", "engine"),
    [("files", "tests.journal.foreign.plain_files:ENGINE"), ("tables", "tests.journal.foreign.plain_tables:ENGINE")],
)
@pytest.mark.timeout(400)
def test_an_engine_of_one_file_passes_the_contract(tmp_path: Path, scheme: str, engine: str) -> None:
    installed = tmp_path / "installed" / "foreign-1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(f"[planwire.journals]\n{scheme} = {engine}\n")
    (tmp_path / "kept").mkdir()
    paths = [str(installed.parent), str(HERE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PLANWIRE_ENGINE": f"{scheme}:{tmp_path}/kept/{{}}",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "added-engine"]
    command += [str(HERE / each) for each in CONTRACT]
    told = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=HERE.parents[1], check=False)
    assert told.returncode == 0, told.stdout[-4000:]
    assert " passed" in told.stdout


def test_a_store_has_nine_methods_and_close() -> None:
    methods = [name for name, each in vars(Store).items() if callable(each) and not name.startswith("_")]
    assert len(methods) == 10
    assert "close" in methods
