"""The types of the providers' official packages: what they consist of, and the smallest values of each."""

import collections.abc
import types
import typing
from functools import cache
from typing import Any

from planwire.model.plan import Fields

__all__ = ["blocks", "example", "items", "kinds", "leaves", "parts"]

#: Names that some annotations in the packages use and their modules only import for a type checker.
_NAMES = {**vars(typing), "ConfigDict": dict}


def leaves(union: Any) -> list[Any]:
    """The members of a union, and of the unions in it."""
    origin = typing.get_origin(union)
    if origin is typing.Annotated:
        return leaves(typing.get_args(union)[0])
    if origin in (typing.Union, types.UnionType):
        return [leaf for each in typing.get_args(union) for leaf in leaves(each)]
    return [union]


@cache
def fields(shape: Any) -> dict[str, Any]:
    if hasattr(shape, "model_fields"):
        return {name: field.annotation for name, field in shape.model_fields.items()}
    return typing.get_type_hints(shape, localns=_NAMES, include_extras=True)


def literals(annotation: Any) -> list[str]:
    """The words that an annotation allows."""
    return [word for leaf in _inside(annotation) if typing.get_origin(leaf) is typing.Literal for word in leaf.__args__]


def _inside(annotation: Any) -> list[Any]:
    import typing_extensions

    marks = (typing_extensions.Required, typing_extensions.NotRequired, typing.Required, typing.NotRequired)
    if typing.get_origin(annotation) in marks:
        return _inside(typing.get_args(annotation)[0])
    found = leaves(annotation)
    return found if found == [annotation] else [each for leaf in found for each in _inside(leaf)]


def kinds(union: Any, field: str = "type") -> dict[str, Any]:
    """The members of a union by the word in a field of theirs; of several with one word, the first."""
    return {word: shape for shape in reversed(leaves(union)) for word in literals(fields(shape).get(field))}


@cache
def items() -> dict[str, Any]:
    """The items that OpenAI's package sends, by their types."""
    from openai.types.responses import ResponseInputItemParam

    return kinds(ResponseInputItemParam)


@cache
def blocks() -> dict[str, Any]:
    """The blocks that Anthropic's package sends, by their types."""
    from anthropic.types.beta import BetaContentBlockParam

    return kinds(BetaContentBlockParam)


@cache
def parts() -> dict[str, Any]:
    """The fields of a part in Google's package, as they are sent."""
    from google.genai.types import Part

    return {field.alias or name: field.annotation for name, field in Part.model_fields.items()}


def example(shape: Any, **given: Any) -> Fields:
    """The smallest value of an object type, with some fields given."""
    made = {}
    for name, annotation in fields(shape).items():
        if name in given:
            made[name] = given[name]
        elif _is_required(shape, name, annotation):
            made[name] = _value(annotation)
    return made


def _is_required(shape: Any, name: str, annotation: Any) -> bool:
    import typing_extensions

    if hasattr(shape, "model_fields"):
        return bool(shape.model_fields[name].is_required())
    return typing.get_origin(annotation) in (typing_extensions.Required, typing.Required)


def _value(annotation: Any) -> Any:
    [first, *_] = _inside(annotation)
    origin = typing.get_origin(first) or first
    if origin is typing.Literal:
        return first.__args__[0]
    if origin in (list, collections.abc.Iterable, collections.abc.Sequence) or "Sequence" in str(origin):
        return []
    if origin in (dict, object, typing.Any) or origin is collections.abc.Mapping:
        return {}
    plain = {str: "text", int: 1, float: 1.0, bool: True, bytes: "", type(None): None}
    return plain[origin] if origin in plain else example(first)
