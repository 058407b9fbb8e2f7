"""Tools for OpenAI's strict mode, which makes a model follow the schema of a call exactly.

It supports only a part of JSON Schema: every field of an object is required and no other is allowed. So an optional
field is null instead of missing, and a map from ids is a list of objects with an id. The tools understand both shapes.
"""

from typing import Any, Final

from planwire.errors import ToolError
from planwire.model.plan import Fields

#: For each map from ids, the name of its values as a field of the objects that replace it.
_VALUES: Final = {"steps": "status", "reword": "content", "priority": "priority", "move": "after", "answers": "answer"}
_NULL: Final[Fields] = {"type": "null"}


def strict_tool(form: str, tool: Fields) -> Fields:
    """An OpenAI tool in the form that strict mode takes."""
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
    """A schema for strict mode. `name` is the argument that it is for."""
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
    """The schema of a field, which may be null if it is optional."""
    field: dict[str, Any] = _schema(schema, name)
    if is_required:
        return field
    if isinstance(kind := field.get("type"), str) and kind not in ("array", "object") and "enum" not in field:
        return {**field, "type": [kind, "null"]}
    words = {"description": field["description"]} if "description" in field else {}
    return {**words, "anyOf": [{key: each for key, each in field.items() if key != "description"}, _NULL]}
