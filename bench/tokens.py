"""What writing a plan costs a model: output tokens in tool arguments, for planwire and for tools that take whole lists.

The story is an everyday one: a plan of eighteen steps, each started and completed, five more discovered on the way, two
reworded, two cancelled, and every change told as it happens: 45 calls after the first. Each tool is told the same story
in the arguments that it takes. o200k_base counts the tokens, offline.

A second column has what the story leaves in the prompt of the next request: the calls, the answers as each tool gives
them, and planwire's blocks.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from bench.figure import Cell, Figure, at_least, at_most
from planwire import BlockingPlanSession, open_journal

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
    """The whole list after each change, and the change as planwire's tools take it, with planwire's ids."""
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


#: What these tools answer, in words of the same length: a sentence or two, or the list again.
ANSWERS: dict[str, Callable[[list[Step]], str]] = {
    "Claude TodoWrite": lambda _: (
        "The list was saved. Go on keeping it up to date while you work, so that it shows how far you are. "
        "Now continue with the current step, if there is one."
    ),
    "opencode todowrite": lambda steps: json.dumps(FULL_LISTS["opencode todowrite"](steps)["todos"], indent=2),
    "Codex update_plan": lambda _: "Plan updated",
    "LangChain write_todos": lambda steps: (
        f"Updated todo list to {FULL_LISTS['LangChain write_todos'](steps)['todos']}"
    ),
}


def measure() -> Iterator[Figure]:
    import bpe_openai  # type: ignore[import-untyped]

    encode = bpe_openai.get_encoding("o200k_base").encode

    def tokens(value: Any) -> int:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return len(encode(text))

    written = dict.fromkeys((*FULL_LISTS, "planwire"), 0)
    answered = dict(written)

    def tell_lists(steps: list[Step]) -> None:
        for name, form in FULL_LISTS.items():
            written[name] += tokens(form(steps))
            answered[name] += tokens(ANSWERS[name](steps))

    with open_journal("memory:") as journal:
        plans = BlockingPlanSession(journal, "bench")

        def tell_planwire(tool: str, arguments: dict[str, Any]) -> None:
            written["planwire"] += tokens(arguments)
            answered["planwire"] += tokens(str(plans.call(tool, arguments)))
            answered["planwire"] += sum(tokens(message["content"]) for message in plans.pending())

        tell_lists([{"content": text, "status": "pending"} for text in STEPS])
        tell_planwire("set_plan", {"entries": list(STEPS)})
        first = written["planwire"]
        changes = 0
        for steps, change in story():
            changes += 1
            tell_lists(steps)
            tell_planwire("update_plan", change)
            mine = [(step.id, step.status) for step in plans.state.plans["main"].state.steps]
            assert mine == [(each["id"], each["status"]) for each in steps], "one story for all"
        assert changes == 45
    for name, total in written.items():
        slug = name.lower().replace(" ", "_")
        yield Figure(f"output_tokens_{slug}", total, "tokens", cell=Cell(name, "output tokens"))
        in_prompt = total + answered[name]
        yield Figure(f"prompt_tokens_{slug}", in_prompt, "tokens", cell=Cell(name, "left in the prompt"))
    each = (written["planwire"] - first) / changes
    yield Figure("output_tokens_per_change", each, "tokens", at_most(11))
    best = min(written[name] for name in FULL_LISTS)
    yield Figure("output_tokens_vs_best_full_list", best / written["planwire"], "x", at_least(15))
