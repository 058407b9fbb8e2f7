"""The answer of get_plan, in pages: no answer is longer than a model's host can pass on, and nothing is left out.

A plan consists of its head, which is small and on every page, and pieces: steps, remarks, parts of its text, notes. The
pieces fill the pages in order. Almost every plan fits on one page.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from planwire.errors import ToolError
from planwire.model.authors import by_fields
from planwire.model.file_texts import ReadFile, no_files
from planwire.model.plan import Fields, PlanId
from planwire.model.readers import LEAD, plans_of
from planwire.model.records import PlanNote, SessionState
from planwire.model.text import shortened
from planwire.model.unheard import standing
from planwire.tools.examples import example
from planwire.tools.plan_value import Piece, plan_head, plan_pieces
from planwire.tools.schemas import GET_PLAN

#: The longest answer. A page leaves room for its head, and for the news that come with it.
ANSWER_CHARACTERS: Final = 200_000
NEWS_CHARACTERS: Final = 60_000
PAGE_CHARACTERS: Final = 110_000
#: The length of the parts of a text that is too long for a page. In JSON a character takes six at most.
PART_CHARACTERS: Final = 16_000
#: What is kept of a piece that can't be split: characters of its texts, and elements of its lists.
_LEFT: Final = (100, 20)

#: More bytes than all remarks can have: the pages limit how many a model gets at once.
_ALL: Final = 1 << 62

#: All notes of a plan, the oldest first.
ReadNotes: TypeAlias = Callable[[PlanId], Iterable[PlanNote]]


class _Page(NamedTuple):
    pieces: list[Piece]
    number: int
    of: int

    @property
    def turning(self) -> Fields:
        """Which page it is, and how to get the next; empty if there is only one."""
        if self.of == 1:
            return {}
        rest = f"call {GET_PLAN} with page: {self.number + 1}" if self.number < self.of else "this is the last page"
        return {"page": self.number, "pages": self.of, "more": rest}


def plan_page(
    state: SessionState,
    plan_id: PlanId,
    number: int = 1,
    detail: str = "full",
    read: ReadFile = no_files,
    reader: str = LEAD,
) -> Fields:
    """A page of the plan, with everything that people said to a reader and that still holds."""
    others = [Piece("other_plans", each) for each in plans_of(state, reader) if each not in (None, plan_id)]
    remarks = [Piece("remarks", each) for each in standing(state, most=_ALL, reader=reader).items]
    page = _page([*plan_pieces(state, plan_id, detail, read, remarks), *others], number)
    head = plan_head(state, plan_id, read)
    if head is not None and number == 1:
        head |= {"steps": []} | ({"notes": []} if detail == "full" else {})
    answer: Fields = {"plan": head}
    for piece in page.pieces:
        place = answer
        name = piece.name
        if name.startswith("plan."):
            place, name = answer["plan"], name.removeprefix("plan.")
        if piece.is_text:
            place[name] = place.get(name, "") + piece.value
        else:
            place.setdefault(name, []).append(piece.value)
    return {**answer, **page.turning}


def first_page(state: SessionState, plan_id: PlanId, read: ReadFile = no_files) -> Fields | None:
    """The plan as an error shows it."""
    page = plan_page(state, plan_id, read=read)
    plan: Fields | None = page["plan"]
    return plan if plan is None or "more" not in page else {**plan, "more": page["more"]}


def notes_page(plan_id: PlanId, notes: Iterable[PlanNote], number: int) -> Fields:
    """A page of all notes of a plan, the newest first."""
    pieces = [Piece("notes", {**by_fields(each.by), "text": each.text}) for each in notes][::-1]
    page = _page(pieces, number)
    return {"plan_id": plan_id, "noted": len(pieces), "notes": [each.value for each in page.pieces], **page.turning}


def size_of(value: Any) -> int:
    """The bytes of a value as JSON: at least as many as its characters."""
    return len(msgspec.json.encode(value))


def _page(pieces: Iterable[Piece], number: int) -> _Page:
    pages: list[list[Piece]] = [[]]
    room = PAGE_CHARACTERS
    for piece in (part for whole in pieces for part in _parts(whole)):
        size = size_of(piece.value) + len(piece.name) + 8
        if size > room and pages[-1]:
            pages.append([])
            room = PAGE_CHARACTERS
        pages[-1].append(piece)
        room -= size
    if not 1 <= number <= len(pages):
        hint = "leave page out for the first one"
        problem = f"there is no page {number}: there {'is 1' if len(pages) == 1 else f'are {len(pages)}'}"
        raise ToolError("invalid_arguments", problem, hint, example("page"))
    return _Page(pages[number - 1], number, len(pages))


def _parts(piece: Piece) -> Iterator[Piece]:
    """A piece, or its parts if it does not fit on a page."""
    if piece.is_text:
        yield from (Piece(piece.name, part, is_text=True) for part in _cut(piece.value))
        return
    if size_of(piece.value) <= PAGE_CHARACTERS:
        yield piece
        return
    field = next((name for name in ("content", "text") if len(_text(piece.value, name)) > PART_CHARACTERS), None)
    if field is None:
        yield Piece(piece.name, _trimmed(piece.value))
        return
    parts = _cut(piece.value[field])
    for number, part in enumerate(parts, start=1):
        rest = _trimmed({name: value for name, value in piece.value.items() if name != field})
        yield Piece(piece.name, {**rest, field: part, "part": f"{number} of {len(parts)}"})


def _text(value: Any, name: str) -> str:
    text = value.get(name) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


def _cut(text: str) -> list[str]:
    return [text[at : at + PART_CHARACTERS] for at in range(0, len(text), PART_CHARACTERS)]


def _trimmed(value: Any) -> Any:
    characters, elements = _LEFT
    if isinstance(value, str):
        return shortened(value, characters)
    if isinstance(value, dict):
        return {name: _trimmed(each) for name, each in value.items()}
    return [_trimmed(each) for each in value[:elements]] if isinstance(value, list) else value
