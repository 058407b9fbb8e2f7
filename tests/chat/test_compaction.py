"""Compaction: the table of classes row by row, plans byte for byte, budgets, and what holds for any stream."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planwire.chat import (
    ChatStream,
    Compaction,
    EventMessage,
    Ordinary,
    PlanMessage,
    Stored,
    about_tokens,
    block,
    chat_format,
    compact,
    read_stream,
    write_message,
    write_stream,
)
from planwire.chat.markers import past_plans
from planwire.chat.roles import NEVER, class_of
from planwire.model.plan import Fields
from tests.chats import FORMATS, assert_a_provider_takes, calls, chats, delta, event, plan, rendered, result, says
from tests.strategies import a_third_each

FORM = chat_format("openai-chat")


def talk(number: int, words: str = "words " * 40, prefix: str = "u") -> list[Stored]:
    """Messages of a person."""
    return [Ordinary(f"{prefix}{each}", says(FORM.name, words)) for each in range(number)]


def ids(messages: Iterable[Stored]) -> list[str]:
    return [message.id for message in messages]


def texts(compaction: Compaction) -> list[str]:
    return [message["content"] for message in rendered(FORM.name, compaction.messages)]


# The table, row by row


def test_never_plans_and_their_changes_stay_byte_for_byte_wherever_they_stand() -> None:
    kept: list[Stored] = [
        plan("p", "# Ünïcode </plan>\n- [ ] a", version=3, colour="red"),
        delta("d1", "a note", seq=1),
        delta("d2", "", seq=2, changes=[{"do": "status", "step": "s1", "status": "completed"}]),
    ]
    stream: list[Stored] = [*talk(3), kept[0], *talk(3, prefix="v"), kept[1], kept[2], *talk(3, prefix="w")]
    after = compact(stream, FORM, budget=0, tail=0)
    assert write_stream(each for each in after.messages if class_of(each) == NEVER) == write_stream(kept)


def test_drop_on_age_goes_before_the_tail_and_stays_inside_it() -> None:
    stream: list[Stored] = [event("t1", "tick"), *talk(2), event("t2", "tick"), *talk(1, prefix="v")]
    assert ids(compact(stream, FORM, tail=2).messages) == ["u0", "u1", "t2", "v0"]


def test_drop_on_age_keeps_the_newest_mode_switch() -> None:
    stream: list[Stored] = [event("m1", "mode_switch"), event("m2", "mode_switch"), *talk(3), event("t", "tick")]
    assert ids(compact(stream, FORM, tail=2).messages) == ["m2", "u0", "u1", "u2", "t"]
    later = [*stream, event("m3", "mode_switch")]
    assert ids(compact(later, FORM, tail=2).messages) == ["u0", "u1", "u2", "t", "m3"]


@pytest.mark.parametrize("subkind", ["process_completed", "cron_fire"])
def test_keep_recent_n_keeps_the_newest_of_each_source_and_counts_the_rest(subkind: str) -> None:
    stream: list[Stored] = [event(f"{source}{number}", subkind, source) for number in range(5) for source in ("a", "b")]
    after = compact(stream, FORM, tail=4)
    assert texts(after)[:2] == [
        f'<event-history source="a">2 earlier {subkind} events</event-history>',
        f'<event-history source="b">2 earlier {subkind} events</event-history>',
    ]
    assert ids(after.messages)[2:] == ["a2", "b2", "a3", "b3", "a4", "b4"]
    assert ids(compact(stream, FORM, recent=1).messages)[2:] == ["a4", "b4"]


def test_keep_recent_n_counts_each_subkind_apart() -> None:
    stream: list[Stored] = [
        event(f"{kind}{n}", kind, "s") for n in range(3) for kind in ("process_completed", "cron_fire")
    ]
    assert compact(stream, FORM).messages == tuple(stream)


@pytest.mark.parametrize("subkind", ["tool_decision", "ide_callback", "verifier_report"])
def test_preserve_window_stays_inside_the_tail_only(subkind: str) -> None:
    stream: list[Stored] = [event("w1", subkind), *talk(2), event("w2", subkind), *talk(1, prefix="v")]
    assert ids(compact(stream, FORM, tail=2).messages) == ["u0", "u1", "w2", "v0"]


@pytest.mark.parametrize("subkind", ["summarization_marker", "cancellation_note", "system_notice", "of_tomorrow"])
def test_preserve_anchor_stays_while_there_is_room_and_is_summarised_then(subkind: str) -> None:
    stream: list[Stored] = [event("a", subkind, content="words " * 60), *talk(2)]
    assert compact(stream, FORM, tail=1).messages == tuple(stream)
    after = compact(stream, FORM, budget=180, tail=1)
    [marker] = after.written
    assert marker.event["payload"]["sources"][0] == "a"  # type: ignore[union-attr]
    assert "a" in after.left_out


def test_messages_of_one_kind_go_oldest_first_until_the_rest_fits() -> None:
    stream = [Ordinary("task", says(FORM.name, "Do it")), *talk(10)]
    total = sum(about_tokens(message.message) for message in stream if isinstance(message, Ordinary))
    after = compact(stream, FORM, budget=total // 2, tail=2)
    assert total // 4 < after.tokens_after <= total // 2
    assert after.over_by == 0
    number = len(after.left_out)
    assert after.left_out == tuple(ids(stream)[1 : number + 1])
    assert texts(after)[1].count(f"{number} earlier messages were left out here") == 1
    assert ids(after.messages)[2:] == ids(stream)[number + 1 :]


def test_nothing_goes_if_everything_fits() -> None:
    stream: list[Stored] = [*talk(3), plan("p"), delta("d")]
    after = compact(stream, FORM, budget=10_000)
    assert (after.messages, after.written, after.left_out) == (tuple(stream), (), ())
    assert after.tokens_after == after.tokens_before
    assert compact([], FORM, budget=0).messages == ()


def test_system_and_developer_messages_stay() -> None:
    system = Ordinary("s", {"role": "system", "content": "Be kind"})
    developer = Ordinary("d", {"role": "developer", "content": "Be brief"})
    after = compact([system, *talk(4), developer, *talk(4, prefix="v")], FORM, budget=0, tail=0)
    assert ids(after.messages) == ["s", after.written[0].id, "d"]


def test_a_message_that_is_shorter_than_its_marker_stays() -> None:
    stream: list[Stored] = [Ordinary("u", says(FORM.name, "Hi")), plan("p")]
    after = compact(stream, FORM, budget=0, tail=0)
    assert ids(after.messages) == ["u", "p"]
    assert after.over_by == after.tokens_after


def test_what_was_said_before_a_plan_stays_before_it() -> None:
    stream: list[Stored] = [*talk(3), plan("p"), *talk(3, prefix="v"), delta("d", seq=1), *talk(3, prefix="w")]
    after = compact(stream, FORM, budget=0, tail=0)
    first, second = after.written
    assert ids(after.messages) == [first.id, "p", second.id, "d"]


# Calls and results


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("tail", range(1, 9))
def test_calls_stay_with_their_results(form: str, tail: int) -> None:
    chat = [says(form, "Go"), *calls(form, "a", "b"), result(form, "a", "x" * 400), result(form, "b"), says(form, "Ok")]
    stream: list[Stored] = [Ordinary(f"m{number}", message) for number, message in enumerate(chat)]
    after = compact(stream, chat_format(form), budget=0, tail=tail)
    shown = list(rendered(form, after.messages))
    assert_a_provider_takes(form, shown)
    assert "late_result" not in str(shown)
    assert "cancelled" not in str(shown)


@pytest.mark.parametrize("form", FORMATS)
def test_calls_that_nobody_answered_hold_nothing_together(form: str) -> None:
    """A file may have been written by someone who stores no cancelled results."""
    stream: list[Stored] = [Ordinary(f"c{number}", message) for number, message in enumerate(calls(form, "a"))]
    stream += [Ordinary(f"u{number}", says(form, "words " * 40)) for number in range(8)]
    after = compact(stream, chat_format(form), budget=0, tail=2)
    assert ids(after.messages)[1:] == ["u6", "u7"]


# Plans of the past


def test_superseded_plans_are_not_shown_any_more_and_stay_stored() -> None:
    done = [{"do": "status", "step": "s1", "status": "completed"}]
    old = delta("d1", seq=1, changes=done)
    stream: list[Stored] = [plan("p1"), old, plan("p2", version=2), delta("d2", "new", seq=2)]
    after = compact(stream, FORM)
    assert ids(after.messages) == ["p2", "d2"]
    assert ids(after.retired) == ["p1", "d1"]
    again = ChatStream(FORM, read_stream(write_stream(after.stream)))
    assert again.context() == list(rendered(FORM.name, after.messages))
    assert [write_message(each) for each in again.messages if each.id in ("p1", "d1")] == [
        write_message(each) for each in stream[:2]
    ]


def test_a_note_outlives_the_version_that_it_was_made_on() -> None:
    """Notes belong to the plan. planwire's own versions repeat or count them; those of other programs don't."""
    note = delta("d1", "KEY rotates", seq=1)
    stream: list[Stored] = [plan("p1"), note, plan("p2", version=2), *talk(20)]
    for again in (stream, compact(stream, FORM, tail=0).stream):
        after = compact(again, FORM, tail=0)
        assert ids(after.messages)[:2] == ["d1", "p2"]
        assert note in after.messages
    for known in ({"notes": [{"by": "agent", "text": "KEY rotates"}]}, {"notes": [], "noted": 1}):
        assert "d1" in ids(compact([plan("p1"), note, plan("p2", version=2, **known)], FORM).retired)


def test_removed_plans_go_together_with_the_word_that_removed_them() -> None:
    stream: list[Stored] = [
        plan("p", plan_id="x"),
        plan("q"),
        delta("d", "", "x", seq=1),
        delta("r", "", "x", removed=True),
    ]
    after = compact(stream, FORM)
    assert ids(after.messages) == ["q"]
    assert ids(after.retired) == ["p", "d", "r"]


def test_a_plan_that_was_removed_and_set_again_is_shown() -> None:
    stream: list[Stored] = [plan("p"), delta("r", removed=True), plan("p2", version=2)]
    assert ids(compact(stream, FORM).messages) == ["p2"]


def test_of_two_messages_with_one_version_the_later_one_counts() -> None:
    """A plan and its changes that were folded into one message keep their version."""
    stream: list[Stored] = [plan("p"), delta("d", seq=1), plan("merged")]
    assert ids(compact(stream, FORM).messages) == ["merged"]
    late: list[Stored] = [plan("p2", version=2), plan("p1", version=1)]
    assert ids(compact(late, FORM).messages) == ["p2"]
    below_zero: list[Stored] = [plan("p1", version=-2), plan("p2", version=-1), plan("p3", version=-3)]
    assert ids(compact(below_zero, FORM).messages) == ["p2"]


def test_a_stream_that_was_compacted_before_keeps_the_plans_of_the_past() -> None:
    stream: list[Stored] = [plan("p1"), plan("p2", version=2), *talk(3)]
    once = compact(stream, FORM)
    twice = compact([*once.stream, plan("p3", version=3)], FORM)
    assert ids(twice.retired) == ["p1", "p2"]
    assert ids(twice.stream)[:3] == ["retired-plans", "p1", "p2"]
    assert once.tokens_after == sum(map(about_tokens, rendered(FORM.name, once.stream)))
    assert twice.tokens_before == once.tokens_after + about_tokens(FORM.context(block(plan("p3", version=3))))


# Summaries


def test_a_summariser_is_given_what_the_model_saw_and_its_text_stands_for_it() -> None:
    seen: list[Sequence[Fields]] = []

    def summarise(messages: Sequence[Fields]) -> str:
        seen.append(messages)
        return "They talked."

    stream: list[Stored] = [*talk(4), plan("p"), *talk(4, prefix="v"), *talk(2, prefix="w")]
    after = compact(stream, FORM, budget=0, tail=2, summarise=summarise)
    assert [len(each) for each in seen] == [4, 4]
    assert seen[0][0] == says(FORM.name, "words " * 40)
    assert [text.count("They talked.") for text in texts(after)] == [1, 0, 1, 0, 0]
    sources = [marker.event["payload"]["sources"] for marker in after.written]  # type: ignore[union-attr]
    assert sources == [ids(stream[:4]), ids(stream[5:9])]


def test_a_summariser_takes_no_more_segments_than_needed() -> None:
    stream: list[Stored] = [*talk(5), plan("p"), *talk(4, prefix="v"), *talk(2, prefix="w")]
    before = compact(stream, FORM).tokens_after
    after = compact(stream, FORM, budget=before - 20, tail=2, summarise=lambda _: "Short.")
    assert len(after.written) == 1
    assert after.left_out == ("u1", "u2")


def test_a_summary_that_saves_nothing_is_not_used_and_its_messages_are_counted() -> None:
    after = compact(talk(2), FORM, budget=0, tail=0, summarise=lambda _: "words " * 1_000)
    assert ids(after.messages) == ["summary:2:u0"]
    short: list[Stored] = [Ordinary(f"u{number}", says(FORM.name, "Hi")) for number in range(2)]
    assert compact(short, FORM, budget=0, tail=0, summarise=lambda _: "Long. " * 9).messages == tuple(short)


# Again and again


def test_markers_of_earlier_compactions_are_counted_in_and_replaced() -> None:
    stream: list[Stored] = [event(f"e{number}", "cron_fire", "cron") for number in range(5)]
    for round_ in range(1, 4):
        stream = list(compact(stream, FORM).messages)
        stream += [event(f"r{round_}-{number}", "cron_fire", "cron") for number in range(5)]
    after = compact(stream, FORM)
    assert texts(after)[0] == '<event-history source="cron">17 earlier cron_fire events</event-history>'
    assert [each.subkind for each in after.messages if isinstance(each, EventMessage)].count("cron_fire") == 3
    assert len(after.messages) == 4
    assert after.written[0].id == "history:cron:cron_fire:17:e0"


def test_messages_that_were_left_out_before_are_counted_in() -> None:
    stream = talk(20)
    for round_ in range(5):
        after = compact(stream, FORM, budget=400, tail=2)
        stream = [*after.messages, *talk(5, prefix=f"r{round_}-")]
    markers = [each for each in after.messages if isinstance(each, EventMessage)]
    [marker] = markers
    shown = len(after.messages) - 1
    assert marker.payload["count"] == 20 + 4 * 5 - shown
    assert marker.id == f"summary:{marker.payload['count']}:u1", "the task is there to the last"
    assert compact(after.messages, FORM, budget=400, tail=2).messages == after.messages


def test_a_marker_alone_is_not_replaced_by_itself() -> None:
    after = compact(talk(6), FORM, budget=0, tail=0)
    again = compact(after.messages, FORM, budget=0, tail=0)
    assert again.messages == after.messages
    assert again.written == ()


# Over the budget


def test_what_may_never_go_may_exceed_the_budget_and_it_says_by_how_much() -> None:
    stream: list[Stored] = [plan("p", "- [ ] a\n" * 200), *talk(2)]
    after = compact(stream, FORM, budget=100, tail=0)
    assert isinstance(after.messages[0], PlanMessage)
    assert after.over_by == after.tokens_after - 100 > 0


def test_the_tail_is_never_summarised() -> None:
    stream = talk(10)
    after = compact(stream, FORM, budget=0, tail=4)
    assert ids(after.messages)[1:] == ids(stream)[6:]
    assert after.over_by > 0


def test_another_counter_may_be_given() -> None:
    after = compact(talk(10), FORM, budget=4, tail=2, count=lambda _: 1)
    assert (after.tokens_before, after.tokens_after) == (10, 4)


# What holds for any stream


@pytest.mark.parametrize("form", FORMATS)
@a_third_each
@given(st.data(), st.none() | st.integers(0, 400), st.integers(0, 12), st.integers(0, 3), st.booleans())
def test_any_stream_can_be_compacted(
    form: str, data: st.DataObject, budget: int | None, tail: int, recent: int, summarised: bool
) -> None:
    stream = data.draw(chats(form)).stream.messages
    found = chat_format(form)

    def run(messages: Sequence[Stored]) -> Compaction:
        summarise = (lambda _: "So.") if summarised else None
        return compact(messages, found, budget=budget, tail=tail, recent=recent, summarise=summarise)

    after = run(stream)
    written = set(ids(after.written))
    kept = [message for message in after.messages if message.id not in written]

    assert run(stream) == after, "the same stream gives the same result"
    assert ids(kept) == [each for each in ids(stream) if each not in after.left_out], "in order, and nothing else"
    assert set(ids(stream)) == {*ids(kept), *after.left_out}
    assert len(set(ids(after.stream))) == len(after.stream)

    past = past_plans(stream)
    never = [each for index, each in enumerate(stream) if class_of(each) == NEVER and index not in past]
    assert write_stream(each for each in kept if class_of(each) == NEVER) == write_stream(never)

    shown = list(rendered(form, after.messages))
    assert_a_provider_takes(form, shown)
    assert list(rendered(form, after.stream)) == shown
    if budget is not None:
        assert after.over_by == max(0, after.tokens_after - budget)

    again = run(after.stream)
    assert again.tokens_before == after.tokens_after
    assert again.tokens_after <= after.tokens_after
