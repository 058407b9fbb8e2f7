"""Plans that earlier sessions of the folder left unfinished. A model that has none is offered them, and has to ask for
one.

A host that starts again gets its plan back by one call; a second agent in the same folder begins one of its own, and
neither overwrites the other's.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from planwire.errors import EngineAway, ToolError
from planwire.journal import Journal
from planwire.readmodel.authors import program_name
from planwire.readmodel.away_words import go_by_last_known, is_away
from planwire.readmodel.card import PlanCard
from planwire.readmodel.cards import cards_of
from planwire.readmodel.folders import is_session_of_folder, unfinished_in_folder
from planwire.readmodel.followed_files import FilePlans
from planwire.tools.schemas import GET_PLAN, SESSION

#: The most sessions that are offered, the plans and open steps of each, and the characters of a text.
_SESSIONS: Final = 3
_PLANS: Final = 3
_STEPS: Final = 8
_CHARACTERS: Final = 120

_HOW: Final = (
    f"unfinished is earlier work in this folder. To go on with one of these, call {GET_PLAN} with its {SESSION}; else "
    "make a plan of your own. If it is in_use, another agent works on it: leave it, unless a person says otherwise"
)

_UNKNOWN: Final = "The journal's server is away: whether another agent works on one of them is not known now"


class Unfinished:
    """The earlier sessions of a folder. Its methods read the journal."""

    def __init__(self, journal: Journal, folder: Path) -> None:
        self._journal = journal
        self._folder = str(folder)

    def offer(self, own: str) -> dict[str, Any]:
        """The part of an answer that offers them; nothing if there are none besides the server's `own`. While the
        journal's server is away, they are those that this machine last knew."""
        go_by_last_known(self._journal)
        try:
            held = {each.session for each in self._journal.leases() if each.is_held}
            found = unfinished_in_folder(self._journal, self._folder, _SESSIONS + 1)
        except EngineAway:  # none was seen on this machine
            return {}
        offered: list[dict[str, Any]] = []
        for state in found:
            if state.id != own and len(offered) < _SESSIONS:
                cards = [card for card in cards_of(state, FilePlans((self._folder,)).of(state)) if not card.ended]
                plans = [_plan(card, (of := state.plans[card.id]).by, of.authors) for card in cards[:_PLANS]]
                agent = program_name((state.opened.agent if state.opened else None) or "") or "unknown"
                in_use = {"in_use": True} if state.id in held else {}
                offered.append({SESSION: state.id, "agent": _short(agent), **in_use, "plans": plans})
        how = f"{_HOW}. {_UNKNOWN}" if is_away(self._journal) else _HOW
        return {"unfinished": offered, "hint": how} if offered else {}

    def check(self, session: Any) -> str:
        """A session that a model wants to take up. Raises `ToolError` if the folder has none of that name."""
        if isinstance(session, str) and is_session_of_folder(self._journal, session, self._folder):
            return session
        known = [state.id for state in unfinished_in_folder(self._journal, self._folder, _SESSIONS)]
        hint = f"those with work left are: {', '.join(known) or 'none'}"
        raise ToolError("unknown_session", f"this folder has no session {session!r}", hint)


def _plan(card: PlanCard, by: str, authors: Mapping[str, str]) -> dict[str, Any]:
    """A plan with its author, and those of steps that others wrote."""
    rows = [row for row in card.rows if row.is_open][:_STEPS]
    steps = [{"id": row.id, "content": _short(row.text), "status": row.status} for row in rows]
    for step in steps:
        if step["id"] in authors:
            step["by"] = _short(authors[step["id"]])
    progress = f"{card.progress.done} of {card.progress.total} done"
    return {"plan_id": card.id, "title": _short(card.title), "by": _short(by), "progress": progress, "steps": steps}


def _short(text: str) -> str:
    return text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 1]}…"
