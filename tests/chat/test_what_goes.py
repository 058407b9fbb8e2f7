"""What goes first at a compaction: the table row by row, the tail, calls that wait, pins, budgets by any counter."""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.chat import Compaction, EventMessage, Ordinary, Stored, about_tokens, chat_format
from planwire.chat import compact as compact_by_any
from planwire.chat.belonging import is_pinned, with_pin, with_steps
from planwire.chat.compaction import Counter, FromState
from planwire.errors import BadStream
from planwire.model.plan import BODY_CAP, Fields
from tests.chats import (
    FORMATS,
    answers,
    assert_a_provider_takes,
    by_fours,
    calls,
    chats,
    delta,
    event,
    plan,
    rendered,
    result,
    says,
)
from tests.strategies import a_third_each

FORM = chat_format("openai-chat")
compact = partial(compact_by_any, count=by_fours)
WORDS = "words " * 40
#: A plan with a finished step s1, and an open one s2.
STEPS = [{"id": "s1", "content": "x", "status": "completed"}, {"id": "s2", "content": "y", "status": "wip"}]
TWO = plan("p", "", kind="items", steps=STEPS)

COUNTERS: dict[str, Counter] = {
    "bytes": lambda message: len(json.dumps(message)),
    "one each": lambda _: 1,
    "words": lambda message: len(str(message).split()),
    "about tokens": about_tokens,
}


def ids(messages: Iterable[Stored]) -> list[str]:
    return [message.id for message in messages]


def said(name: str, fields: Fields, *steps: str) -> Ordinary:
    return with_steps(Ordinary(name, fields), tuple(f"main#{step}" for step in steps))


def user(name: str, *steps: str) -> Ordinary:
    return said(name, says(FORM.name, WORDS), *steps)


def model(name: str, *steps: str) -> Ordinary:
    return said(name, answers(FORM.name, WORDS), *steps)


def tool(name: str, *steps: str, form: str = FORM.name) -> list[Stored]:
    made = [*calls(form, name), result(form, name, WORDS)]
    return [said(f"{name}.{number}", each, *steps) for number, each in enumerate(made)]


def departures(stream: Sequence[Stored], form: str = FORM.name, *, tail: int = 0) -> list[str]:
    """The ids of messages in the order in which they go when the budget shrinks."""
    found = chat_format(form)
    gone: list[str] = []
    for budget in range(compact(stream, found, tail=tail).tokens_after, -1, -1):
        now = compact(stream, found, budget=budget, tail=tail).left_out
        gone += [each for each in now if each not in gone]
    return gone


# The table


def test_messages_go_in_the_order_of_the_table_and_within_a_row_the_oldest_first() -> None:
    stream: list[Stored] = [
        user("task", "s2"),
        *(user("user-none"), user("user-open", "s2"), user("user-finished", "s1")),
        *(model("model-open", "s2"), model("model-none"), model("model-finished", "s1")),
        *(*tool("tool-open", "s2"), *tool("tool-none"), *tool("tool-finished", "s1"), *tool("tool-later", "s1")),
        with_pin(user("pinned", "s1"), True),
        TWO,
    ]
    order = dict.fromkeys(each.split(".")[0] for each in departures(stream))
    assert list(order) == [
        *("tool-finished", "tool-later", "model-finished", "tool-none", "model-none", "user-finished"),
        *("tool-open", "model-open", "user-none", "user-open", "task", "pinned"),
    ]


def test_a_message_is_finished_once_all_its_steps_are() -> None:
    stream: list[Stored] = [user("task"), model("both", "s1", "s2"), model("one", "s1"), model("gone", "s9"), TWO]
    assert departures(stream)[:3] == ["one", "gone", "both"]


def test_a_state_says_which_steps_are_open() -> None:
    stream: list[Stored] = [user("task"), model("one", "s1"), model("two", "s2"), TWO]
    state = FromState("s", lambda _: None, open_steps=frozenset(("main#s1",)))
    after = compact(stream, FORM, budget=compact(stream, FORM).tokens_after - 10, tail=0, state=state)
    assert after.left_out == ("two",)


def test_calls_of_plan_tools_go_first_since_the_plan_says_it_all() -> None:
    function = {"name": "update_plan", "arguments": json.dumps({"note": WORDS})}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}
    about: list[Stored] = [said("call", call, "s2"), said("answer", result(FORM.name, "c", WORDS), "s2")]
    stream = [user("task"), *tool("old", "s1"), *about, TWO]
    assert departures(stream)[:2] == ["call", "answer"]


def test_a_summary_outlives_chatter() -> None:
    payload = {"count": 9, "sources": ["a"], "steps": ["main#s2"]}
    summary = event("summary", "summarization_marker", "planwire.compact", WORDS, **payload)
    stream: list[Stored] = [user("task"), summary, model("chatter", "s2"), TWO]
    assert departures(stream)[:2] == ["chatter", "summary"]


# What stays to the last


def test_the_task_outlives_everything_that_may_go() -> None:
    stream: list[Stored] = [user("task"), *(model(f"a{n}") for n in range(20)), *(user(f"u{n}") for n in range(20))]
    after = compact(stream, FORM, budget=400, tail=2)
    assert ids(after.messages)[0] == "task"
    assert after.over_by == 0


@pytest.mark.parametrize("subkind", ["tick", "tool_decision", "cron_fire"])
def test_a_pinned_message_stays_whatever_its_class(subkind: str) -> None:
    pinned = with_pin(event("pinned", subkind, "one"), True)
    stream: list[Stored] = [pinned, *(event(f"e{number}", subkind, "one") for number in range(5)), user("u")]
    assert "pinned" in ids(compact(stream, FORM, tail=0).messages)
    let_go = [with_pin(each, False) for each in stream]
    assert not any(map(is_pinned, let_go))
    assert "pinned" not in ids(compact(let_go, FORM, tail=0).messages)


def test_what_stands_for_all_before_it_goes_last_and_what_it_stands_for_first() -> None:
    form = "openai-responses"
    item = Ordinary("item", {"type": "compaction", "id": "cmp_1", "encrypted_content": "x" * 300})
    before: list[Stored] = [said("task", says(form, WORDS)), *tool("t", form=form), said("u", says(form, WORDS))]
    after: list[Stored] = [said("v", says(form, WORDS)), with_pin(said("pinned", says(form, WORDS)), True)]
    order = departures([*before, item, *after], form)
    assert order[:-4] == [each.id for each in before[1:]]
    assert order[-4:] == ["v", "task", "pinned", "item"]


def test_names_that_are_not_unique_are_refused() -> None:
    with pytest.raises(BadStream, match="the same `message_id`"):
        compact([user("u"), user("u")], FORM)


# The tail, and calls that wait


def test_the_tail_counts_what_stays() -> None:
    stream: list[Stored] = [user("task"), plan("x", plan_id="x"), delta("r", plan_id="x", removed=True)]
    after = compact(stream, FORM, budget=1, tail=1)
    assert ids(after.messages) == ["task"]
    ticks: list[Stored] = [user("task"), user("u"), *(event(f"c{n}", "cron_fire", "s") for n in range(9))]
    after = compact(ticks, FORM, budget=1, tail=4)
    assert ids(after.messages) == ["summary:1:task", "u", "history:s:cron_fire:6:c0", "c6", "c7", "c8"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("tail", [0, 1, 3])
@pytest.mark.parametrize("answered", [0, 1])
def test_calls_that_wait_for_results_are_never_torn_or_folded_away(form: str, tail: int, answered: int) -> None:
    chat = [says(form, WORDS), *calls(form, "a", "b"), *([result(form, "a", WORDS)] * answered)]
    stream: list[Stored] = [Ordinary(f"m{number}", each) for number, each in enumerate(chat)]
    after = compact(stream, chat_format(form), budget=0, tail=tail)
    assert ids(after.messages)[-len(chat) + 1 :] == ids(stream)[1:]
    more = [*after.messages, *(Ordinary(each, result(form, each)) for each in ("a", "b")[answered:])]
    shown = list(rendered(form, more))
    assert_a_provider_takes(form, shown)
    assert "late_result" not in str(shown)


def test_reasoning_that_waits_for_its_item_stays() -> None:
    stream: list[Stored] = [
        Ordinary("u", says("openai-responses", WORDS)),
        Ordinary("r", {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": WORDS}),
    ]
    after = compact(stream, chat_format("openai-responses"), budget=0, tail=0)
    assert ids(after.messages)[-1] == "r"


# Budgets


def what_may_not_go(stream: Sequence[Stored], form: str, tail: int, count: Counter) -> int | None:
    """The cost of what stays once everything that may go went, and no marker says so. None if nothing stays."""

    def free_markers(message: Fields) -> int:
        return 0 if "planwire.compact" in str(message) else 1

    least = compact(stream, chat_format(form), budget=0, tail=tail, count=free_markers)
    stays = [each for each in least.messages if not each.id.startswith("summary:")]
    shown = [list(rendered(form, [each])) if not isinstance(each, Ordinary) else [each.message] for each in stays]
    return sum(count(each) for found in shown for each in found) if stays else None


@pytest.mark.parametrize("name", COUNTERS)
def test_a_budget_is_met_whenever_what_may_go_suffices_by_any_counter(name: str) -> None:
    count, chance = COUNTERS[name], Random(name)
    for length in (20, 60, 150):
        made = (user(f"m{n}") if chance.random() < 0.5 else model(f"m{n}", "s1") for n in range(length))
        stream = [*made]
        total = sum(count(each.message) for each in stream)
        must = sum(count(each.message) for each in stream[-5:])
        for budget in (*(max(must, total * share // 100) for share in (20, 50, 80)), *range(must, must + 400, 23)):
            after = compact(stream, FORM, budget=budget, tail=5, count=count)
            assert after.tokens_after == sum(map(count, rendered(FORM.name, after.messages))) <= budget
            assert after.over_by == 0


def test_a_marker_that_would_miss_the_budget_goes_too() -> None:
    stream: list[Stored] = [user("task"), user("u"), TWO]
    fixed = compact(stream, FORM, budget=0, tail=0)
    marker = by_fours(next(iter(rendered(FORM.name, fixed.written))))
    must = fixed.tokens_after - marker
    tight = [compact(stream, FORM, budget=must + more, tail=0) for more in (0, marker - 1, marker)]
    assert [(len(each.written), each.over_by) for each in tight] == [(0, 0), (0, 0), (1, 0)]
    hopeless = compact(stream, FORM, budget=must - 1, tail=0)
    assert (len(hopeless.written), hopeless.over_by) == (1, marker + 1), "then words about what went are worth it"


def test_an_empty_chat_keeps_the_marker() -> None:
    assert len(compact([user("a"), user("b")], FORM, budget=0, tail=0).messages) == 1


def test_several_markers_become_one_where_they_would_miss_the_budget() -> None:
    stream: list[Stored] = [user("a"), user("b"), plan("p", plan_id="x"), user("c"), user("d"), plan("q", plan_id="y")]
    two = compact(stream, FORM, budget=0, tail=0)
    assert len(two.written) == 2
    one = compact(stream, FORM, budget=two.tokens_after - 1, tail=0)
    assert one.over_by == 0
    assert [each.payload["count"] for each in one.written if isinstance(each, EventMessage)] == [4]


@pytest.mark.parametrize("form", FORMATS)
@a_third_each
@given(st.data(), st.sampled_from(sorted(COUNTERS)), st.integers(0, 12), st.integers(0, 600), st.booleans())
def test_any_stream_fits_any_budget_that_leaves_room_for_what_may_not_go(
    form: str, data: st.DataObject, name: str, tail: int, budget: int, summarised: bool
) -> None:
    stream = data.draw(chats(form)).stream.messages
    pins = data.draw(st.sets(st.sampled_from(ids(stream)))) if stream else set()
    stream = [with_pin(each, each.id in pins) for each in stream]

    def run(messages: Sequence[Stored], budget: int | None) -> Compaction:
        summarise: Callable[[Sequence[Fields]], str] | None = (lambda _: "So. " * 9) if summarised else None
        return compact(messages, chat_format(form), budget=budget, tail=tail, count=COUNTERS[name], summarise=summarise)

    after = run(stream, budget)
    must = what_may_not_go(stream, form, tail, COUNTERS[name])
    if must is not None and must <= budget:
        assert after.over_by == 0
    assert run(stream, budget) == after, "the same stream gives the same result"
    again = run(after.messages, budget)
    assert again.messages == after.messages or after.over_by, "a compaction that fits changes nothing the second time"
    new = {*ids(after.written)}
    assert {*ids(stream)} >= {each for each in ids(after.messages) if each not in new}, "nothing is invented"


# Plans told anew


@pytest.mark.parametrize(("size", "is_told_anew"), [(BODY_CAP // 3, False), (BODY_CAP // 2, True)])
def test_a_plan_is_told_anew_only_if_it_and_its_changes_exceed_the_cap(size: int, is_told_anew: bool) -> None:
    changes = [delta("d1", "x" * size), delta("d2", "y" * size)]
    stream: list[Stored] = [plan("p"), changes[0], user("u"), changes[1], plan("q", plan_id="q")]
    told = plan("merged", "- [x] a")
    state = FromState("s", lambda _: None, plan=lambda plan_id: told if plan_id == "main" else None)
    after = compact(stream, FORM, state=state)
    assert ids(after.messages) == (["u", "q", "merged"] if is_told_anew else ids(stream))
    assert ids(after.retired) == (["p", "d1", "d2"] if is_told_anew else [])
    asked_for = compact(stream, FORM, state=state, rebase=True)
    assert ids(asked_for.messages) == ["u", "q", "merged"]


# Summaries


def test_there_is_one_summary_for_each_set_of_steps() -> None:
    seen: list[list[str]] = []

    def summarise(messages: Sequence[Fields]) -> str:
        seen.append([each["content"] for each in messages])
        return f"summary {len(seen)}"

    def about(name: str, *steps: str) -> Ordinary:
        return said(name, answers(FORM.name, f"{name} {WORDS * 5}"), *steps)

    stream: list[Stored] = [user("task"), about("a", "s1"), about("b", "s3"), about("c"), about("d", "s1"), TWO]
    after = compact(stream, FORM, budget=330, tail=1, summarise=summarise)
    assert [[text.split()[0] for text in each] for each in seen] == [["a", "d"], ["b"], ["c"]]
    steps = [each.payload.get("steps") for each in after.written if isinstance(each, EventMessage)]
    assert steps == [["main#s1"], ["main#s3"], None]
    more = [*after.messages[:-1], about("e", "s1"), TWO]
    again = compact(more, FORM, budget=330, tail=1, summarise=summarise)
    assert [text.split()[0] for text in seen[-1]] == ["<event", "e"], "the summary of a step grows with it"
    counts = [each.payload["count"] for each in again.written if isinstance(each, EventMessage)]
    assert counts == [3]
