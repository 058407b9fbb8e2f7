"""What an agent is told through a hook: all that holds if its context may lack it, otherwise what people said since.

The journal is the ledger, as everywhere: what was told by another way is not told again, and of parallel hooks the
first tells it. A text is short enough for the agent that takes least; what does not fit is cut, and `get_plan` has all.
"""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planwire.chat.reminder import ELEMENT
from planwire.chat.retelling import CLEARED, COMPACTED, RESUMED, STEERED, announce, retell
from planwire.hooks.happenings import Chance, Compacted, HookCall, OwnCall, Started
from planwire.hooks.recording import child_reader
from planwire.model.events import OFFERED, Told
from planwire.model.file_texts import ReadFile, no_files
from planwire.model.readers import LEAD, heard_by, plans_of, told_as
from planwire.model.records import HOOK, RECAP, SessionState
from planwire.model.unheard import Words, news, standing

#: The most bytes of a text. Codex takes 2,500 tokens, Claude Code 10,000 characters.
MOST_BYTES: Final = 7_900
#: The most of these that people's words may take.
_WORD_BYTES: Final = 3_500
#: The moments at which a text reaches the model.
_TELLING: Final = frozenset((Chance.START, Chance.PROMPT, Chance.TOOL))
#: Why the plans are told when a session begins again, by the way it began.
_WHY: Final = {"resume": RESUMED, "clear": CLEARED, "fork": RESUMED}


class HookText(Struct, frozen=True):
    """A text for the model, and the event of telling it, if it tells anything of the session."""

    text: str
    told: Told | None = None


def to_tell(
    state: SessionState, heard: HookCall, request: str, under_way: Sequence[Told] = (), read: ReadFile = no_files
) -> HookText | None:
    """What this hook is to tell, in this state of its session; None if nothing. `request` names the telling;
    `under_way` are the tellings that other hooks are about to make."""
    if heard.moment not in _TELLING or any(isinstance(each, OwnCall) for each in heard.what):
        return None  # planwire's own tools tell it themselves
    reader = child_reader(heard)
    others = [each for each in under_way if each.reader == told_as(reader)]
    why = _reason(state, heard, reader)
    if why is None or any(each.way == RECAP for each in others):
        since = max((heard_by(state, reader).told, *(each.upto for each in others)))
        without = {remark for each in others for remark in each.remarks}
        words = news(state, since=since, without=without, most=_WORD_BYTES, reader=reader)
        if not words:
            return _introduction(heard)
        text = _fitting(words, lambda told: retell(STEERED, state, told, plans=False, reader=reader))
        return HookText(text, _offer(HOOK, words, request, reader))
    words = standing(state, most=_WORD_BYTES, reader=reader)
    if not words and not plans_of(state, reader):
        return _introduction(heard)
    is_start = heard.moment is Chance.START
    room = MOST_BYTES - len(_framed(""))
    text = _fitting(
        words, lambda told: retell(why, state, told, read, announces_tools=is_start, most=room, reader=reader)
    )
    return HookText(text, _offer(RECAP, words, request, reader))


def _reason(state: SessionState, heard: HookCall, reader: str) -> str | None:
    """Why the agent has to be told all that holds, or None. A child begins with what its agent gives it. A session that
    goes on from another may not have heard all that holds when it began."""
    if reader != LEAD:
        return None
    origin = state.opened.forked if state.opened else None
    if origin is not None and state.recapped <= origin.seq:
        return CLEARED
    if any(isinstance(each, Compacted) for each in heard.what) or state.compacted > state.recapped:
        return COMPACTED
    return next((_WHY[each.source] for each in heard.what if isinstance(each, Started) and each.source in _WHY), None)


def _introduction(heard: HookCall) -> HookText | None:
    """Word of the tools for an agent that begins: some agents show no server's tools before the model asks for them."""
    is_beginning = heard.moment is Chance.START and heard.child is None
    return HookText(_framed(announce())) if is_beginning else None


def _offer(way: str, words: Words, request: str, reader: str) -> Told:
    return Told(way, words.upto, words.since, words.remarks, request, OFFERED, told_as(reader), words.stale)


def _fitting(words: Words, text_of: Callable[[Words], str]) -> str:
    """The text with as many words as fit: all of them, or only the ids of the remarks."""
    text = _framed(text_of(words))
    if len(text.encode()) <= MOST_BYTES:
        return text
    ids = [each["id"] for each in words.items if "id" in each]
    return _framed(text_of(replace(words, items=(), besides=(*ids, *words.besides))))


def _framed(body: str) -> str:
    return f"<{ELEMENT}>\n{body}\n</{ELEMENT}>"
