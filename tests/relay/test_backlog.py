"""The queue for the journal: what it keeps when it is full, and that it says what it did not keep."""

import pytest

from planwire.model.events import ACP, Event, Gap, PlanReviewed, PlanSet, SessionOpened, Told, TurnEnded
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.relay.actions import BY_RELAY, Meet, Record, RecordLine
from planwire.relay.backlog import TOO_FAST, Backlog


def a_plan(*contents: str, plan_id: str | None = None) -> PlanSet:
    return PlanSet(ItemsPlan(plan_id, tuple(Entry(text, "low", "pending") for text in contents)), via=ACP)


def of(event: Event, session: str = "s1") -> Record:
    return Record(session, event)


def streaming(content: str, session: str = "s1") -> Record:
    return Record(session, PlanSet(MarkdownPlan("p", content), via=ACP), streams=True)


def gap(count: int, session: str = "s1", why: str = TOO_FAST) -> Record:
    return Record(session, Gap(count, why), BY_RELAY)


def taken(backlog: Backlog, most_records: float = 1_000, most_bytes: float = 1_000_000) -> list[object]:
    return [each.action for each in backlog.take(most_records, most_bytes)]


def test_a_full_backlog_keeps_the_newest_word_on_everything_behind_a_gap() -> None:
    backlog = Backlog(most_records=2)
    first, second = of(a_plan("1")), of(a_plan("2"))
    rest = [of(each) for each in (a_plan("3"), a_plan("x", plan_id="q"), TurnEnded("a"), a_plan("4"), TurnEnded("b"))]
    for each in (first, second, *rest):
        backlog.put(each)
    assert backlog.displaced.total() == 2
    assert len(backlog) == 5
    assert taken(backlog) == [first, second, gap(2), rest[1], rest[3], rest[4]]
    assert taken(backlog) == []
    backlog.put(first)
    assert taken(backlog) == [first]


def test_a_gap_says_why_and_counts_no_repetitions() -> None:
    backlog = Backlog(most_records=1)
    backlog.put(of(TurnEnded("x")))
    for text in ("a", "a", "b", "c"):
        backlog.put(of(a_plan(text)))
    backlog.why = "the journal could not be written"
    for text in ("d", "e"):
        backlog.put(of(a_plan(text)))
    gaps = [gap(2), gap(2, why="the journal could not be written")]
    assert taken(backlog) == [of(TurnEnded("x")), *gaps, of(a_plan("e"))]
    assert backlog.displaced == {TOO_FAST: 2, "the journal could not be written": 2}


def test_a_backlog_is_bounded_in_bytes_too() -> None:
    backlog = Backlog(most_bytes=100)
    for number in range(10):
        backlog.put(of(a_plan(str(number))), size=60)
    assert len(backlog) == 2
    assert backlog.displaced.total() == 8


def test_a_backlog_is_taken_in_portions_and_in_order() -> None:
    backlog = Backlog(most_records=4)
    items = [of(a_plan(str(number))) for number in range(6)]
    for each in items:
        backlog.put(each, size=10)
    assert backlog.displaced.total() == 1  # the fifth, by the sixth
    assert taken(backlog, 2) == items[:2]
    assert backlog.wait(0)
    later = of(a_plan("later"))
    backlog.put(later, size=10)
    assert taken(backlog, most_bytes=25) == [*items[2:4], gap(1)]
    assert taken(backlog, most_bytes=1) == items[5:]  # never nothing
    assert backlog.wait(0)
    assert taken(backlog) == [later]
    assert not backlog.wait(0)


def test_sessions_take_turns_so_that_none_waits_for_the_flood_of_another() -> None:
    backlog = Backlog(most_records=10)
    for number in range(50):
        backlog.put(of(a_plan(str(number))))
    quiet: list[Meet | Record] = [
        Meet("s2", fresh=True),
        of(SessionOpened("agent 1", cwd="/p"), "s2"),
        of(a_plan("a"), "s2"),
    ]
    for each in quiet:
        backlog.put(each)
    assert [each for each in taken(backlog, 6) if each in quiet] == quiet
    assert backlog.displaced.total() == 39


def test_a_fork_waits_for_what_its_parent_had_before_it() -> None:
    backlog = Backlog()
    own = [of(a_plan(str(number))) for number in range(3)]
    forks = [Meet("s2", fresh=True, fork_of="s1"), Meet("s3", fresh=True, fork_of="s2")]
    items: list[Meet | Record] = [of(a_plan("a"), "s0"), *own, *forks, of(a_plan("later"))]
    for each in items:
        backlog.put(each)
    assert [each for each in taken(backlog) if each in (*own, *forks)] == [*own, *forks]


def test_what_is_left_in_the_end_is_the_newest_word_on_everything() -> None:
    """Records that were taken and not written come first; their gaps are counted once."""
    backlog = Backlog(most_records=4)
    opened = of(SessionOpened("agent 1", cwd="/p"))
    backlog.put(Meet("s1", fresh=True))
    for each in (opened, *(of(a_plan(str(number))) for number in range(8)), of(TurnEnded("x"))):
        backlog.put(each)
    held = backlog.take(3)
    backlog.put(of(a_plan("9")))
    backlog.reduce(held, "the end")
    gaps = [gap(3, why="the end"), gap(5)]
    assert taken(backlog) == [Meet("s1", fresh=True), *gaps, opened, of(TurnEnded("x")), of(a_plan("9"))]
    assert backlog.displaced == {TOO_FAST: 5, "the end": 3}
    backlog.reduce([], "the end")
    assert backlog.displaced.total() == 8


def test_the_first_that_waits_is_the_oldest_of_all_sessions() -> None:
    backlog = Backlog(most_records=1)
    for number, session in enumerate(("s1", "s2", "s1", "s1")):
        backlog.put(of(a_plan(str(number)), session))
    backlog.take(1)
    assert backlog.first is not None
    assert backlog.first.number == 2
    assert backlog.arrived == 4
    backlog.take()
    assert backlog.first is None


@pytest.mark.parametrize("texts", [("# 1234567", "# 12345678"), ("# a", "# 12345678")])
def test_what_was_taken_or_went_on_makes_room(texts: tuple[str, str]) -> None:
    backlog = Backlog(most_bytes=20)
    for text in texts:
        backlog.put(streaming(text), size=len(text))
    if texts[0] == "# a":
        backlog.take(1)
    for number in range(3):
        backlog.put(of(a_plan(str(number))), size=5)
    assert backlog.displaced.total() == 0
    assert len(backlog) == 4


@pytest.mark.parametrize("most_records", [1, 2, 100])
def test_a_text_that_streams_in_is_one_thing_that_waits(most_records: int) -> None:
    backlog = Backlog(most_records)
    backlog.put(of(TurnEnded("x")))
    for length in range(1, 20):
        backlog.put(streaming("# A text that goes on"[:length]))
    assert backlog.displaced.total() == 0
    assert taken(backlog) == [of(TurnEnded("x")), streaming("# A text that goes on"[:19])]


def test_a_text_that_does_not_go_on_is_no_beginning() -> None:
    backlog = Backlog()
    items = [streaming("# A"), streaming("# B"), of(PlanSet(MarkdownPlan("p", "# B c"), via=ACP)), streaming("# B c d")]
    for each in (*items, streaming("# B", "s2")):
        backlog.put(each)
    assert [each for each in taken(backlog) if each in items] == items


def test_words_on_several_things_do_not_displace_each_other() -> None:
    backlog = Backlog(most_records=1)
    events: list[Event] = [
        TurnEnded("x"),
        *(PlanReviewed(plan_id, 0, "approved") for plan_id in ("p", "q")),
        *(Told("prompt", 1, request=request) for request in ("a", "b")),
        SessionOpened("agent 1", "client", "/p"),
        SessionOpened(title="a title"),
    ]
    for each in events:
        backlog.put(of(each))
    assert taken(backlog) == [of(each) for each in events]


def test_a_title_displaces_the_one_before() -> None:
    backlog = Backlog(most_records=1)
    about = of(SessionOpened("agent 1", "client", "/p"))
    for each in (of(TurnEnded("x")), about, of(SessionOpened(title="a")), of(SessionOpened(title="b"))):
        backlog.put(each)
    assert taken(backlog) == [of(TurnEnded("x")), gap(1), about, of(SessionOpened(title="b"))]


def test_meetings_are_never_displaced() -> None:
    backlog = Backlog(most_records=1)
    for number in range(5):
        backlog.put(Meet(f"s{number}", fresh=True))
    assert len(backlog.take()) == 5


def test_a_line_is_a_word_on_the_plan_without_an_id() -> None:
    backlog = Backlog(most_records=1)
    lines = [RecordLine("s1", b"1"), RecordLine("s1", b"2", "a thought"), RecordLine("s1", b"3", "another")]
    for each in lines:
        backlog.put(each)
    assert taken(backlog) == [lines[0], gap(1), RecordLine("s1", b"3")]
