"""The why of a plan behind the relay: what an agent thought and said right before it, read when the plan comes."""

import json
import os
import subprocess
from pathlib import Path
from threading import Event
from time import time_ns

import pytest

from planwire.errors import JournalUnavailable
from planwire.journal import Journal, Thought, open_journal
from planwire.journal.thoughts import THOUGHT_CAP, MemoryThoughts, think
from planwire.model.events import ACP, PlanSet
from planwire.model.plan import Entry, ItemsPlan, MarkdownPlan
from planwire.own_process import own_command
from planwire.relay.actions import Action, Meet, Record, RecordLine, ToClient
from planwire.relay.backlog import Backlog
from planwire.relay.envelope import WORDS_OF_AGENT
from planwire.relay.framing import Sieve
from planwire.relay.journalled import JournalledSessions
from planwire.relay.pipe import Pipe
from planwire.relay.thoughts import MESSAGE_CAP, WINDOW, Overheard, SessionThoughts
from planwire.relay.thoughts import THOUGHT_CAP as THOUGHTS
from planwire.relay.wire_session import WireSession
from tests.agents.driving import SOON, Talk
from tests.waiting import until
from tests.wire import JSON, answer, entry, items, line, plan, request, text

SLOW = "The old parser is slow."


def thought(words: str, session: str = "s1", **more: JSON | str) -> bytes:
    return _said("agent_thought_chunk", words, session, **more)


def message(words: str, session: str = "s1", **more: JSON | str) -> bytes:
    return _said("agent_message_chunk", words, session, **more)


def whole(sort: str, *words: str, name: str) -> bytes:
    content = [{"type": "text", "text": each} for each in words]
    return line({"sessionUpdate": sort, "messageId": name, "content": content})


def _said(sort: str, words: str, session: str, **more: JSON | str) -> bytes:
    return line({"sessionUpdate": sort, "content": {"type": "text", "text": words}, **more}, session)


class Overhearing(Talk):
    """A talk in which lines of the agent's that nobody looks into pass by, as in a pipe."""

    def agent(self, line: bytes) -> list[bytes]:
        if Sieve(WORDS_OF_AGENT).skips(line + b"\n"):
            self.policy.overhear(line + b"\n")
            return [line]
        return super().agent(line)

    def hear(self, *lines: bytes) -> list[str]:
        """The reasons of the plans among these lines."""
        before = len(self.actions)
        for each in lines:
            self.agent(each)
        return [
            each.why
            for each in self.actions[before:]
            if isinstance(each, RecordLine) or (isinstance(each, Record) and isinstance(each.event, PlanSet))
        ]


@pytest.fixture
def talk() -> Overhearing:
    return Overhearing()


def why_of(*lines: bytes) -> str:
    overheard = Overheard()
    for each in lines:
        overheard.pass_by(each + b"\n")
    return SessionThoughts("s1", overheard).take()


# -- what counts


def test_thoughts_and_the_message_before_a_plan_are_its_why(talk: Overhearing) -> None:
    lines = thought("The old "), thought("parser is slow."), message("Let me "), message("plan."), plan(entry("a"))
    assert talk.hear(*lines) == [f"{SLOW}\n\nLet me plan."]


@pytest.mark.parametrize("made", [plan(entry("a")), items("p", entry("a")), text("p", "# Parser\n\nIn prose.")])
def test_every_kind_of_plan_has_a_why(made: bytes) -> None:
    assert Overhearing({"plan": {}}).hear(thought(SLOW), made) == [SLOW]


def test_a_list_that_takes_the_fast_way_has_a_why_too(talk: Overhearing) -> None:
    lists = [plan(entry(name)) for name in "abc"]
    assert talk.hear(lists[0], thought("First."), lists[1], thought("Then."), lists[2]) == ["", "First.", "Then."]
    assert isinstance(talk.actions[-1], RecordLine)


def test_words_count_for_one_plan_and_for_the_session_that_they_are_of(talk: Overhearing) -> None:
    talk.begin(session="s2")
    told = talk.hear(thought("mine"), thought("yours", "s2"), plan(entry("a")), plan(entry("b")))
    assert told == ["mine", ""]
    assert talk.hear(plan(entry("a"), session="s2")) == ["yours"]


def test_a_prompt_begins_anew(talk: Overhearing) -> None:
    talk.hear(thought("about something else"))
    talk.prompt()
    assert talk.hear(message("On it."), plan(entry("a"))) == ["On it."]


def test_a_turn_that_a_person_starts_from_planwire_begins_anew_too() -> None:
    overheard = Overheard()
    session = WireSession("s1", overheard, attached=False)
    overheard.pass_by(thought("about something else") + b"\n")
    session.begin_turn("planwire-1")
    [record] = session.hear(MarkdownPlan("p", "# Parser"))
    assert isinstance(record, Record)
    assert record.why == ""


def test_a_list_that_comes_again_takes_no_words_away(talk: Overhearing) -> None:
    same = plan(entry("a"))
    assert talk.hear(same, thought("One."), same, thought(" Two."), plan(entry("b"))) == ["", "One. Two."]


def test_history_that_is_retold_has_no_why(talk: Overhearing) -> None:
    talk.client(request("session/load", 9, sessionId="s1", cwd="/project", mcpServers=[]))
    talk.hear(thought("long ago"), plan(entry("a")), thought("also long ago"))
    talk.agent(answer(9, {}))
    assert [each.why for each in talk.actions if isinstance(each, Record) and isinstance(each.event, PlanSet)] == [""]
    assert talk.hear(thought("now"), plan(entry("b"))) == ["now"]


def test_words_that_are_looked_into_for_another_reason_count_too(talk: Overhearing) -> None:
    odd = thought('see "plan": it has "id"'), thought("!").replace(b"agent_", b"\\u0061gent_")
    assert not any(Sieve(WORDS_OF_AGENT).skips(each) for each in odd)
    assert talk.hear(*odd, plan(entry("a"))) == ['see "plan": it has "id"!']


def test_a_batch_of_words_counts() -> None:
    assert why_of(b"[" + thought("One ") + b"," + thought("two.") + b"]") == "One two."


@pytest.mark.parametrize(
    "broken",
    [
        b'{"params":{"sessionId":"s1","update":{"sessionUpdate":"agent_thought_chunk","content":"text"}}}',
        b'{"params":{"sessionId":"s1","update":{"sessionUpdate":"agent_thought_chunk","content":{"text":3}}}}',
        b'{"params":{"sessionId":"s1","update":"agent_thought_chunk"}}',
        b'{"params":"agent_thought_chunk"',
        b'[{"sessionUpdate":"agent_thought_chunk"},3]',
        b'"agent_\xff"',
        line({"sessionUpdate": "agent_thought_chunk", "content": None}),
        line({"sessionUpdate": "agent_seen", "content": {"type": "text", "text": "no words"}}),
    ],
)
def test_what_can_not_be_read_is_left_out(broken: bytes) -> None:
    assert why_of(broken, thought(SLOW), broken) == SLOW


# -- told once


def test_a_thought_that_is_repeated_whole_is_told_once() -> None:
    assert why_of(thought("The old "), thought("parser is slow."), thought(SLOW)) == SLOW
    assert why_of(thought(SLOW), message("So."), thought(SLOW)) == f"{SLOW}\n\nSo."


def test_short_pieces_that_are_the_same_are_no_repetition() -> None:
    assert why_of(thought("no "), thought("no "), thought("no")) == "no no no"


def test_a_whole_message_takes_the_place_of_its_pieces() -> None:
    pieces = thought("The o", messageId="t"), thought("ld", messageId="t")
    assert why_of(*pieces, whole("agent_thought", "The old parser ", "is slow.", name="t")) == SLOW


def test_messages_that_come_mixed_are_put_together_by_their_names() -> None:
    mixed = thought("One ", messageId="a"), thought("Two ", messageId="b"), thought("more.", messageId="a")
    assert why_of(*mixed) == "One more.\n\nTwo"


# -- bounds


def test_of_long_words_those_closest_to_the_plan_are_told() -> None:
    told = why_of(*(thought(f"{n} ") for n in range(5_000)), message("So."))
    assert told.startswith("…")
    assert told.endswith("4998 4999\n\nSo.")
    assert THOUGHTS - 10 < len(told.encode()) < THOUGHTS + 10
    told = why_of(message("x" * 5_000), thought("y" * 5_000))
    assert [len(each.encode()) for each in told.split("\n\n")] == [THOUGHTS, MESSAGE_CAP]
    assert len(told.encode()) == THOUGHT_CAP
    assert think(told).text == told


def test_what_passes_by_takes_bounded_memory() -> None:
    overheard = Overheard()
    piece = thought("word ") + b"\n"
    for _ in range(20):
        overheard.pass_by(piece * 500)
    overheard.pass_by(thought("x" * 2 * WINDOW) + b"\n")
    assert sum(map(len, overheard.lines(0))) <= WINDOW
    overheard.pass_by(thought(SLOW) + b"\n")
    assert SessionThoughts("s1", overheard).take().endswith(SLOW)


@pytest.mark.parametrize("behind", [b"\n", b"\n" + b"{}\n" * 9])
def test_of_a_thought_that_is_longer_than_all_that_is_kept_the_end_is_told(behind: bytes) -> None:
    overheard = Overheard()
    overheard.pass_by(thought("x" * 4 * WINDOW + SLOW) + behind)
    told = SessionThoughts("s1", overheard).take()
    assert told.endswith(f"x{SLOW}")
    assert len(told.encode()) == THOUGHTS


def test_lines_without_words_push_none_out() -> None:
    output = line({"sessionUpdate": "tool_call_update", "content": "y" * WINDOW})
    assert why_of(thought(SLOW), output, output) == SLOW


# -- in a pipe


def test_a_pipe_lets_words_pass_by_before_it_hears_what_comes_behind_them() -> None:
    seen: list[tuple[str, bytes]] = []
    source, ours = os.pipe()
    theirs, target = os.pipe()

    def hear(line: bytes) -> list[Action]:
        seen.append(("heard", line))
        return [ToClient(line)]

    ended = Event()
    passed = lambda data: seen.append(("passed", data))  # noqa: E731
    direction = Pipe(source, target, Sieve((b'"plan',)), hear, lambda _: None, ended.set, overhear=passed)
    sent = b'one\ntwo\n{"plan":1}\nthree\n{"plan":2}\nfour\n'
    os.write(ours, sent)
    direction.start()
    until(lambda: len(seen) == 5)
    os.write(ours, b"five\n")
    os.close(ours)
    assert ended.wait(SOON)
    assert os.read(theirs, 1_000) == sent + b"five\n"
    order = [("passed", b"one\ntwo\n"), ("heard", b'{"plan":1}\n'), ("passed", b"three\n"), ("heard", b'{"plan":2}\n')]
    assert seen == [*order, ("passed", b"four\n"), ("passed", b"five\n")]


# -- in the journal


def a_plan(*names: str) -> PlanSet:
    return PlanSet(ItemsPlan(None, tuple(Entry(name, "low", "pending") for name in names)), via=ACP)


class Kept:
    """Sessions in a journal in memory."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.sessions = JournalledSessions(lambda _session, _memory: None)
        self.sessions.take(journal, Meet("s1", fresh=True), 0)

    def record(self, event: PlanSet, why: str = "", *, streams: bool = False) -> None:
        now = time_ns() // 1_000_000
        self.sessions.take(self.journal, Record("s1", event, why=why, streams=streams), now)
        self.sessions.write(self.journal)

    def whys(self) -> list[str]:
        """The why of each event: a digest stands for a thought that is not there."""
        self.sessions.write(self.journal, all_streams=True)
        digests = [each.event.why for each in self.journal.read("s1") if isinstance(each.event, PlanSet)]
        found = self.journal.thoughts.find("s1", digests)
        return [found[digest].text if digest in found else digest for digest in digests]


@pytest.fixture
def kept(journal: Journal) -> Kept:
    return Kept(journal)


def test_the_journal_holds_a_digest_and_the_text_lies_beside_it(kept: Kept) -> None:
    kept.record(a_plan("a"), SLOW)
    kept.record(a_plan("a", "b"))
    assert kept.whys() == [SLOW, ""]
    assert SLOW not in str(list(kept.journal.read("s1")))


def test_a_plan_that_changes_nothing_writes_nothing_whatever_was_thought(kept: Kept) -> None:
    kept.record(a_plan("a"), SLOW)
    kept.record(a_plan("a"), "Another thought.")
    assert kept.whys() == [SLOW]


def test_a_thought_that_comes_again_is_kept_once(kept: Kept) -> None:
    kept.record(a_plan("a"), SLOW)
    kept.record(a_plan("b"), SLOW)
    digests = {each.event.why for each in kept.journal.read("s1") if isinstance(each.event, PlanSet)}
    assert len(digests) == 1
    assert kept.whys() == [SLOW, SLOW]


def test_a_text_that_streams_in_has_the_why_that_came_before_its_first_piece(kept: Kept) -> None:
    for content, why in (("# Pa", SLOW), ("# Parser", ""), ("# Parser, new", "")):
        kept.record(PlanSet(MarkdownPlan("p", content), via=ACP), why, streams=True)
    assert kept.whys() == [SLOW]


def test_a_text_that_waits_for_the_journal_keeps_its_why_as_it_grows() -> None:
    backlog = Backlog()
    for content, why in (("# Pa", SLOW), ("# Parser", "")):
        backlog.put(Record("s1", PlanSet(MarkdownPlan("p", content), via=ACP), streams=True, why=why))
    [arrived] = backlog.take()
    assert isinstance(arrived.action, Record)
    assert arrived.action.why == SLOW


def test_while_too_much_waits_no_why_is_kept_but_every_last_plan() -> None:
    backlog = Backlog(most_records=1)
    for name in "abc":
        backlog.put(Record("s1", a_plan(name), why=SLOW), size=10)
    assert [each.action.why for each in backlog.take() if isinstance(each.action, Record)] == [SLOW, "", ""]


class _Broken(MemoryThoughts):
    def keep(self, session: str, thought: Thought) -> None:

        raise JournalUnavailable("the disk is full")


def test_thoughts_that_can_not_be_kept_cost_the_why_and_nothing_else(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.record(a_plan("a"), SLOW)
    monkeypatch.setattr(kept.journal, "thoughts", _Broken())
    kept.record(a_plan("b"), "lost")
    monkeypatch.undo()
    kept.record(a_plan("c"), "kept")
    assert kept.whys() == [SLOW, "", "kept"]


def test_a_thought_is_kept_before_the_event_that_holds_its_digest(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    known: list[int] = []
    keep = kept.journal.thoughts.keep

    def look(session: str, thought: Thought) -> None:
        keep(session, thought)
        known.append(kept.journal.last_seq(session))

    monkeypatch.setattr(kept.journal.thoughts, "keep", look)
    kept.record(a_plan("a"), SLOW)
    assert known == [0]
    assert kept.whys() == [SLOW]


# -- as a process


def test_the_thoughts_of_a_real_agent_are_kept_and_never_told_to_it(tmp_path: Path) -> None:
    said, journal = tmp_path / "said.jsonl", tmp_path / "journal.db"
    lines = [thought("The old parser "), thought("is slow."), message("Let me plan."), plan(entry("Write it"))]
    said.write_bytes(b"".join(each + b"\n" for each in lines))
    command = [*own_command(), "relay", "--journal", str(journal), "--", "cat", str(said)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SOON)
    assert done.stdout == said.read_bytes()
    assert done.stderr == b""
    with open_journal(journal) as opened:
        [event] = [each.event for each in opened.read("s1") if isinstance(each.event, PlanSet)]
        [kept] = opened.thoughts.find("s1", [event.why]).values()
    assert kept.text == f"{SLOW}\n\nLet me plan."
    assert SLOW.encode() not in journal.read_bytes()


def test_no_thought_comes_back_with_a_prompt(talk: Overhearing) -> None:
    talk.prompt()
    talk.hear(thought(SLOW), plan(entry("Write it"), entry("Test it")))
    talk.end_turn()
    talk.learn()
    talk.agent(line({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"}))
    told = json.dumps(talk.prompt("Go on.", message_id="q"))
    assert "Write it" in told
    assert SLOW not in told
