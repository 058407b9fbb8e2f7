"""What holds for every test: nothing of the user's own is read or written."""

from pathlib import Path

import pytest

from tests import strategies  # noqa: F401  (how hypothesis works here: the same examples every time, no deadlines)


@pytest.fixture(autouse=True)
def _a_journal_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default journal is one of the test's, in this process and in those that it starts."""
    monkeypatch.setenv("PLANWIRE_JOURNAL", str(tmp_path / "default.db"))
