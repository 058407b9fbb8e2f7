"""What holds for every test of the terminal."""

from pathlib import Path

import pytest

from tests.terminal.watched import two_plans


@pytest.fixture(autouse=True)
def _pilots_do_not_wait(prompt_pilot: None) -> None:
    """No pilot waits for longer than it has to."""


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A journal with a plan of planwire's and one of its agent's."""
    return two_plans(tmp_path)
