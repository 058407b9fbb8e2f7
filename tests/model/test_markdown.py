"""Checkboxes and titles in markdown texts."""

import pytest

from planwire.errors import UnknownStep, UnmarkableStatus
from planwire.model.identity import track
from planwire.model.markdown import MAX_PARSED_CHARACTERS, mark, parse, unmarked
from planwire.model.plan import MarkdownPlan
from planwire.model.steps import Progress

EVERY_BOX = "- [ ] open\n- [x] done\n- [X] done too\n- [~] at work\n- [-] dropped\n"

PROPOSAL = """\
# Move to UTF-8

Why: rows are lost.

## Steps

1. Find the writer
   - its tests too
2. Change *it*
"""

TRAPS = """\
Some prose with [ ] brackets.

- [ ] real
  with a second line
- [link](https://example.org) is no task
- [y] neither
- []neither
- [ ]neither

```
- [ ] code
```

    - [ ] indented code

<!--
- [ ] comment
-->

* - [x] nested on one line
> 3) [~] quoted and numbered
"""


def statuses(text: str) -> list[tuple[str, str]]:
    return [(task.text, task.status) for task in parse(text).tasks]


def test_every_kind_of_box_has_its_status() -> None:
    assert statuses(EVERY_BOX) == [
        ("open", "pending"),
        ("done", "completed"),
        ("done too", "completed"),
        ("at work", "in_progress"),
        ("dropped", "cancelled"),
    ]


def test_only_real_task_list_items_are_tasks() -> None:
    assert statuses(TRAPS) == [
        ("real with a second line", "pending"),
        ("nested on one line", "completed"),
        ("quoted and numbered", "in_progress"),
    ]


def test_nested_and_numbered_lists_have_their_depth() -> None:
    tasks = parse("1. [ ] a\n   - [ ] b\n     1. [ ] c\n2. [x] d\n").tasks
    assert [(task.text, task.depth) for task in tasks] == [("a", 0), ("b", 1), ("c", 2), ("d", 0)]


def test_a_proposal_has_a_title_and_no_tasks() -> None:
    document = parse(PROPOSAL)
    assert document.title == "Move to UTF-8"
    assert document.tasks == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [("## second\n# first\n", "first"), ("no heading\nmore", "no heading"), ("\n\n", ""), ("# \n\ntext", "#")],
)
def test_the_title_is_the_highest_heading_or_else_the_first_line(text: str, title: str) -> None:
    assert parse(text).title == title


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("# Title\n- [ ] a\n", False),
        ("# Title\n\nwhy\n\n- [ ] a\n", True),
        ("- [ ] a\n- plain item\n", True),
        ("- [ ] a\n\n  ```\n  code\n  ```\n", True),
        ("", False),
    ],
)
def test_prose_is_what_is_neither_heading_nor_task(text: str, prose: bool) -> None:
    assert parse(text).prose is prose


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("status", ["pending", "in_progress", "completed", "cancelled"])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_marking_a_task_changes_one_character(newline: str, status: str, index: int) -> None:
    text = TRAPS.replace("\n", newline)
    marked = mark(text, [(index, status)])
    assert parse(marked).tasks[index].status == status
    different = [(old, new) for old, new in zip(text, marked, strict=True) if old != new]
    assert len(different) == (0 if parse(text).tasks[index].status == status else 1)


def test_a_mark_that_is_there_already_is_left_as_it_is_written() -> None:
    assert mark("- [X] done", [(0, "completed")]) == "- [X] done"


def test_other_spellings_of_a_status_can_be_marked() -> None:
    assert mark("- [ ] a", [(0, "done")]) == "- [x] a"


def test_a_status_without_a_box_is_refused_with_those_that_have_one() -> None:
    with pytest.raises(UnmarkableStatus, match=r"'blocked'.*pending, in_progress, completed, cancelled"):
        mark("- [ ] a", [(0, "blocked")])


@pytest.mark.parametrize("index", [-1, 1])
def test_a_task_that_is_not_there_is_refused(index: int) -> None:
    with pytest.raises(UnknownStep, match="it has 1, counted from 0"):
        mark("- [ ] a", [(index, "completed")])


def test_unmarked_is_the_text_with_every_task_open() -> None:
    assert unmarked(EVERY_BOX) == "- [ ] open\n- [ ] done\n- [ ] done too\n- [ ] at work\n- [ ] dropped\n"


def test_a_text_over_the_limit_is_not_searched_for_tasks() -> None:
    text = "- [ ] a\n" + "x" * MAX_PARSED_CHARACTERS
    assert parse(text).tasks == ()
    assert parse(text).title == "- [ ] a"


CAPTURED = "# Plan\n\n1. Read the config\n2. Write the *parser*\n\n```py\nprint('x')\n```\n"


def numbered(text: str) -> list[str]:
    return [item.text for item in parse(text).items]


def test_the_items_of_a_numbered_list_are_steps_without_a_status() -> None:
    """As claude-agent-acp writes its plans."""
    state = track(MarkdownPlan("p", CAPTURED))
    assert [(step.id, step.content, step.status) for step in state.steps] == [
        ("s1", "Read the config", ""),
        ("s2", "Write the *parser*", ""),
    ]
    assert state.progress == Progress(0, 0)


def test_checkboxes_win_over_numbered_items() -> None:
    assert numbered("1. a\n2. b\n\n- [ ] c\n") == []
    assert [step.content for step in track(MarkdownPlan("p", "1. a\n2. [ ] b\n")).steps] == ["b"]


def test_what_is_nested_in_an_item_belongs_to_it() -> None:
    text = "1. Read\n   1. one file\n   - another\n\n   A second paragraph.\n2) no, another list\n"
    assert numbered(text) == ["Read", "no, another list"]
    assert parse(text).items[0].item == (0, 5)


def test_an_item_may_begin_with_a_heading() -> None:
    assert numbered("1. ### Setup\n   Do it.\n2. Run\n   ---\n3. ###\n") == ["Setup", "Run"]
    assert parse("1. Run\n   ---\n   it\n").items[0].words == (0, 2)


def test_all_numbered_lists_under_the_headings_of_a_plan_are_steps() -> None:
    assert numbered("## Build\n1. a\n2. b\n\n## Verify\n1. c\n\n- d\n\n> 1. quoted\n\n- e\n  1. nested\n") == [
        "a",
        "b",
        "c",
    ]


def test_a_numbered_plan_keeps_its_ids_when_it_gets_checkboxes() -> None:
    before = track(MarkdownPlan("p", CAPTURED))
    after = track(MarkdownPlan("p", "- [x] Read the config\n- [ ] Write the *parser*\n"), before)
    assert [(step.id, step.status) for step in after.steps] == [("s1", "completed"), ("s2", "pending")]


@pytest.mark.parametrize(("text", "texts"), [("- [ ] a\n- [x] b", ["a", "b"]), ("1. a\n2. b", ["a", "b"])])
def test_a_byte_order_mark_hides_no_step(text: str, texts: list[str]) -> None:
    marked = f"\ufeff{text}"
    assert [step.content for step in track(MarkdownPlan("p", marked)).steps] == texts
    assert parse(f"\ufeff# Plan\n\n{text}").title == "Plan"
    if "[ ]" in text:
        assert len(parse(f"\ufeff   {text}").tasks) == 2, "and it indents none"
        assert mark(marked, [(0, "completed")]) == f"\ufeff{text.replace('[ ]', '[x]')}"
