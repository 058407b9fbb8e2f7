"""The terms on which each agent's hook can hold a plan back: for how long, and what the agent does with the answer.

The timeouts in the hook files (`hook_table`) are longer: no agent gives up on a hook before the hook itself does.
"""

from typing import Final

from msgspec import Struct

_ELSEWHERE: Final = 540


class ReviewTerms(Struct, frozen=True):
    """One row.

    - `wait_seconds`: how long a person may take. After that the agent goes on as if there were no hook.
    - `takes_edit`: with an approval, the agent takes an edited text in place of its own.
    - `approve`: what people see for an approval. If the agent still asks in its terminal, it says so.
    - `needs_word`: an approval must be said. In other agents their own dialog follows, or the person goes on.
    - `asks_itself`: when the time is up, the person can answer in the agent's own dialog.
    - `unanswered`: what the agent is told when the time is up, if it would take silence for an approval.
    """

    wait_seconds: float = _ELSEWHERE
    takes_edit: bool = False
    approve: str = "Approve"
    needs_word: bool = True
    asks_itself: bool = True
    unanswered: str = ""


#: The terms, by the agent's name in the table of agents with hooks.
REVIEW_TERMS: Final = {
    "claude-code": ReviewTerms(4 * 24 * 60 * 60, takes_edit=True),
    # Its dialog comes after 60 s, whatever the hook's timeout is, and a late answer is dropped. An approval in time
    # does not spare a person the dialog either.
    "qwen": ReviewTerms(50, approve="Approve, then confirm in Qwen", needs_word=False),
    # Without a person at its terminal, it takes a hook that ends in silence for an approval.
    "gemini": ReviewTerms(
        3_600,
        approve="Approve, then confirm in Gemini if it asks",
        needs_word=False,
        asks_itself=False,
        unanswered="No one has decided about this plan yet, so it is not approved. Don't carry it out: stop here and "
        "ask the person to look at it.",
    ),
    "codex": ReviewTerms(approve="Approve, and leave plan mode in Codex yourself", needs_word=False, asks_itself=False),
    "opencode": ReviewTerms(approve="Approve, then confirm in opencode", needs_word=False),
    "copilot": ReviewTerms(approve="Approve, then confirm in Copilot", needs_word=False),
}


def terms_of(agent: str) -> ReviewTerms:
    """The terms of an agent by its name; cautious ones for an agent without a row."""
    return REVIEW_TERMS.get(agent, ReviewTerms())
