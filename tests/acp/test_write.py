"""Writing plans in the peer's dialect, and the examples of the protocol's own texts."""

import json
from typing import Any

import pytest

from planwire import (
    V1,
    V1_DRAFT,
    V1_RFD,
    V2,
    Dialect,
    Entry,
    FilePlan,
    ItemsPlan,
    MarkdownPlan,
    OtherPlan,
    Update,
    read,
    write,
)
from planwire.acp import Extension, Removal
from planwire.errors import CannotCarry
from tests.wire import entry, line, plan, update_of

STEP = {"content": "Step 1", "priority": "high", "status": "pending"}
BASELINE = {"sessionUpdate": "plan", "entries": [STEP]}
OPERATIONS = [
    {"sessionUpdate": "plan_update", "plan": {"type": "items", "id": "plan-1", "entries": [STEP]}},
    {
        "sessionUpdate": "plan_update",
        "plan": {"type": "markdown", "id": "plan-1", "content": "## Steps\n- [ ] Refactor"},
    },
    {"sessionUpdate": "plan_update", "plan": {"type": "file", "id": "design-doc", "uri": "file:///tmp/plan.md"}},
    {"sessionUpdate": "plan_removed", "id": "plan-1"},
]


def rekeyed(example: Any) -> Any:
    """The example with the id spelled as it is today."""
    return json.loads(json.dumps(example).replace('"id"', '"planId"'))


def sent(update: Update, dialect: Dialect) -> Any:
    return json.loads(write(update, dialect))["params"]["update"]


@pytest.mark.parametrize(
    "wrap", [lambda update: update, lambda update: json.loads(line(update))], ids=["bare", "message"]
)
@pytest.mark.parametrize(
    ("example", "dialect"),
    [
        *((BASELINE, dialect) for dialect in (V1, V1_RFD, V1_DRAFT)),
        *((example, V1_RFD) for example in OPERATIONS),
        *((rekeyed(example), V2) for example in OPERATIONS),
        *((rekeyed(example), V1_DRAFT.spelling("planId")) for example in OPERATIONS),
        ({"sessionUpdate": "plan_update", "plan": {"type": "_tree", "planId": "p4", "nodes": []}}, V2),
        (
            {
                "sessionUpdate": "plan_update",
                "plan": {"type": "items", "planId": "p", "entries": [entry("a", "_blocked", "_urgent")]},
            },
            V2,
        ),
    ],
)
def test_examples_of_the_protocol_are_written_back_as_they_are(example: Any, dialect: Dialect, wrap: Any) -> None:
    [update] = read(wrap(example)).updates
    assert json.loads(write(update, dialect)) == wrap(example)


def test_v1_draft_spells_the_id_both_ways() -> None:
    assert sent(Update("s", "plan_removed", Removal("p")), V1_DRAFT) == {
        "sessionUpdate": "plan_removed",
        "planId": "p",
        "id": "p",
    }


def test_the_plan_without_an_id_is_called_main_in_v2() -> None:
    """R27."""
    update = Update("s", "plan", ItemsPlan(None, (Entry("a", "low", "pending"),)))
    assert sent(update, V2)["plan"] == {"type": "items", "planId": "main", "entries": [entry("a", "pending", "low")]}


@pytest.mark.parametrize("dialect", [V1, V1_RFD, V1_DRAFT])
@pytest.mark.parametrize(
    ("given", "written"),
    [
        (Entry("a", "low", "cancelled"), ("[cancelled] a", "low", "completed", {"status": "cancelled"})),
        (Entry("a", "low", "canceled"), ("[cancelled] a", "low", "completed", {"status": "canceled"})),
        (Entry("a", "low", "done"), ("a", "low", "completed", {"status": "done"})),
        (Entry("a", "low", "_blocked"), ("a", "low", "pending", {"status": "_blocked"})),
        (Entry("a", "_urgent", "pending"), ("a", "medium", "pending", {"priority": "_urgent"})),
        (Entry("a", None, "pending"), ("a", "medium", "pending", None)),
    ],
)
def test_values_are_made_to_fit_closed_sets(dialect: Dialect, given: Entry, written: tuple[Any, ...]) -> None:
    """R7, R28: readers drop an entry with a word that they don't know, so the writer sends none."""
    [value] = sent(Update("s", "plan", ItemsPlan(None, (given,))), dialect)["entries"]
    content, priority, status, words = written
    expected = {"content": content, "priority": priority, "status": status}
    assert value == (expected | {"_meta": {"planwire": words}} if words else expected)


def test_words_that_do_not_fit_are_put_beside_the_meta_that_is_there() -> None:
    [value] = sent(Update("s", "plan", ItemsPlan(None, (Entry("a", "low", "x", {"m": 1}, {"y": 2}),))), V1)["entries"]
    assert value["_meta"] == {"m": 1, "planwire": {"status": "x"}}
    assert value["y"] == 2


def test_a_missing_priority_is_filled_in_where_values_are_open_too() -> None:
    """R6."""
    update = Update("s", "plan_update", ItemsPlan("p", (Entry("a", None, "_x"),)))
    assert sent(update, V2)["plan"]["entries"] == [entry("a", "_x")]


def test_known_fields_win_over_unknown_ones_of_the_same_name() -> None:
    update = Update("s", "plan_update", OtherPlan("p", "_tree", {"type": "x", "planId": "q", "n": 1}))
    assert sent(update, V2)["plan"] == {"type": "_tree", "planId": "p", "n": 1}


@pytest.mark.parametrize(
    "body", [ItemsPlan("p", ()), MarkdownPlan(None, "x"), FilePlan("p", "u"), OtherPlan("p", "_t", {}), Removal("p")]
)
def test_v1_refuses_what_it_has_no_form_for(body: Any) -> None:
    """R8: lowering is the job of `Fallback`."""
    with pytest.raises(CannotCarry, match="v1 has no"):
        write(Update("s", "plan_update", body), V1)


@pytest.mark.parametrize("body", [None, Extension("p", "more")])
def test_what_is_not_whole_is_refused_everywhere(body: Any) -> None:
    with pytest.raises(CannotCarry, match="write the whole plan"):
        write(Update("s", "plan_update", body), V2)


def test_a_line_has_no_line_feed_and_keeps_unicode() -> None:
    """R34."""
    written = write(Update("s", "plan", ItemsPlan(None, (Entry("a\nb — ü", "low", "pending"),))), V1)
    assert b"\n" not in written
    assert "ü" in written.decode()
    assert update_of(written) == update_of(plan(entry("a\nb — ü", "pending", "low")))
