"""A session in which anything may happen, and what holds after each request whatever did.

Every message of an author has a word of its own, so that its way can be followed: it is in the context once, until a
compaction says that it left it out. A model that knows nothing but its context knows the plans as they are.
"""

import json
import random
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from planwire import BlockingPlanSession, Entry, open_journal
from planwire.chat import about_tokens
from planwire.chat.subkinds import EVENT_SUBKINDS
from planwire.errors import BadMessage, PlanError, Refused, ToolError
from planwire.model.children import parent_step
from planwire.model.plan import Fields
from planwire.model.readers import is_for, plans_of
from planwire.session.options import ProviderFormat
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.chat.test_every_item import CALLABLE, CLIENT, SERVER, Calls, answer, assert_the_package_takes, speak
from tests.chats import answers, assert_a_provider_takes, by_fours, calls, result, says
from tests.session.model_reader import assert_reads_as, blocks, read_plans
from tests.session.test_retelling import Life, remarks

__all__ = ["RandomLife", "plain_bytes"]

STATUSES = ("in_progress", "completed", "pending", "cancelled", "Done", "in progress")
PLAN_IDS = ("main", "other", "prose")
#: Names that authors give, some of which look like those that planwire gives.
PLANWIRES = ("m{0}", "plan-{0}", "delta-{0}", "told-{0}", "remarks-{0}", "rebase-{0}", "m-{0}-0000002a")
NAMES = (*PLANWIRES, "retired-plans", "summary:2:m{0}", "history:x:tick:2:m{0}", "plan-{0}-0000002a", "m{0}'", "x{0}")
BUDGETS = (None, 1, 200, 800, 3_000, 100_000)


def plain_bytes(message: Fields) -> int:
    """A counter that has nothing in common with tokens."""
    return len(json.dumps(message))


class Bridge(Calls):
    """The calls of every type that the packages know, in the chat of a session instead of a stream."""

    def __init__(self, life: "RandomLife") -> None:
        super().__init__(life.form)
        self.life = life

    def add(self, *parts: Fields, role: str) -> None:
        if self.life.form == "openai-responses":
            self.life.take(*parts)
        else:
            of_model = {"anthropic": "assistant", "gemini": "model"}[self.life.form]
            name = "content" if self.life.form == "anthropic" else "parts"
            self.life.take({"role": of_model if role == "assistant" else role, name: [*parts]})


class Mind:
    """What is known of one chat of a session: the words planted in it, by their names, and what it was last sent."""

    def __init__(self) -> None:
        self.planted: dict[str, str] = {}
        self.gone: set[str] = set()
        self.sent: list[Fields] = []


class RandomLife(Life):
    """An agent, its author, two people and sub-agents. `minds` are the chats by their readers."""

    def __init__(self, form: ProviderFormat, luck: random.Random) -> None:
        self.minds: dict[str, Mind] = {"": Mind()}
        self.children: dict[str, tuple[str, BlockingPlanSession]] = {}
        self.bridges: dict[str, Bridge] = {}
        self.lives = 0
        super().__init__(form, luck)

    # The chats

    @property
    def mind(self) -> Mind:
        return self.minds[self.plans.reader]

    @property
    def bridge(self) -> Bridge:
        return self.bridges.setdefault(self.plans.reader, Bridge(self))

    def plant(self, text: str) -> str:
        self.number += 1
        return f"{text} w{self.number}w"

    def take(self, *messages: Fields) -> None:
        """Add messages, each of which has its words and perhaps a name."""
        for message in messages:
            names = self.plans.add(message)
            found = [word for word in json.dumps(message).replace('"', " ").split() if _is_planted(word)]
            self.mind.planted |= dict.fromkeys(names, found[0]) if found else {}
            stored = {each["message_id"] for each in json.loads(self.plans.export())}
            assert not found or names[0] in stored, "a message is there under the name that `add` returned"

    def chat(self) -> None:
        """A turn of the author's own messages: named and unnamed ones, calls that are answered, late, or never."""
        match self.luck.randrange(7):
            case 0 | 1:
                self.take(self.named(says(self.form, self.plant("please"))))
            case 2:
                self.take(self.named(answers(self.form, self.plant("I will"))))
            case 3:
                self.parallel()
            case 4 if self.form in CALLABLE:
                who = [self.luck.choice((CLIENT, SERVER)) for _ in range(self.luck.randrange(3))]
                words = [self.luck.randrange(20)]
                speak(who, words, answered=self.luck.random() < 0.7)(self.bridge)
            case 5 if self.form in CALLABLE:
                answer(self.luck.choice((CLIENT, SERVER)), self.luck.randrange(3))(self.bridge)
            case _:
                with suppress(BadMessage):
                    self.take({**says(self.form, self.plant("again")), "message_id": self.any_name()})

    def any_name(self) -> str:
        """A name that an author gives, perhaps not for the first time."""
        return self.luck.choice(NAMES).format(self.luck.randrange(30))

    def named(self, message: Fields) -> Fields:
        if self.luck.random() < 0.5:
            return message
        self.number += 1
        name = self.luck.choice(NAMES[:-4]).format(self.luck.randrange(60))
        held = {each["message_id"] for each in json.loads(self.plans.export())}
        return message if name in held or name in self.mind.planted else {**message, "message_id": name}

    def parallel(self) -> None:
        """Calls at once, whose results come in any order, or not at all, with events of the session in between."""
        ids = [f"p{self.number}-{each}" for each in range(self.luck.randrange(1, 4))]
        self.number += 1
        self.take(*calls(self.form, *ids))
        self.luck.shuffle(ids)
        for each in ids[: self.luck.randrange(len(ids) + 1)]:
            if self.luck.random() < 0.3:
                with suppress(ToolError):
                    self.plans.note(self.word())
            self.take(result(self.form, each, self.plant("found")))

    # The author and the model

    def work(self) -> None:
        """The model's tools, or the author's methods."""
        plan_id = self.luck.choice((None, None, *PLAN_IDS)) if not self.plans.reader else None
        record = self.plans.refresh().live().get(plan_id or self.plans.plan_id)
        steps = [each.id for each in record.state.steps] if record else []
        has_list = record is not None and record.state.plan.kind == "items"
        with suppress(PlanError, ToolError):
            match self.luck.randrange(9):
                case 0:
                    self.set_plan(plan_id)
                case 1 if steps:
                    self.tool(
                        "update_plan", plan_id=plan_id, steps={self.luck.choice(steps): self.luck.choice(STATUSES)}
                    )
                case 2 if has_list:
                    place = {"after": self.luck.choice(steps)} if steps and self.luck.random() < 0.5 else {}
                    self.plans.change(plan_id, add=[{"content": self.word(), **place}])
                case 3 if has_list and steps:
                    self.alter(plan_id, steps)
                case 4:
                    self.tool("update_plan", plan_id=plan_id, note=self.word())
                case 5 if plan_id and self.luck.random() < 0.5:
                    self.tool("remove_plan", plan_id=plan_id)
                case 6:
                    self.tool("get_plan", plan_id=plan_id)
                case 7 if known := [each.id for each in remarks(self.plans.refresh(), self.plans.reader, is_open=True)]:
                    self.tool("update_plan", answers={self.luck.choice(known): self.word()})
                case _:
                    self.happen()

    def set_plan(self, plan_id: str | None) -> None:
        texts = self.luck.sample(["read", "write", "test", "ship", "ask", "rest"], self.luck.randrange(1, 5))
        if plan_id == "prose":
            self.plans.set("# Title\n" + "".join(f"- [ ] {text}\n" for text in texts), plan_id=plan_id)
        elif self.luck.random() < 0.5:
            self.tool("set_plan", plan_id=plan_id, entries=texts, replace=True, summary=self.word()[:40])
        else:
            self.plans.set([Entry(text, "high", "pending") for text in texts], plan_id=plan_id)

    def alter(self, plan_id: str | None, steps: Sequence[str]) -> None:
        step, other = self.luck.choice(steps), self.luck.choice(["", *steps])
        how: dict[str, Any] = self.luck.choice(
            (
                {"reword": {step: self.word()[:40]}},
                {"priority": {step: "low"}},
                {"move": {step: other}} if step != other else {"note": "n"},
                {"remove": [step]},
            )
        )
        self.plans.change(plan_id, **how)

    def happen(self) -> None:
        """An event of any subkind, a pin, or the end of a turn."""
        match self.luck.randrange(4):
            case 0 if self.mind.planted:
                with suppress(BadMessage):
                    self.plans.pin(self.luck.choice([*self.mind.planted]), pinned=self.luck.random() < 0.8)
            case 1:
                self.plans.end_turn()
            case _:
                subkind = self.luck.choice([*EVENT_SUBKINDS])
                payload = {"plan_id": "main"} if subkind == "plan_delta" else {"count": 3}
                word = self.plant("so")
                name = self.plans.event(subkind, word, source=self.luck.choice(("", "x")), **payload)
                self.mind.planted |= {} if subkind == "plan_delta" else {name: word.split()[-1]}

    def say(self) -> None:
        if not self.children or self.luck.random() < 0.6:
            super().say()
            return
        text, step = self.word(), self.luck.choice((None, "s1"))
        with suppress(PlanError, ToolError):
            wanted = Wanted("comment", step, text=text, keep=self.luck.random() < 0.5)
            steer(self.journal, self.session, self.luck.choice([*self.children]), wanted, by="ann")

    # Children

    def with_child(self, moves: int = 4) -> None:
        """A sub-agent works for a step of the lead's plan, in a chat of its own."""
        steps = [each.id for each in self.plans.refresh().plans["main"].state.steps]
        if not steps or self.plans.state.plans["main"].removed:
            return
        if not self.children or self.luck.random() < 0.3:
            step = self.luck.choice(steps)
            name = self.luck.choice((None, "research"))
            with suppress(PlanError, Refused, ToolError):
                child = self.plans.child(step, name)
                self.children[child.plan_id] = (step, child)
                self.minds.setdefault(child.plan_id, Mind())
        if not self.children:
            return
        lead, (_, self.plans) = self.plans, self.luck.choice([*self.children.values()])
        for _ in range(moves):
            self.luck.choice((self.chat, self.work, self.request_now, self.compact))()
        self.plans = lead

    # Other places

    def restart(self) -> None:
        self.plans = self.opened()
        self.children = {name: (step, self.child_again(name)) for name, (step, _) in self.children.items()}

    def child_again(self, name: str) -> BlockingPlanSession:
        child = self.children[name][1]._child
        assert child is not None
        return BlockingPlanSession(self.journal, self.session, format=self.form, child=child)

    def fork(self) -> None:
        """A fork goes on in the place of its parent, and the parent hears nothing of it."""
        parent, context = self.plans, self.plans.context()
        fork = parent.fork()
        assert fork.context() == context
        assert fork.state.opened
        assert fork.state.opened.forked
        assert fork.state.opened.forked.session == parent.id
        assert fork.id in str(parent.refresh().forks)
        self.session = fork.id
        self.restart()

    def carry_over(self) -> None:
        """The chat, exported and added to a session of another journal, goes on there in the place of this one."""
        exported = json.loads(self.plans.export())
        chats = {name: json.loads(child.export()) for name, (_, child) in self.children.items()}
        self.lives += 1
        self.session = self.luck.choice((self.session, f"life{self.lives}"))
        self.journal = open_journal("memory:")
        self.plans = self.opened()
        self.plans.add(*exported)
        self.children = {name: (step, self.child_again(name)) for name, (step, _) in self.children.items()}
        for name, (_, child) in self.children.items():
            child.add(*chats[name])
        for mind in self.minds.values():
            mind.sent = []
        self.request(fresh=True)

    def compact(self) -> None:
        before = self.plans.refresh().compacted
        made = self.plans.compact(
            self.luck.choice(BUDGETS),
            tail=self.luck.randrange(8),
            count=self.luck.choice((about_tokens, by_fours, plain_bytes)),
            summarise=self.luck.choice((None, lambda _: "A summary")),
            rebase=self.luck.random() < 0.2,
        )
        self.mind.gone |= {self.mind.planted[each] for each in made.left_out if each in self.mind.planted}
        if self.plans.state.compacted != before:
            self.mind.sent = []
            self.request(fresh=True)

    def rebase(self) -> None:
        before = self.plans.refresh().compacted
        self.plans.rebase()
        if self.plans.state.compacted != before:
            self.mind.sent = []
            self.request(fresh=True)

    # What must hold

    def request_now(self) -> None:
        self.request(fresh=False)

    def request(self, *, fresh: bool) -> None:
        open_calls = self.plans._view.stream._open
        if len(open_calls.calls) > len(open_calls.for_client):  # what planwire says waits for the server
            self.bridge.owed.clear()
            self.take(says(self.form, "Stop"))
        context, mind = self.plans.context(), self.mind
        assert context[: len(mind.sent)] == mind.sent, "requests only grow"
        for message in context[len(mind.sent) :]:
            assert_the_package_takes(self.form, message)
        assert_a_provider_takes(self.form, context)
        mind.sent = context
        self.check(context, fresh=fresh and not self.plans.reader)
        self.check_messages(context)
        self.check_plans(context)

    def check_messages(self, context: list[Fields]) -> None:
        whole, mind = json.dumps(context), self.mind
        for name, word in mind.planted.items():
            expected = (0,) if word in mind.gone else (1,)
            assert whole.count(word) in expected, f"{name} ({word}) is there {whole.count(word)} times"
        for reader, other in self.minds.items():
            if reader != self.plans.reader:
                assert not [word for word in other.planted.values() if word in whole], "a chat is its reader's alone"
        names = [each["message_id"] for each in json.loads(self.plans.export())]
        assert len(names) == len({*names}), "names are unique"

    def check_plans(self, context: list[Fields]) -> None:
        """A model that has only this context knows its plans as they are, and no plan of another reader."""
        state, reader = self.plans.state, self.plans.reader
        found, mine = read_plans(context), plans_of(state, reader)
        for plan_id, record in mine.items():
            assert_reads_as(found[plan_id or "main"], record)
        others = {name for name in found if name not in mine}
        told = {name for name in others if state.plans[name].ended and is_for(state, state.plans[name], reader)}
        assert others == told
        lines = [each for each in blocks(context, "event") if each.get("source") == "planwire.parent"]
        assert bool(lines) == bool(reader), "a child knows for which step it works"
        words = [(each.get("by"), each.text) for line in lines for each in line.iter("parent")]
        assert all(one != other for one, other in pairwise(words)), "and is told so once"
        if reader in state.plans and (works_for := parent_step(state, state.plans[reader].parent)):
            assert (words[-1][1] or "").split() == works_for[1].content.split(), "in the words that it has now"


def _is_planted(word: str) -> bool:
    return word[:1] == word[-1:] == "w" and word[1:-1].isdigit()
