"""Remarks in streams of older versions, which stored them as changes of a plan: `wish`, `withdrawn`, `review`.

They are always read but no longer written. Here they become the items of `model.unheard`, so that no suggestion reads
as a change that was made.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from planwire.chat.messages import EventMessage
from planwire.chat.roles import PLAN_DELTA
from planwire.model.plan import Fields

__all__ = ["older_words", "open_wishes"]


def older_words(message: EventMessage) -> list[Fields]:
    """The items of what people said in a change of an older stream; none for any other message."""
    if message.subkind != PLAN_DELTA:
        return []
    payload = message.payload
    common: Fields = {"by": payload.get("by", "user"), "plan_id": message.plan_id}
    match payload:
        case {"wish": True}:
            words = {"id": _name(payload.get("seq")), "changes": payload.get("changes")}
            return [{"said": "suggestion", **common, **words, "text": message.content or None}]
        case {"withdrawn": number}:
            return [{"said": "closed", **common, "id": _name(number), "how": "withdrawn"}]
        case {"review": dict(review)}:
            return [{**common, **each} for each in _review(review)]
    return []


def open_wishes(messages: Iterable[EventMessage]) -> set[str]:
    """The ids of the messages with suggestions that were not withdrawn: they outlive the version they were made for."""
    words = [(each.id, item) for each in messages for item in older_words(each)]
    withdrawn = [(item["plan_id"], item["id"]) for _, item in words if item["said"] == "closed"]
    return {
        message_id
        for message_id, item in words
        if item["said"] == "suggestion" and (item["plan_id"], item["id"]) not in withdrawn
    }


def _review(review: Fields) -> Iterator[Fields]:
    verdict, revision = review.get("verdict"), review.get("revision")
    if verdict != "commented":
        yield {"said": "verdict", "verdict": str(verdict), "revision": revision}
    if isinstance(selected := review.get("selected"), list):
        yield {"said": "selection", "steps": selected, "text": None if selected else "no step"}
    comments = review.get("comments")
    for comment in comments if isinstance(comments, list) else ():
        if isinstance(comment, dict):
            yield {"said": "comment", "step": comment.get("step"), "text": str(comment.get("text", ""))}


def _name(number: Any) -> str:
    """The name of a suggestion: the number of its update."""
    return f"update {number}"
