"""Arguments as JSON values: an object, a text of one, or a text of such a text, as models and providers send them."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import msgspec

from planwire.errors import ToolError

__all__ = ["decoded", "inner_json"]

#: How often a text may be the JSON of another text.
_WRAPPED: Final = 3


def decoded(arguments: Any) -> Any:
    """Arguments as an object. OpenAI sends them as text, and models wrap them in one more."""
    value = arguments
    for _ in range(_WRAPPED):
        if not isinstance(value, str | bytes):
            break
        value = _parsed(value) if value.strip() else None
    return _storable(value)


def inner_json(value: Any) -> Any:
    """An argument that should be a list or an object, and that a model wrote as the JSON text of one. Any other text
    stays as it is."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        with suppress(msgspec.DecodeError, RecursionError):
            return msgspec.json.decode(value)
    return value


def _parsed(text: str | bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        with suppress(ValueError, RecursionError):
            _storable(json.loads(text))  # reads what no journal can store, so that the error can say so
        raise ToolError("invalid_arguments", f"the arguments are not JSON: {error}", "send a JSON object") from None


def _storable(value: Any) -> Any:
    """A value as a journal can store it. Half of a character and a number without end are refused; texts of a class of
    their own become plain ones; other unfit values are for whoever reads them."""
    try:
        msgspec.json.encode(value)
    except UnicodeError:
        where, half = next(_halves(value, ""), ("the arguments", "a lone surrogate"))
        problem = f"{where} holds half of a character: {half} is one of a pair and nothing without the other"
        hint = "send the whole character (an emoji, for example), or leave it out; nothing was changed"
        raise ToolError("invalid_arguments", problem, hint) from None
    except TypeError:
        with suppress(TypeError, RecursionError, ValueError):
            return msgspec.json.decode(msgspec.json.encode(value, enc_hook=_plain_text))
    except ValueError:
        problem = "the arguments hold a number with thousands of digits"
        raise ToolError("invalid_arguments", problem, "send a smaller number; nothing was changed") from None
    except (OverflowError, RecursionError):
        pass
    return value


def _plain_text(value: Any) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(type(value).__name__)


def _halves(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """The places of lone surrogates, and their escapes."""
    if isinstance(value, str):
        yield from ((where or "the text", f"\\u{ord(each):04x}") for each in value if "\ud800" <= each <= "\udfff")
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _halves(key, f"a key of {where}" if where else "a key")
            yield from _halves(inner, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _halves(inner, f"{where}[{index}]")
