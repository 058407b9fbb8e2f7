"""Arguments as JSON values. Models and providers send an object, the JSON text of one, or the JSON text of that."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import msgspec

from planwire.errors import ToolError

#: How often a text may be the JSON of another text.
_WRAPPED: Final = 3


def decoded(arguments: Any) -> Any:
    """Arguments as an object. OpenAI sends them as JSON text, and models wrap that in JSON again."""
    value = arguments
    for _ in range(_WRAPPED):
        if not isinstance(value, str | bytes):
            break
        value = _parsed(value) if value.strip() else None
    return _storable(value)


def inner_json(value: Any) -> Any:
    """The list or object in an argument that a model wrote as JSON text. Anything else stays as it is."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        with suppress(msgspec.DecodeError, RecursionError):
            return msgspec.json.decode(value)
    return value


def _parsed(text: str | bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        with suppress(ValueError, RecursionError):
            _storable(json.loads(text))  # reads even what no journal can store, so that the error can say so
        raise ToolError("invalid_arguments", f"the arguments are not JSON: {error}", "send a JSON object") from None


def _storable(value: Any) -> Any:
    """A value that a journal can store. Half of a surrogate pair and a number with thousands of digits are refused;
    texts of a subclass of str become plain; other unfit values are left to the rules of the arguments."""
    try:
        msgspec.json.encode(value)
    except UnicodeError:
        where, half = next(_halves(value, ""), ("the arguments", "a lone surrogate"))
        problem = f"{where} holds half of a character: {half} lacks the other half of its surrogate pair"
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
