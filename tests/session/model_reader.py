"""A model as planwire's words reach it: it knows the plans from its context alone, as the blocks there tell them."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

from planwire.chat.said import _text as text_of_element
from planwire.model.plan import MEDIUM, Fields
from planwire.model.records import PlanRecord

__all__ = ["ReadPlan", "assert_reads_as", "blocks", "read_plans", "texts"]

#: A step as a reader knows it: its id, text, status and priority.
ReadStep = tuple[str, str, str, str]


def texts(value: Any) -> Iterator[str]:
    """All strings in a message."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts(each)


def blocks(context: list[Fields], *names: str) -> Iterator[ET.Element]:
    """The blocks of a context with these names, in order."""
    for text in texts(context):
        if text.startswith(tuple(f"<{name}{end}" for name in names for end in " >")):
            yield ET.fromstring(text)


class ReadPlan:
    """A plan that blocks tell: its steps in order, the notes, and how many notes are only counted."""

    def __init__(self, block: ET.Element) -> None:
        self.version = int(block.attrib["version"])
        self.is_by_title = block.find("title") is not None
        self.is_text = block.find("text") is not None
        self.steps = [_step(each) for each in block.iter("step")]
        self.indexed = [each.attrib["step"] for each in block.iter("index")]
        self.notes = [text_of_element(each) for each in block.iter("note")]
        older = block.find("older-notes")
        self.uncounted = int(older.attrib["count"]) if older is not None else 0
        self.statuses: dict[str, str] = {}
        self.numbers: list[int] = []

    def take(self, update: ET.Element) -> None:
        """Take in a change."""
        self.numbers.append(int(update.attrib["seq"]))
        for each in update:
            match each.tag:
                case "note":
                    self.notes.append(text_of_element(each))
                case "add":
                    self._put(_step(each), each)
                case "move":
                    [moved] = [step for step in self.steps if step[0] == each.attrib["step"]]
                    self.steps.remove(moved)
                    self._put(moved, each)
                case "remove":
                    self.steps = [step for step in self.steps if step[0] != each.attrib["step"]]
                case "status" | "reword" | "priority" as field:
                    self._change(each.attrib["step"], field, text_of_element(each))

    def _put(self, step: ReadStep, place: ET.Element) -> None:
        if place.get("place") == "end":
            self.steps.append(step)
        else:
            before = [each[0] for each in self.steps]
            self.steps.insert(before.index(place.attrib["after"]) + 1 if place.get("after") else 0, step)

    def _change(self, step: str, field: str, word: str) -> None:
        self.statuses[step] = word if field == "status" else self.statuses.get(step, "")
        at = {"reword": 1, "status": 2, "priority": 3}[field]
        changed = [(*each[:at], word, *each[at + 1 :]) if each[0] == step else each for each in self.steps]
        self.steps = changed  # type: ignore[assignment]


def _step(each: ET.Element) -> ReadStep:
    words = each.get("status", "pending"), each.get("priority", MEDIUM)
    return each.attrib["id"], text_of_element(each), *words


def read_plans(context: list[Fields]) -> dict[str, ReadPlan]:
    """The plans that a context tells."""
    plans: dict[str, ReadPlan] = {}
    for block in blocks(context, "plan", "plan-update"):
        name = block.attrib["id"]
        if block.tag == "plan":
            plans[name] = ReadPlan(block)
        elif block.find("dismissed") is not None:
            plans.pop(name, None)
        elif name in plans:
            plans[name].take(block)
    return plans


def assert_reads_as(read: ReadPlan, record: PlanRecord) -> None:
    """A plan that was read is the one of a state: its version, steps, ids, statuses, their order, and its notes."""
    assert read.version == record.version
    if read.is_by_title:
        return
    assert read.numbers == sorted(set(read.numbers)), "changes are numbered in their order"
    assert not read.numbers or read.numbers[-1] == record.numbered
    if read.is_text:
        assert {*read.indexed} >= {each.id for each in record.state.steps}
        assert {each.id: each.status for each in record.state.steps}.items() >= read.statuses.items()
    else:
        assert read.steps == [(each.id, each.content, each.status, each.priority) for each in record.state.steps]
    assert len(read.notes) + read.uncounted == record.noted, "every note is told or counted"
    kept = [each.text for each in record.notes]
    assert read.notes[-len(kept) :] == kept if kept else not read.notes
