"""The board that a test looks at."""

from collections.abc import Iterator

import pytest

from tests.web.board import Running, running_board


@pytest.fixture
def board() -> Iterator[Running]:
    with running_board() as running:
        yield running
