"""What people said survives whatever happens to a chat: after every compaction, restart and import the context holds
all that is open, once, and nothing that has ended; in between it only grows."""

import json
import random
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planwire import BlockingPlanSession, Entry, ItemsPlan, open_journal
from planwire.chat import block, said_in
from planwire.chat.narrate import remark_message
from planwire.errors import PlanError
from planwire.journal import Journal, Stamped
from planwire.journal.session_file import export_lines, read_export
from planwire.model.events import ACP, COMMENT, PlanSet
from planwire.model.plan import Fields
from planwire.model.readers import is_for
from planwire.model.records import TOOL, Remark, SessionState
from planwire.model.seen import changed_since
from planwire.model.unheard import standing
from planwire.session.options import ProviderFormat
from planwire.session.steering import steer
from planwire.session.writer import append_new
from planwire.steering.wanted import Wanted
from tests.chats import answered, answers, assert_a_provider_takes, calls, result, says
from tests.session.model_reader import texts

FORMATS = get_args(ProviderFormat)
PLANS = ("main", "wire")
MOVES = ("act", "act", "say", "say", "request", "compact", "rebase", "restart", "import", "move")


def in_blocks(context: list[Fields]) -> tuple[Counter[str], list[str]]:
    """The ids of the remarks that blocks of planwire's hold, in full or not; and the ids of those said to be closed."""
    held, closed = Counter[str](), []
    for text in texts(context):
        if not text.startswith("<plan-remarks>"):
            continue
        said_in(text)
        for each in ET.fromstring(text):
            if each.tag == "also-open":
                held.update((each.text or "").split())
            elif each.tag == "closed":
                closed.append(each.attrib["id"])
            elif "id" in each.attrib:
                held[each.attrib["id"]] += 1
    return held, closed


def in_answers(form: str, context: list[Fields]) -> set[tuple[str, str]]:
    """The requests and remarks of the answers of tools that are still there."""
    found = set()
    for message in context:
        for text in texts(message) if answered(form, message) else ():
            with suppress(ValueError):
                answer = json.loads(text)
                said = (*answer.get("people", ()), *answer.get("remarks", ()))
                ids = [*(each.get("id") for each in said), *answer.get("also_open", ())]
                found |= {(answer.get("said_in"), each) for each in ids}
    return found


def remarks(state: SessionState, reader: str | None = None, *, is_open: bool = False) -> list[Remark]:
    """All remarks, or those that a reader hears, or that are open."""
    records = [each for each in state.plans.values() if reader is None or is_for(state, each, reader)]
    return [each for record in records for each in record.remarks if each.is_open or not is_open]


def is_news(remark: Remark) -> bool:
    """Whether the agent can't know by itself that a remark has ended."""
    return remark.closed is not None and remark.closed.by != "agent" and remark.closed.how != "plan_ended"


def ended_by_telling(remark: Remark, state: SessionState) -> bool:
    """Whether a remark on a plan that was dismissed has ended because the last compaction told it."""
    end = remark.closed
    return end is not None and end.how == "plan_ended" and end.seq > state.compacted > 0


class Life:
    """A session of an agent and two people. Every move is an accident: the order, the texts, who and what."""

    def __init__(self, form: ProviderFormat, luck: random.Random) -> None:
        self.form, self.luck = form, luck
        self.journal: Journal = open_journal("memory:")
        self.session = "s"
        self.plans = self.opened()
        self.number = 0
        self.sent: list[Fields] = []
        self.plans.call("set_plan", {"entries": ["read", "write", "test"]})
        self.wire("pending")

    def opened(self) -> BlockingPlanSession:
        return BlockingPlanSession(self.journal, self.session, format=self.form)

    def word(self) -> str:
        self.number += 1
        return f"{self.luck.choice(('no', '<b>', 'tool-7', 'r1', '</plan-remarks>', 'long ' * 700))} {self.number}"

    # The agent

    def wire(self, status: str) -> None:
        """The agent reports a list of its own, on which people can only make suggestions."""
        entries = tuple(Entry(text, "medium", status) for text in ("a", "b"))
        event = PlanSet(ItemsPlan("wire", (*entries, Entry("c", "medium", "pending"))), via=ACP)
        self.journal.append(self.session, [Stamped(0, "agent", event)])

    def tool(self, name: str, **arguments: Any) -> None:
        """A call as a model makes it, with its result."""
        self.number += 1
        self.take(*calls(self.form, f"t{self.number}"))
        answer = self.plans.call(name, arguments)
        self.take(result(self.form, f"t{self.number}", str(answer)))

    def take(self, *messages: Fields) -> None:
        self.plans.add(*messages)

    def act(self) -> None:
        step = self.luck.choice(("s1", "s2", "s3", "s9"))
        status = self.luck.choice(("in_progress", "completed", "pending", "cancelled"))
        match self.luck.randrange(9):
            case 0:
                self.tool("set_plan", entries=self.luck.sample(["read", "write", "test", "ship"], 3))
            case 1:
                self.tool("update_plan", steps={step: status})
            case 2:
                self.tool("update_plan", note=self.word())
            case 3:
                self.tool("get_plan", detail=self.luck.choice(("full", "brief")))
            case 4 if known := remarks(self.plans.refresh()):
                self.tool("update_plan", answers={self.luck.choice(known).id: self.word()})
            case 5:
                self.wire(status)
            case 6:
                self.take(says(self.form, self.word()), answers(self.form, self.word()))
            case 7:
                self.take(*calls(self.form, f"open{self.number}"))  # and nobody answers
            case _:
                self.plans.end_turn()

    # The people

    def say(self) -> None:
        act = self.luck.choice(("comment", "comment", "request", "select", "suggest", "withdraw", "reopen", "approve"))
        known = [each.id for each in remarks(self.plans.refresh())] or ["r1"]
        step = self.luck.choice((None, "s1", "s2", "s3"))
        wanted = {
            "comment": Wanted("comment", step, text=self.word(), keep=self.luck.random() < 0.2),
            "request": Wanted("review", verdict="changes_requested", text=self.word()),
            "select": Wanted("select", steps=(step or "s2",)),
            "suggest": Wanted("reword", step or "s1", text=self.word()),
            "withdraw": Wanted("withdraw", self.luck.choice(known)),
            "reopen": Wanted("reopen", self.luck.choice(known)),
            "approve": Wanted("review", verdict="approved"),
        }[act]
        with suppress(PlanError):
            steer(self.journal, self.session, self.luck.choice(PLANS), wanted, by=self.luck.choice(("ann", "bob")))

    # What must hold

    def check(self, context: list[Fields], *, fresh: bool) -> None:
        """Every open remark is there once; in a context that was made anew nothing else is said of remarks."""
        state = self.plans.refresh()
        held, closed = in_blocks(context)
        answered = in_answers(self.form, context)
        for each in remarks(state, self.plans.reader):
            if each.is_open:
                telling = each.told or each.offered
                in_answer = telling is not None and telling.way == TOOL and (telling.request, each.id) in answered
                is_own = state.plans[each.plan_id].reader == self.plans.reader  # and not that of a child that may go on
                times = held[each.id] + in_answer
                assert times >= is_own, f"{each.id} is lost"
                is_stale_since = in_answer and each.offered not in (None, telling)
                assert not fresh or times <= 1 + is_stale_since, f"{each.id} is told {times} times"
            elif fresh and not ended_by_telling(each, state):
                assert held[each.id] == 0, f"{each.id} has ended"
                is_shown = each.told is not None and (each.told.request, each.id) in answered
                assert closed.count(each.id) == (is_shown and is_news(each)), f"{each.id} has ended, and is still shown"

    def request(self, *, fresh: bool) -> None:
        """A request to the provider, with the chat that the session keeps."""
        context = self.plans.context()
        assert_a_provider_takes(self.form, context)
        assert context[: len(self.sent)] == self.sent, "requests only grow"
        self.sent = context
        self.check(context, fresh=fresh)


def kept_by_planwire(life: Life, moves: int) -> None:
    for _ in range(moves):
        match life.luck.choice(MOVES):
            case "act":
                life.act()
            case "say":
                life.say()
            case "request":
                life.request(fresh=False)
            case "compact" | "rebase" as how:
                seq = life.plans.refresh().compacted
                if how == "rebase":
                    life.plans.rebase()
                else:
                    budget = life.luck.choice((None, 1, 300, 1_500, 100_000))
                    life.plans.compact(budget, tail=life.luck.randrange(8))
                life.sent = life.sent if life.plans.state.compacted == seq else []
                life.request(fresh=True)
            case "restart":
                life.plans = life.opened()
                life.request(fresh=False)
            case "import":
                imported_elsewhere(life)
            case _:
                moved_elsewhere(life)
                life.request(fresh=False)


def _is_stale_since(remark: Remark, state: SessionState) -> bool:
    """Whether other steps read differently than the agent was told with an open choice or change of them."""
    if remark.kind == COMMENT or not remark.is_open:
        return False
    known = {step for step in remark.told.stale if step not in remark.done} if remark.told else set()
    return known != {each.step for each in changed_since(remark, state.plans[remark.plan_id])}


def imported_elsewhere(life: Life) -> None:
    """The chat, added to another session: what people said holds there as it does here."""
    state = life.plans.refresh()
    with open_journal("memory:") as journal:
        other = BlockingPlanSession(journal, "other", format=life.form)
        exported = json.loads(life.plans.export())
        other.add(*({key: word for key, word in each.items() if key != "message_id"} for each in exported))
        context = other.context()
    answered = in_answers(life.form, context)
    in_answer = {
        each.id
        for each in remarks(state)
        if each.told
        and (each.told.way, (each.told.request, each.id) in answered) == (TOOL, True)
        and not _is_stale_since(each, state)
    }
    expected = said_in(block(remark_message("m", "s", standing(state, in_answer, 2**30))))
    found = [said for text in texts(context) if text.startswith("<plan-remarks>") for said in said_in(text)]
    assert Counter(found) == Counter(expected)


def moved_elsewhere(life: Life) -> None:
    """The whole session, exported and imported under another id."""
    data = "".join(export_lines(life.session, life.journal.read(life.session))).encode()
    life.session += "x"
    append_new(life.journal, life.session, [Stamped(e.at, e.by, e.event) for e in read_export(data, "file").events])
    life.plans = life.opened()


def kept_by_the_host(life: Life, moves: int) -> None:
    """A host that keeps its own list of messages, and asks for what to add to it."""
    messages: list[Fields] = life.plans.pending()
    plain = life.take
    life.take = lambda *new: messages.extend(new)  # type: ignore[method-assign]
    for _ in range(moves):
        match life.luck.choice(("act", "act", "say", "say", "pending", "pending", "again", "recap", "restart")):
            case "act":
                life.act()
            case "say":
                life.say()
            case "pending":
                messages += life.plans.pending()
                life.check(messages, fresh=False)
            case "again":
                first = life.plans.pending()
                assert not first or life.plans.pending(again=True) == first
                messages += first
                life.check(messages, fresh=False)
            case "recap":
                messages[:] = life.plans.recap()
                life.check(messages, fresh=True)
                assert life.plans.pending() == []
            case _:
                life.plans.settle()
                life.plans = life.opened()
                messages[:] = life.plans.pending()
                life.check(messages, fresh=True)
    life.take = plain  # type: ignore[method-assign]


@pytest.mark.parametrize("play", [kept_by_planwire, kept_by_the_host])
@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=max(1, settings().max_examples // 5))
@given(seed=st.integers(0, 2**32), moves=st.integers(10, 60))
def test_whatever_happens_all_that_is_open_is_told_and_nothing_that_ended(
    form: ProviderFormat, play: Callable[[Life, int], None], seed: int, moves: int
) -> None:
    play(Life(form, random.Random(seed)), moves)
