"""Programs and packages that tests need, and that a machine may lack.

A test that lacks one is skipped and says why. With `PLANWIRE_REQUIRE_ALL=1` it fails.
"""

import os
from collections.abc import Callable
from typing import TypeVar

__all__ = ["Unavailable", "all_is_required", "or_skip"]

Found = TypeVar("Found")


class Unavailable(Exception):
    """A program or package can't be had here, and why."""


def all_is_required() -> bool:
    """Whether it is a failure if something can't be had."""
    return os.environ.get("PLANWIRE_REQUIRE_ALL") == "1"


def or_skip(find: Callable[[], Found]) -> Found:
    """What `find` returns. If it is unavailable, the calling test is skipped, or fails where everything is required."""
    import pytest  # the programs that install peers do without it

    try:
        return find()
    except Unavailable as reason:
        if all_is_required():
            pytest.fail(f"required, and can't be had: {reason}", pytrace=False)
        pytest.skip(str(reason))
