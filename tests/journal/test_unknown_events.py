"""Events that only a newer planwire knows: a journal with one reads, shows, follows, exports and forks all the same."""

import json
from pathlib import Path

import pytest

from planwire import BlockingPlanSession
from planwire.cli import main
from planwire.errors import DamagedJournal, UnstorableEvent
from planwire.journal import Journal, Stamped, load_state, open_journal
from planwire.journal.codec import decode, decode_event, encode_event
from planwire.journal.session_file import export_lines, read_export
from planwire.model.events import Event, PlanSet, SessionOpened, TurnEnded, UnknownEvent
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.sessions import Sessions
from planwire.readmodel.timeline import moments_of
from planwire.session.forks import fork_session
from tests.journals import items
from tests.waiting import until

#: As a newer planwire may write it: blanks, a number and an order of its own, and text of every kind.
TEXT = '{"why":{"b":1.50,"a":[1e3]}, "event":"plan_weighed","plan_id":"main","text":"Größe \\u2028"}'
NEWER = UnknownEvent("plan_weighed", TEXT)


def write(journal: Journal) -> None:
    events: list[Event] = [SessionOpened(cwd="/work"), PlanSet(items("main", "pending")), NEWER, TurnEnded("end_turn")]
    journal.append("s", [Stamped(at, "agent", event) for at, event in enumerate(events, start=1)])


def test_such_an_event_is_kept_byte_for_byte_and_read_as_what_it_is(journal: Journal) -> None:
    write(journal)
    events = [each.event for each in journal.read("s")]
    assert events[2] == NEWER
    assert encode_event(events[2]).decode() == TEXT
    assert NEWER.fields["why"] == {"b": 1.5, "a": [1000.0]}
    assert [each.recorded.event for each in journal.follow(0, timeout=0)] == events


def test_it_changes_nothing_but_the_number_and_the_time(journal: Journal) -> None:
    write(journal)
    state = load_state(journal, "s")
    assert (state.seq, state.at, state.stopped) == (4, 4, "end_turn")
    assert state.plans["main"].revision == 2


def test_a_history_says_that_a_newer_planwire_wrote_it(journal: Journal) -> None:
    write(journal)
    moment = list(moments_of(journal, "s", FilePlans().of))[2]
    assert moment.event == "plan_weighed"
    assert [word.text for word in moment.words] == ["an event of a newer planwire (plan_weighed)"]


def test_a_session_with_one_goes_on_live_and_takes_further_calls(journal: Journal) -> None:
    plans = BlockingPlanSession(journal, "s")
    sessions = Sessions(journal, FilePlans(), lambda _: None)
    sessions.start()
    until(lambda: not sessions.loading)
    write(journal)
    assert "error" not in plans.call("update_plan", {"steps": {"s1": "completed"}})
    until(lambda: any(each.last_seq == 5 and each.done == 1 for each in sessions.glances()))
    assert sessions.problem is None
    sessions.close()


def test_an_export_and_a_fork_have_all_of_it(journal: Journal) -> None:
    write(journal)
    text = "".join(export_lines("s", journal.read("s")))
    assert TEXT in text
    exported = read_export(text.encode(), "it")
    assert [each.event for each in exported.events] == [each.event for each in journal.read("s")]
    fork_session(journal, "s", "f", None, "ann")
    assert [each.event for each in journal.read("f")][2] == NEWER


def test_the_commands_show_it_and_a_hostile_name_is_printable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "j.db")
    with open_journal(path) as journal:
        write(journal)
        journal.append("s", [Stamped(5, "agent", UnknownEvent("x", json.dumps({"event": "a\x1b[2Jb"})))])
    assert main(["log", "s", "--journal", path]) == 0
    printed = capsys.readouterr().out
    assert "an event of a newer planwire (plan_weighed)" in printed
    assert "\x1b" not in printed
    for command in (["show", "s"], ["log", "s", "--json"], ["export", "s", "--format", "json"], ["sessions"]):
        assert main([*command, "--journal", path]) == 0
    assert "plan_weighed" in capsys.readouterr().out


def test_a_change_of_a_kind_that_is_unknown_makes_its_event_one_of_a_newer_planwire() -> None:
    text = '{"event":"plan_changed","plan_id":"main","changes":[{"do":"split","step":"s1"}]}'
    assert decode_event(text) == UnknownEvent("plan_changed", text)
    assert decode_event('{"event":"gap","count":1,"why":"w","more":1}') == decode_event(
        '{"event":"gap","count":1,"why":"w"}'
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"event":"plan_weighed"',
        '["plan_weighed"]',
        '{"event":5}',
        '{"type":"plan_weighed"}',
        '{"event":"gap","count":"many","why":""}',
        '{"event":"turn_ended"}',
        '{"event":"plan_weighed","a":\\ud800}',
    ],
)
def test_what_no_planwire_writes_is_damage(text: str) -> None:
    with pytest.raises(DamagedJournal, match="event 7 of session 's'"):
        decode("s", 7, 1, "agent", text)


def test_what_could_not_be_read_again_is_not_written(journal: Journal) -> None:
    with pytest.raises(UnstorableEvent):
        journal.append("s", [Stamped(1, "agent", UnknownEvent("x", "no JSON"))])
