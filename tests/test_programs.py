"""The programs of the system that tests run."""

import pytest

from tests.availability import Unavailable, or_skip
from tests.programs import CHROMIUM, Program

NOWHERE = Program("Nowhere", ("there-is-no-such-command",), "nowhere")


def test_a_program_that_is_named_in_its_setting_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANWIRE_BROWSER", "my-browser")
    assert CHROMIUM.path() == "my-browser"


def test_a_missing_program_says_what_to_install_or_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match=r"^there is no Nowhere here: install it$"):
        NOWHERE.path()
    with pytest.raises(Unavailable, match=r"there is no Nowhere here: install it, or name one in A_NOWHERE$"):
        NOWHERE._replace(setting="A_NOWHERE").path()


@pytest.mark.parametrize(("required", "outcome"), [("", pytest.skip.Exception), ("1", pytest.fail.Exception)])
def test_a_test_without_its_program_is_skipped_or_fails_where_everything_is_required(
    required: str, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANWIRE_REQUIRE_ALL", required)
    with pytest.raises(outcome, match="there is no Nowhere here"):
        or_skip(NOWHERE.path)
