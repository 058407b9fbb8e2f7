"""A hook that became the full program: no other process could answer it, or it holds a plan until a person decides.

`thin_hook` calls these in its own process, which nothing may keep for long: whatever is wrong, it ends without a word.
"""

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from planwire.errors import PlanwireError
from planwire.hooks.agent_process import agent_process
from planwire.hooks.agents import read_hook
from planwire.hooks.drained import open_journal_of
from planwire.hooks.draining import HookDrainer
from planwire.hooks.happenings import Chance
from planwire.hooks.hooked_sessions import HookedSessions
from planwire.hooks.thin_hook import PATIENCE, say
from planwire.journal.waiting import MOMENT

#: Seconds between two looks whether another process has drained the spool.
_GLANCE: Final = 0.003


def tell_now(folder: str, answer: str) -> None:
    """Drain the spool, and so answer the hook of this process too, unless another process does so meanwhile."""
    place = Path(folder)
    until = monotonic() + PATIENCE
    with open_journal_of(place, MOMENT) as journal:
        drainer = HookDrainer(journal, place)
        while not drainer.lock.acquire():
            if (place / "answers" / answer).exists() or monotonic() > until:
                return
            sleep(_GLANCE)
        try:
            drainer.drain()
        finally:
            drainer.lock.release()


def ask(folder: str, note: Mapping[str, str], body: bytes) -> None:
    """Hold the plan of a hook back until a person has decided, and say what they did. Where no one can be asked, since
    the journal can't be used, this ends at once."""
    from planwire.hooks.reviewing import hold_review, leave_undecided  # noqa: PLC0415  (a hook that tells has no time)

    payload = read_hook(body, note.get("agent"), note.get("variables", "").split())
    if payload is None or payload.heard.moment is not Chance.REVIEW:
        return
    place = Path(folder)
    with ExitStack() as opened:
        try:
            journal = opened.enter_context(open_journal_of(place))
            sessions = HookedSessions(journal, place)
            session = sessions.name_of(payload)
        except PlanwireError:
            leave_undecided(payload, say)
            return
        drainer = HookDrainer(journal, place)

        def drain() -> None:
            with suppress(OSError):
                if drainer.has_work:
                    with drainer.lock as is_held:
                        if is_held:
                            drainer.drain()
                            drainer.mark_news()

        if hold_review(journal, payload, say, session=session, drain=drain):
            sessions.let_rest(session, agent_process(note.get("ancestors", "")))


def settle(folder: str) -> None:
    """Record that this hook has told its text. If another process drains, that one records it."""
    place = Path(folder)
    with open_journal_of(place, MOMENT) as journal:
        drainer = HookDrainer(journal, place)
        with drainer.lock as is_held:
            if is_held:
                drainer.settle()
