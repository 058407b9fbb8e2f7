"""The plans of a session retold to its agent, as a text for a context that may have lost them.

The relay puts the text into a prompt, and a hook answers with it. What does not fit is left out, and the text says so:
finished steps go first, then the end.
"""

import re
from typing import Final

from msgspec import structs

from planwire.chat.markup import element
from planwire.chat.narrate import merged_plans, remark_message
from planwire.chat.plan_tools import SERVER, TOOL_NAMES
from planwire.chat.reminder import ELEMENT, HAS_TOOLS
from planwire.chat.render import block as rendered
from planwire.model.file_texts import ReadFile, no_files
from planwire.model.kinds import is_blank
from planwire.model.plan import BODY_CAP
from planwire.model.readers import LEAD
from planwire.model.records import SessionState
from planwire.model.statuses import STATUSES
from planwire.model.titles import plan_names
from planwire.model.unheard import Words

COMPACTED: Final = "Your context was compacted. This is the plan as it stands: go on from there."
RESUMED: Final = "This session was resumed. This is the plan as it stands: go on from there."
CLEARED: Final = "Your context was cleared. This was the plan: go on from there, or replace it if it is over."
STEERED: Final = "A person said something about the plan. Take that into account, and update your plan if need be."
ANNOUNCED: Final = HAS_TOOLS

_TOOLS: Final = (
    f"{', '.join(TOOL_NAMES[:-1])} and {TOOL_NAMES[-1]} are on the MCP server {SERVER}; if you don't see them, search "
    "for these names. A plan that you make with them is shown to the user and outlives your context. "
    "(Added by planwire, which keeps the plan of this session.)"
)
_OVER: Final = [word for word, status in STATUSES.items() if not status.is_open]
#: A finished step in a rendered plan. No text can imitate it.
_FINISHED: Final = re.compile(rf'<step [^>]*status="(?:{"|".join(_OVER)})"[^>]*>.*?</step>\n', re.DOTALL)
#: Half a tag or half an entity at the end of a cut text.
_HALF: Final = re.compile(r"(?:<[^>]*|&[^;]*)$")
#: A tag that begins or ends an element: neither an empty one nor a character.
_ELEMENT_TAG: Final = re.compile(r"<(?!char )(?:[^>]*[^>/])>")
#: Bytes for the line that says what is left out.
_NOTICE: Final = 160


def announce() -> str:
    """The text for an agent whose model may not see the plan tools by itself."""
    return element("notice", f"{ANNOUNCED} {_TOOLS}", by="planwire")


def retell(
    why: str,
    state: SessionState,
    words: Words,
    read: ReadFile = no_files,
    *,
    announces_tools: bool = False,
    plans: bool = True,
    most: int | None = None,
    reader: str = LEAD,
) -> str:
    """The text for a reader: its `plans`, and what people said. `read` returns the texts of plan files. A plan gets at
    most `BODY_CAP` bytes, or the whole text at most `most` if given: then what people said has priority."""
    parts = [element("notice", f"{why} (Added by planwire, which keeps the plan of this session.)", by="planwire")]
    if announces_tools:
        parts.append(announce())
    names = plan_names([record.state.plan for record in state.plans.values()])
    said = _remarks(state, words, names)
    texts = _plans(state, read, names, reader) if plans else []
    if most is None:
        parts += [_shortened(each, BODY_CAP) for each in texts]
    else:
        room = most - sum(len(each.encode()) + 1 for each in (*parts, *said))
        for number, text in enumerate(texts):
            told = _fitted(text, max(room // (len(texts) - number), _NOTICE))
            room -= len(told.encode()) + 1
            parts.append(told)
    return "\n".join([*parts, *said])


def _plans(state: SessionState, read: ReadFile, names: dict[str | None, str], reader: str) -> list[str]:
    ids = {plan_id for plan_id, record in state.living().items() if not is_blank(record.state.plan)}
    plans = (each for each in merged_plans(state, ELEMENT, read, reader) if each.plan["id"] in ids)
    return [rendered(structs.replace(each, plan={**each.plan, "id": names[each.plan["id"]]})) for each in plans]


def _remarks(state: SessionState, words: Words, names: dict[str | None, str]) -> list[str]:
    if not words:
        return []
    items = tuple({**each, "plan_id": names.get(each["plan_id"], each["plan_id"])} for each in words.items)
    return [rendered(remark_message(ELEMENT, state.id, structs.replace(words, items=items)))]


def _fitted(text: str, most: int) -> str:
    """A plan in at most `most` bytes: without finished steps if need be, the oldest going first, and then cut off."""
    size = len(text.encode())
    if size <= most:
        return text
    gone, count = list[tuple[int, int]](), 0
    for found in _FINISHED.finditer(text):
        if size <= most - _NOTICE:
            break
        size -= len(found[0].encode())
        gone.append(found.span())
        count += 1
    for start, end in reversed(gone):
        notice = element("notice", f"{count} finished steps are left out: get_plan has them", by="planwire")
        text = text[:start] + (f"{notice}\n" if start == gone[0][0] else "") + text[end:]
    return _shortened(text, most)


def _shortened(text: str, most: int) -> str:
    """A plan in about `most` bytes. A text is cut anywhere, everything else at the end of an element."""
    encoded = text.encode()
    if len(encoded) <= most:
        return text
    kept = _HALF.sub("", encoded[:most].decode("utf-8", "ignore"))
    *_, last = _ELEMENT_TAG.finditer(kept)
    if last[0].startswith("<text"):
        kept += "\n</text>" if kept.startswith("\n", last.end()) else "</text>"
    elif not last[0].startswith(("<plan", "</")):
        kept = kept[: last.start()]
    left = len(encoded) - len(kept.encode())
    notice = element("notice", f"{left:,} bytes are left out here: get_plan or the plan's file has them", by="planwire")
    return "\n".join([kept.rstrip("\n"), notice, "</plan>"])
