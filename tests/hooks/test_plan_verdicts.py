"""A person's answer about a plan, read back from what three agents tell their models of it."""

import pytest

from planwire.hooks.plan_verdicts import PlanVerdict, verdict_in

#: What agents really said, and what it means.
ANSWERS = {
    "Plan approved. Switching to YOLO mode (all tool calls auto-approved).": PlanVerdict(approved=True),
    "User approved. You can now start coding.": PlanVerdict(approved=True),
    "Plan approved! Exited plan mode.\n\nYou are now in interactive mode.": PlanVerdict(approved=True),
    "Plan not approved. User feedback:\n\nplease add tests\n\nPlease update the plan and try again.": PlanVerdict(
        approved=False, words="please add tests"
    ),
    "Plan rejected. User feedback: Smaller\n\nThe plan is stored at: /x.md\nRevise the plan.": PlanVerdict(
        approved=False, words="Smaller"
    ),
    "Plan rejected. No feedback provided.\n\nThe plan is stored at: /x.md": PlanVerdict(approved=False),
    "Plan rejected. User feedback: in words of its own": PlanVerdict(approved=False, words="in words of its own"),
    "Plan execution was not approved. Remaining in plan mode.": None,
    "Tool execution blocked: Smaller steps": None,
    "": None,
}


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_read_back(text: str) -> None:
    assert verdict_in(text) == ANSWERS[text]
