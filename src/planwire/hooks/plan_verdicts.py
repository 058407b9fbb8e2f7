"""A person's verdict on a plan, read from what the agent tells its model: approved, or sent back with words.

Gemini, Qwen and Copilot have no field for it: the result of `exit_plan_mode` is a text for the model. A text that says
neither is no verdict: the call failed, was cancelled, or comes from a version with other words.
"""

import re
from typing import Final, NamedTuple


class PlanVerdict(NamedTuple):
    """A person's answer, and the words that they added."""

    approved: bool
    words: str = ""


_APPROVED: Final = re.compile(r"(?:Plan|User) approved\b", re.IGNORECASE)
_SENT_BACK: Final = re.compile(r"Plan (?:was )?(?:rejected|not approved)\b", re.IGNORECASE)
#: A person's words stand between the agent's own: an introduction, and what it says to the model after them.
_WORDS: Final = re.compile(
    r"User feedback:\s*(.*?)\s*(?:\n\n(?:The plan is stored at:|Please update the plan).*)?\Z", re.DOTALL
)


def verdict_in(text: str) -> PlanVerdict | None:
    """The answer in the result of a call; None if there is none."""
    if _APPROVED.match(text):
        return PlanVerdict(approved=True)
    if not _SENT_BACK.match(text):
        return None
    words = _WORDS.search(text)
    return PlanVerdict(approved=False, words=words[1] if words else "")
