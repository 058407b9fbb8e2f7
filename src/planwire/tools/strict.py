"""Tools for OpenAI's strict mode, which holds a model to the schema of a call word for word.

It takes a part of JSON Schema only: every field of an object is required and no other is allowed. So a field that may
be missing is null instead, and a map from ids is a list of objects with an id. The tools understand both shapes.
"""

from typing import Any, Final

from planwire.errors import ToolError
from planwire.model.plan import Fields

__all__ = ["strict_tool"]

#: What a map from ids gives each of them, as a field of the objects that stand for it.
_VALUES: Final = {"steps": "status", "reword": "content", "priority": "priority", "move": "after", "answers": "answer"}
_NULL: Final[Fields] = {"type": "null"}


def strict_tool(form: str, tool: Fields) -> Fields:
    """A tool of OpenAI's, as its strict mode takes it."""
    match form:
        case "openai-chat":
            return {**tool, "function": _strict(tool["function"])}
        case "openai-responses":
            return _strict(tool)
    hint = "leave strict out, or use openai-chat or openai-responses"
    raise ToolError("unknown_option", f"the tools of {form} have no strict mode", hint)


def _strict(function: Fields) -> Fields:
    return {**function, "parameters": _schema(function["parameters"]), "strict": True}


def _schema(schema: Fields, name: str = "") -> Fields:
    """A schema in the words of strict mode. `name` is the argument that it is for."""
    match schema:
        case {"anyOf": choices}:
            return {**schema, "anyOf": [_schema(each) for each in choices]}
        case {"type": "array", "items": items}:
            return {**schema, "items": _schema(items)}
        case {"type": "object", "properties": properties}:
            required = schema.get("required", ())
            fields = {key: _field(key, each, is_required=key in required) for key, each in properties.items()}
            return {**schema, "properties": fields, "required": [*fields], "additionalProperties": False}
        case {"type": "object", "additionalProperties": value}:
            fields = {"id": {"type": "string"}, _VALUES[name]: value}
            row = _schema({"type": "object", "properties": fields, "required": [*fields]})
            return {"type": "array", "description": schema["description"], "items": row}
    return schema


def _field(name: str, schema: Fields, *, is_required: bool) -> Fields:
    """The schema of a field, which may be null if it needs not be there."""
    field: dict[str, Any] = _schema(schema, name)
    if is_required:
        return field
    if isinstance(kind := field.get("type"), str) and kind not in ("array", "object") and "enum" not in field:
        return {**field, "type": [kind, "null"]}
    words = {"description": field["description"]} if "description" in field else {}
    return {**words, "anyOf": [{key: each for key, each in field.items() if key != "description"}, _NULL]}
