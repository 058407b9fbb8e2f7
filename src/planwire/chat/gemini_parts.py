"""The parts of Gemini's messages, in the REST spelling and in that of the Python package. The results of a batch of
calls are in the one user message after it, before anything else; the server's own are in a message of the model."""

from collections.abc import Sequence
from typing import Final

from planwire.chat.calls import CANCELLED_TEXT, TEXT, CallRef, objects, text, unmatched
from planwire.model.plan import Fields

#: The roles that the provider takes. Results used to have their own (`function`) and now come from the user.
ROLES: Final = frozenset(("function", "model", "user"))

#: The fields of a part that hold a call for the client, and those of its results.
CALLS: Final = ("functionCall", "function_call")
RESULTS: Final = ("functionResponse", "function_response")
#: The fields of the server's own calls, and those of their results.
HOSTED: Final = {
    "executableCode": "codeExecutionResult",
    "executable_code": "code_execution_result",
    "toolCall": "toolResponse",
    "tool_call": "tool_response",
}
#: The other fields of a part.
PLAIN: Final = frozenset(
    (
        "audioTranscription",
        "fileData",
        "inlineData",
        "mediaProcessing",
        "mediaResolution",
        "partMetadata",
        "speechMetadata",
        "text",
        "thought",
        "thoughtSignature",
        "videoMetadata",
    )
)


def calls(message: Fields) -> Sequence[CallRef]:
    """The calls of a message: those for the client, then those that the server has yet to answer."""
    parts = objects(message.get("parts"))
    return [*_named(parts, CALLS), *_hosted(parts)[0]]


def results(message: Fields) -> Sequence[CallRef]:
    return _named(objects(message.get("parts")), RESULTS)


def answered_by_server(message: Fields) -> Sequence[CallRef]:
    """The calls of earlier messages that the server answers in this one."""
    return _hosted(objects(message.get("parts")))[1]


def _named(parts: Sequence[Fields], keys: Sequence[str]) -> list[CallRef]:
    found = objects([part[key] for part in parts for key in keys if key in part])
    return [CallRef(text(each.get("id")), text(each.get("name"))) for each in found]


def _hosted(parts: Sequence[Fields]) -> tuple[list[CallRef], list[CallRef]]:
    made = [
        CallRef(text(part[key].get("id")), kind=_plain(answer), is_hosted=True)
        for part in parts
        for key, answer in HOSTED.items()
        if isinstance(part.get(key), dict)
    ]
    answered = [
        CallRef(text(part[answer].get("id")), kind=_plain(answer))
        for part in parts
        for answer in HOSTED.values()
        if isinstance(part.get(answer), dict)
    ]
    return unmatched(made, answered)


def _plain(key: str) -> str:
    """The name of a field in both spellings."""
    return key.replace("_", "").lower()


def part(kind: str, data: str) -> Fields:
    """A part of a message: a text, or an image as base64."""
    return {"text": data} if kind == TEXT else {"inlineData": {"mimeType": kind, "data": data}}


def cancellation(call: CallRef) -> Fields:
    answer: Fields = {"name": call.name, "response": {"error": CANCELLED_TEXT}}
    return {"role": "user", "parts": [{"functionResponse": {"id": call.id, **answer} if call.id else answer}]}
