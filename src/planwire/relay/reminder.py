"""A reminder of the plan for an agent whose context may have lost it: one block of text at the end of a prompt.

It carries a mark, a random word with a checksum of the block, by which `echoes` knows it again.
"""

import re
from typing import Final
from zlib import crc32

from msgspec import structs

from planwire.chat.markup import element
from planwire.chat.narrate import merged_plans, remark_message
from planwire.chat.plan_tools import TOOL_NAMES
from planwire.chat.reminder import ELEMENT, HAS_TOOLS
from planwire.chat.render import block as rendered
from planwire.model.file_texts import ReadFile, no_files
from planwire.model.kinds import is_blank
from planwire.model.plan import BODY_CAP
from planwire.model.records import SessionState
from planwire.model.titles import plan_names
from planwire.model.unheard import Words
from planwire.relay.own_permissions import SERVER

__all__ = [
    "ANNOUNCED",
    "COMPACTED",
    "RESUMED",
    "STEERED",
    "announce",
    "block",
    "checksum",
    "remarks_in",
    "tell",
]

COMPACTED: Final = "Your context was compacted. This is the plan as it stands: go on from there."
RESUMED: Final = "This session was resumed. This is the plan as it stands: go on from there."
ANNOUNCED: Final = HAS_TOOLS
STEERED: Final = "A person said something about the plan. Take that into account, and update your plan if need be."

_TOOLS: Final = (
    f"{', '.join(TOOL_NAMES[:-1])} and {TOOL_NAMES[-1]} are on the MCP server {SERVER}; if you don't see them, search "
    "for these names. A plan that you make with them is shown to the user and outlives your context. "
    "(Added by planwire, which keeps the plan of this session.)"
)
_REMARK: Final = re.compile(r'^<(?:comment|request|selection|suggestion) id="(r[0-9]+)"', re.MULTILINE)
_BESIDES: Final = re.compile(r"^<also-open [^>]*>([r0-9 ]+)</also-open>", re.MULTILINE)
#: Half a tag or half an entity, at the end of a text that was cut.
_HALF: Final = re.compile(r"(?:<[^>]*|&[^;]*)$")
#: A tag that begins or ends an element: neither an empty one nor a character.
_ELEMENT_TAG: Final = re.compile(r"<(?!char )(?:[^>]*[^>/])>")


def announce() -> str:
    """The text for an agent whose model may not see the plan tools by itself."""
    return element("notice", f"{ANNOUNCED} {_TOOLS}", by="planwire")


def tell(
    why: str, state: SessionState, words: Words, read: ReadFile = no_files, *, announces_tools: bool = False
) -> str:
    """The text for the agent: its plans, and the words of people. `read` gives the texts of plan files."""
    parts = [element("notice", f"{why} (Added by planwire, which keeps the plan of this session.)", by="planwire")]
    if announces_tools:
        parts.append(announce())
    ids = {plan_id for plan_id, record in state.living().items() if not is_blank(record.state.plan)}
    plans = (each for each in merged_plans(state, ELEMENT, read) if each.plan["id"] in ids)
    names = plan_names([record.state.plan for record in state.plans.values()])
    named = (structs.replace(each, plan={**each.plan, "id": names[each.plan["id"]]}) for each in plans)
    parts += [_shortened(rendered(each)) for each in named]
    if words:
        items = tuple({**each, "plan_id": names.get(each["plan_id"], each["plan_id"])} for each in words.items)
        parts.append(rendered(remark_message(ELEMENT, state.id, structs.replace(words, items=items))))
    return "\n".join(parts)


def block(body: str, word: str) -> tuple[str, str]:
    """The mark and the text of a block, given a random word."""
    mark = f"{word}-{checksum(word, body)}"
    return mark, f'<{ELEMENT} mark="{mark}">\n{body}\n</{ELEMENT}>'


def remarks_in(text: str) -> tuple[str, ...]:
    """The ids of the open remarks that a block tells. No text in it can imitate an element."""
    besides = (remark for match in _BESIDES.finditer(text) for remark in match[1].split())
    return (*(match[1] for match in _REMARK.finditer(text)), *besides)


def checksum(word: str, body: str) -> str:
    """The second part of a block's mark."""
    return f"{crc32(f'{word}{body}'.encode('utf-8', 'replace')):08x}"


def _shortened(text: str) -> str:
    """A plan that fits into a prompt. A text ends where it has to, everything else at the end of an element."""
    encoded = text.encode()
    if len(encoded) <= BODY_CAP:
        return text
    kept = _HALF.sub("", encoded[:BODY_CAP].decode("utf-8", "ignore"))
    *_, last = _ELEMENT_TAG.finditer(kept)
    if last[0].startswith("<text"):
        kept += "\n</text>" if kept.startswith("\n", last.end()) else "</text>"
    elif not last[0].startswith(("<plan", "</")):
        kept = kept[: last.start()]
    left = len(encoded) - len(kept.encode())
    notice = element("notice", f"{left:,} bytes are left out here: get_plan or the plan's file has them", by="planwire")
    return "\n".join([kept.rstrip("\n"), notice, "</plan>"])
