"""Words for statuses and priorities: folded where a model or a person says them, open on the wire."""

import pytest

from planwire.model.plan import PRIORITIES
from planwire.model.priorities import folded_priority
from planwire.model.statuses import STATUSES, canonical, folded_status, status_of


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Completed", "completed"),
        (" COMPLETE ", "completed"),
        ("finished", "completed"),
        ("[x]", "completed"),
        ("in progress", "in_progress"),
        ("In-Progress", "in_progress"),
        ("inProgress", "in_progress"),
        ("wip", "in_progress"),
        ("started", "in_progress"),
        ("to-do", "pending"),
        ("TODO", "pending"),
        ("open", "pending"),
        ("not_started", "pending"),
        ("skipped", "cancelled"),
        ("canceled", "cancelled"),
        ("Won't do", "cancelled"),
    ],
)
def test_a_status_is_understood_by_case_spaces_and_synonyms(said: str, meant: str) -> None:
    assert folded_status(said) == meant


@pytest.mark.parametrize("said", ["", " ", "dancing", "blocked", "_", "done done"])
def test_a_word_that_means_no_status_is_none(said: str) -> None:
    assert folded_status(said) is None


def test_no_word_means_two_statuses() -> None:
    words = [word for row in STATUSES.values() for word in {row.word, row.spoken, *row.aliases, *row.synonyms}]
    assert [folded_status(word) for word in words] == [
        row.word for row in STATUSES.values() for _ in {row.word, row.spoken, *row.aliases, *row.synonyms}
    ]


@pytest.mark.parametrize("word", ["Completed", "finished", "wip", "to-do"])
def test_on_the_wire_a_word_without_a_row_stays_as_it_came(word: str) -> None:
    assert status_of(word) is None
    assert canonical(word) == word


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("High", "high"),
        ("urgent", "high"),
        ("P0", "high"),
        ("normal", "medium"),
        ("minor", "low"),
        ("nice-to-have", "low"),
    ],
)
def test_a_priority_is_understood_by_case_spaces_and_synonyms(said: str, meant: str) -> None:
    assert folded_priority(said) == meant


def test_the_priorities_of_the_protocol_mean_themselves_and_others_none() -> None:
    assert [folded_priority(word) for word in PRIORITIES] == list(PRIORITIES)
    assert folded_priority("purple") is None
