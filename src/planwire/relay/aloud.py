"""What people said, as plain lines for a user message in the client."""

from typing import Final

from planwire.model.plan import Fields
from planwire.model.records import USER
from planwire.model.unheard import Words

_WORDS: Final = {
    "request": "please change the plan",
    "selection": "run only the selected steps",
    "suggestion": "suggested a change of the plan",
    "edit": "changed the plan",
    "set": "set the plan",
    "removed": "dismissed the plan",
    "closed": "withdrew an earlier remark",
}


def said_aloud(words: Words) -> str:
    """What people said outside the client, as text for it to show."""
    lines = [f"{_name(item)} (planwire): {_text(item)}" for item in words.items]
    if words.besides:
        lines.append(f"(planwire): {len(words.besides)} more remarks")
    return "\n".join(lines)


def _name(item: Fields) -> str:
    return "You" if item["by"] == USER else str(item["by"])


def _text(item: Fields) -> str:
    if item["said"] == "verdict":
        return str(item["verdict"]).replace("_", " ")
    return str(item.get("text") or _WORDS.get(item["said"], item["said"]))
