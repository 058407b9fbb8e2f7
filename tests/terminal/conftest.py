"""What holds for every test of the terminal."""

import pytest


@pytest.fixture(autouse=True)
def _pilots_do_not_wait(prompt_pilot: None) -> None:
    """No pilot waits for longer than it has to."""
