"""A scripted model for agents in terminals, which ask theirs for more than the next step: titles, summaries, what to
say next, what to remember, whether a call is safe. Such requests may offer tools, and are told by their words."""

from collections.abc import Iterable

from tests.peers.model_server import ScriptedModel, beside_the_work, fitting_answer
from tests.peers.script import Request, Step

__all__ = ["terminal_model"]

ASIDE = (
    "Do not answer the request.",  # Codex, for a title
    "Then, produce the <state_snapshot>",  # Qwen and Gemini, for a summary
    "Reply with ONLY the suggestion",  # Qwen, for what the person might say next
    "If nothing durable should be saved",  # Qwen, for what to remember
    "Pending tool call to classify",  # Qwen, in its auto mode
    "Tools are unavailable in this step",  # Copilot, for a summary
)


def terminal_model(script: Iterable[Step]) -> ScriptedModel:
    """A model that follows a script in a conversation, and answers everything else shortly."""
    return ScriptedModel(script, side=_aside, side_answer=_answer)


def _aside(request: Request) -> bool:
    return beside_the_work(request) or any(mark in request.last_words for mark in ASIDE)


def _answer(request: Request) -> str:
    if "<state_snapshot>" in request.last_words:
        return "<analysis>There is little.</analysis>\n<state_snapshot>Some work was done.</state_snapshot>"
    return fitting_answer(request)
