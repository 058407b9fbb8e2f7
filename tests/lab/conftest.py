"""The seed of a run: `PLANWIRE_LAB_SEED`, or one that stays for the part that is in `make test`."""

import os
from collections.abc import Generator
from random import Random
from typing import Any

import pytest

#: The seed of the run.
SEED = int(os.environ.get("PLANWIRE_LAB_SEED") or 4_711)


def pytest_report_header() -> str:
    return f"laboratory: make lab SEED={SEED}"


@pytest.fixture
def draw(request: pytest.FixtureRequest) -> Random:
    """What the test takes its random choices from: the same in each run with this seed."""
    return Random(f"{SEED} {request.node.name}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    if report.failed and "tests/lab/" in item.nodeid:
        report.sections.append(("laboratory", f"to run it again: make lab SEED={SEED}"))
    return report
