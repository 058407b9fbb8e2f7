"""A fixture for all proofs: it takes the outcome of one for the report, and fails the test if that is not clean."""

from collections.abc import Callable

import pytest

from tests.torture.ledger import Outcome
from tests.torture.report import Proof, write_report

_PROOFS: list[Proof] = []


@pytest.fixture
def proves() -> Callable[[str, str, str, Outcome], None]:
    def proves(what: str, engine: str, tries: str, outcome: Outcome) -> None:
        _PROOFS.append(Proof(what, engine, tries, outcome))
        assert outcome.is_clean, outcome
        assert outcome.acknowledged

    return proves


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, unless this was the small run, or only a part of the full one."""
    if session.config.option.markexpr == "torture" and session.config.args_source.name != "ARGS" and _PROOFS:
        write_report(_PROOFS)
