"""Correct calls, one for each argument, for errors to show."""

from typing import Final

from planwire.model.plan import PRIORITIES, Fields
from planwire.model.statuses import DEFAULT_STATUS, STATUSES, after_tick

#: The statuses in examples, for a step that is done and one that has begun.
FINISHED: Final = after_tick(DEFAULT_STATUS)
STARTED: Final = next(row.word for row in STATUSES.values() if row.is_current)

_ENTRY: Final = {"content": "Read the config", "priority": PRIORITIES[0], "status": STARTED}
#: The calls by argument.
EXAMPLES: Final[dict[str, Fields]] = {
    "entries": {"entries": [_ENTRY, "Write the parser"]},
    "content": {"content": "# Parser\n- [ ] Read the config\n- [ ] Write the parser\n"},
    "path": {"path": "plan.md"},
    "summary": {"entries": ["Read the config", "Write the parser"], "summary": "The old one is slow."},
    "replace": {"entries": ["Read the config"], "replace": True},
    "parent": {"entries": ["Read the config"], "plan_id": "research", "parent": "s2"},
    "plan_id": {"plan_id": "main"},
    "expected_revision": {"steps": {"s1": FINISHED}, "expected_revision": 3},
    "steps": {"steps": {"s1": FINISHED}},
    "add": {"add": [{"content": "Run the tests", "after": "s2"}]},
    "remove": {"remove": ["s3"]},
    "reword": {"reword": {"s2": "Write the parser by hand"}},
    "priority": {"priority": {"s2": PRIORITIES[0]}},
    "move": {"move": {"s3": "s1"}},
    "answers": {"answers": {"r1": "Done, and tested."}},
    "note": {"note": "The config is TOML."},
    "reason": {"reason": "The work is done."},
    "detail": {"detail": "brief"},
    "wait": {"wait": "review"},
    "page": {"page": 2},
    "notes": {"notes": True},
}


def example(*arguments: str) -> Fields:
    """The details of an error: the example for the first of the arguments that has one."""
    found = next((EXAMPLES[each] for each in arguments if each in EXAMPLES), None)
    return {"example": found} if found else {}
