"""Small readings of payloads, whose fields may be missing, of another type, or of a version from the future."""

from typing import Any, Final

from planwire.model.plan import Fields

#: A longer text is no id of a session or a call, whatever its field.
LONGEST_ID: Final = 200


def text_in(value: Any, name: str) -> str:
    """The text in a field; empty if there is none."""
    text = value.get(name) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


def id_in(value: Any, name: str) -> str | None:
    """The id in a field; None if what is there can't be one."""
    text = text_in(value, name)
    return text if 0 < len(text) <= LONGEST_ID else None


def fields_in(value: Any, name: str) -> Fields:
    """The object in a field; without fields if there is none."""
    inner = value.get(name) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}


def list_in(value: Any, name: str) -> list[Any] | None:
    """The list in a field; None if there is none, which is not the same as an empty one."""
    inner = value.get(name) if isinstance(value, dict) else None
    return inner if isinstance(inner, list) else None
