"""Codes of the protocol in words."""

import pytest

from planwire.readmodel.states import stop_words


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("max_tokens", "ran out of tokens"),
        ("end_turn", "finished its turn"),
        ("refusal", "the model refused"),
        ("_out_of_budget", "out of budget"),
        ("silent for a day", "silent for a day"),
        (None, ""),
    ],
)
def test_a_stop_reason_reads_as_words(reason: str | None, words: str) -> None:
    assert stop_words(reason) == words
