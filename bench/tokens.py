"""What a plan costs a model to write: output tokens in tool arguments, for planwire and for tools that send whole lists.

The story is one of every day: a plan of eighteen steps, each started and completed, five more discovered on the way, two
reworded, two cancelled, every change told as it happens: 45 calls after the first. The same story is told to each tool
in the arguments that it takes. Tokens are counted with o200k_base, offline.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from bench.figure import Cell, Figure, at_least
from planwire.calls import answer_call, prepare_call
from planwire.events import Recorded
from planwire.fold import SessionState, fold

__all__ = ["measure"]

STEPS = (
    "Reproduce the failing export with a minimal fixture",
    "Trace where rows are dropped in the writer",
    "Read how the importer detects encodings",
    "Write a regression test for umlauts",
    "Open files with an explicit encoding",
    "Replace the silent skip with an error",
    "Add a strict mode to the command line",
    "Document the new flag in the manual",
    "Migrate the nightly job's configuration",
    "Check memory use on the largest table",
    "Split the writer into format and transport",
    "Cover the transport with contract tests",
    "Update the changelog and version",
    "Run the benchmarks against the last release",
    "Ask the data team to verify a sample",
    "Backfill last week's broken exports",
    "Remove the deprecated locale helper",
    "Release and watch the first nightly run",
)
FOUND = (
    "Handle the byte order mark in old files",
    "Pin the locale in the container image",
    "Fix the flaky timeout in the export test",
    "Teach the importer about mixed encodings",
    "Rotate the logs of the nightly job",
)
ACTIVE = {"Write": "Writing", "Read": "Reading", "Run": "Running"}

Step = dict[str, str]


def story() -> Iterator[tuple[list[Step], dict[str, Any]]]:
    """The whole list after each change, and the change as planwire is told it, with the ids that planwire gives."""
    steps = [{"id": f"s{number}", "content": text, "status": "pending"} for number, text in enumerate(STEPS, 1)]
    found = iter(FOUND)
    for number in range(len(STEPS)):
        step = next(each for each in steps if each["id"] == f"s{number + 1}")
        step["status"] = "in_progress"
        yield steps, {"steps": {step["id"]: "in_progress"}}
        if number in (2, 5, 8, 11, 14):
            text = next(found)
            born = {"id": f"s{len(steps) + 1}", "content": text, "status": "pending"}
            steps.insert(steps.index(step) + 1, born)
            yield steps, {"add": [{"content": text, "after": step["id"]}]}
        if number in (4, 12):
            step["content"] += " and its callers"
            yield steps, {"reword": {step["id"]: step["content"]}}
        step["status"] = "completed"
        yield steps, {"steps": {step["id"]: "completed"}}
        if number in (6, 16):  # what was discovered turns out not to be needed
            dropped = next(each for each in steps if each["content"] in FOUND and each["status"] == "pending")
            dropped["status"] = "cancelled"
            yield steps, {"steps": {dropped["id"]: "cancelled"}}


def _active(text: str) -> str:
    verb, _, rest = text.partition(" ")
    return f"{ACTIVE.get(verb, verb + 'ing')} {rest}"


#: The arguments that tools with whole lists take, as their users' models write them.
FULL_LISTS: dict[str, Callable[[list[Step]], Any]] = {
    "Claude TodoWrite": lambda steps: {
        "todos": [
            {"content": each["content"], "status": each["status"], "activeForm": _active(each["content"])}
            for each in steps
        ]
    },
    "opencode todowrite": lambda steps: {
        "todos": [{"content": each["content"], "status": each["status"], "priority": "medium"} for each in steps]
    },
    "Codex update_plan": lambda steps: {
        "plan": [{"step": each["content"], "status": each["status"]} for each in steps]
    },
    "LangChain write_todos": lambda steps: {
        "todos": [{"content": each["content"], "status": each["status"]} for each in steps]
    },
}


def measure() -> Iterator[Figure]:
    import bpe_openai  # type: ignore[import-untyped]

    encode = bpe_openai.get_encoding("o200k_base").encode

    def tokens(value: Any) -> int:
        return len(encode(json.dumps(value, ensure_ascii=False, separators=(",", ":"))))

    first = [{"content": text, "status": "pending"} for text in STEPS]
    totals = {name: tokens(form(first)) for name, form in FULL_LISTS.items()}
    session = Session()
    own = tokens({"entries": list(STEPS)})
    answers = tokens(session.call("set_plan", {"entries": list(STEPS)}))
    changes = 0
    for steps, change in story():
        changes += 1
        for name, form in FULL_LISTS.items():
            totals[name] += tokens(form(steps))
        own += tokens(change)
        answers += tokens(session.call("update_plan", change))
        assert session.statuses() == [(each["id"], each["status"]) for each in steps], "one story for all"
    assert changes == 45
    for name, total in totals.items():
        slug = name.lower().replace(" ", "_")
        yield Figure(f"output_tokens_{slug}", total, "tokens", cell=Cell(name, "output tokens"))
    yield Figure("output_tokens_planwire", own, "tokens", cell=Cell("planwire", "output tokens"))
    yield Figure("answer_tokens_planwire", answers, "tokens", cell=Cell("planwire", "answers, in the prompt"))
    yield Figure("output_tokens_vs_best_full_list", min(totals.values()) / own, "x", at_least(15))


class Session:
    """A session in memory that answers tool calls."""

    def __init__(self) -> None:
        self.state = SessionState("bench")

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        before = self.state
        call = prepare_call(before, tool, arguments)
        for event in call.events:
            self.state = fold(self.state, Recorded("bench", self.state.seq + 1, 0, "agent", event))
        return answer_call(call, before, self.state)

    def statuses(self) -> list[tuple[str, str]]:
        return [(step.id, step.status) for step in self.state.plans["main"].state.steps]
