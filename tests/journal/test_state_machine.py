"""Every engine against a model that is nothing but a dictionary, through whatever hypothesis thinks of."""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from planwire.errors import Conflict
from planwire.journal import KnownSession, Once, Snapshot, Stamped
from planwire.model.events import Event, MessageAdded, PlanSet, Recorded, TurnEnded
from tests.journal.test_contract import ENGINES
from tests.strategies import plan_ids, plans, texts

sessions = st.sampled_from(("a", "b", "c"))
events: st.SearchStrategy[Event] = st.one_of(
    texts.map(TurnEnded),
    plans(plan_ids).map(PlanSet),
    st.dictionaries(texts, texts | st.integers(-9, 9) | st.none(), max_size=3).map(MessageAdded),
)
keys = st.builds(Once, st.sampled_from(("page", "spool")), st.integers(0, 2))
stamped = st.builds(Stamped, st.integers(-(2**63), 2**63 - 1), texts, events)


class Machine(RuleBasedStateMachine):
    """A journal beside what it should hold."""

    engine = ""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.journal = ENGINES[self.engine](Path(self.folder.name))
        self.model: dict[str, list[Recorded]] = {}
        self.order: list[Recorded] = []
        self.snapshots: dict[tuple[str, str], Snapshot] = {}
        self.once: dict[tuple[str, Once | None], tuple[Recorded, ...]] = {}

    def teardown(self) -> None:
        self.journal.close()
        self.folder.cleanup()

    @rule(
        session=sessions,
        batch=st.lists(stamped, max_size=4),
        off=st.sampled_from((None, 0, 0, 1, -1)),
        once=st.none() | keys,
    )
    def append(self, session: str, batch: list[Stamped], off: int | None, once: Once | None) -> None:
        known = self.model.get(session, [])
        expected = None if off is None else len(known) + off
        if (session, once) in self.once:
            assert self.journal.append(session, batch, expected, once) == self.once[session, once]
            return
        if off:
            with pytest.raises(Conflict) as refused:
                self.journal.append(session, batch, expected, once)
            assert refused.value.current == len(known)
            return
        written = self.journal.append(session, batch, expected, once)
        assert written == tuple(
            Recorded(session, seq, each.at, each.by, each.event) for seq, each in enumerate(batch, len(known) + 1)
        )
        if written:
            self.model.setdefault(session, []).extend(written)
            self.order += written
        if written and once is not None:
            self.once[session, once] = written

    @rule(session=sessions, after=st.integers(-1, 9), upto=st.none() | st.integers(-1, 9))
    def read(self, session: str, after: int, upto: int | None) -> None:
        expected = [
            each for each in self.model.get(session, []) if each.seq > after and (upto is None or each.seq <= upto)
        ]
        assert list(self.journal.read(session, after, upto)) == expected

    @rule(session=st.none() | sessions)
    def follow(self, session: str | None) -> None:
        found = list(self.journal.follow(0, session=session, timeout=0))
        assert [each.recorded for each in found] == [each for each in self.order if session in (None, each.session)]
        assert all(one.position < other.position for one, other in pairwise(found))

    @rule(session=sessions, name=st.sampled_from(("state", "chat")), seq=st.integers(-1, 6), data=st.binary(max_size=9))
    def keep_snapshot(self, session: str, name: str, seq: int, data: bytes) -> None:
        self.journal.keep_snapshot(session, seq, data, name)
        kept = self.snapshots.get((session, name), Snapshot(1, b""))
        if kept.seq <= seq <= len(self.model.get(session, [])):
            self.snapshots[session, name] = Snapshot(seq, data)
        assert self.journal.snapshot(session, name) == self.snapshots.get((session, name))

    @rule(forgotten=st.lists(sessions, max_size=2))
    def forget(self, forgotten: list[str]) -> None:
        self.journal.forget(*forgotten)
        self.model = {name: known for name, known in self.model.items() if name not in forgotten}
        self.order = [each for each in self.order if each.session not in forgotten]
        self.snapshots = {key: kept for key, kept in self.snapshots.items() if key[0] not in forgotten}
        self.once = {key: written for key, written in self.once.items() if key[0] not in forgotten}

    @invariant()
    def the_same_sessions_are_known(self) -> None:
        assert self.journal.sessions() == [
            KnownSession(name, len(known), known[0].at, known[-1].at) for name, known in self.model.items()
        ]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_journal_does_what_a_dictionary_would(engine: str) -> None:
    machine: Any = type(Machine.__name__, (Machine,), {"engine": engine})
    run_state_machine_as_test(machine, settings=settings(max_examples=30, stateful_step_count=20, deadline=None))
