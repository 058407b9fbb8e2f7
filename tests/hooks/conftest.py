"""Hooks that tests run are noted as an agent's: no other test may find itself below it."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
