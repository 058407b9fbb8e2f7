"""Plans as MCP resources: their URIs and their texts.

    plan:///SESSION/PLAN_ID                 the plan as markdown
    plan:///SESSION/PLAN_ID?format=json     all that is known of it
    plan:///SESSION                         the plan of an agent that gives it no id

Percent-encoding keeps both names whole. They stand in the path, since clients change the case of a host.
"""

from typing import Final, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from planwire.model.fold import SessionState
from planwire.model.plan import PlanId
from planwire.readmodel.documents import plan_document
from planwire.tools.plan_value import plan_value

__all__ = ["JSON", "MARKDOWN", "TEMPLATE", "PlanUri", "plan_text", "plan_uris", "read_uri"]

MARKDOWN: Final = "text/markdown"
JSON: Final = "application/json"
TEMPLATE: Final = "plan:///{session}/{plan_id}{?format}"

_SCHEME: Final = "plan:///"
_AS_JSON: Final = "?format=json"


class PlanUri(NamedTuple):
    """The meaning of a URI: a plan of a session, in a form."""

    session: str
    plan_id: PlanId
    mime_type: str


def plan_uris(session: str, plan_id: PlanId) -> tuple[str, str]:
    """The URIs of a plan: as markdown, and as JSON."""
    names = (session,) if plan_id is None else (session, plan_id)
    uri = _SCHEME + "/".join(quote(name, safe="") for name in names)
    return uri, uri + _AS_JSON


def read_uri(uri: str) -> PlanUri | None:
    """The meaning of a URI, however a client spells its names; None if it is no plan's."""
    names, _, query = uri.removeprefix(_SCHEME).partition("?")
    session, slash, plan_id = names.partition("/")
    if not uri.startswith(_SCHEME) or "/" in plan_id or query not in ("", "format=json", "format=markdown"):
        return None
    return PlanUri(unquote(session), unquote(plan_id) if slash else None, JSON if query == "format=json" else MARKDOWN)


def plan_text(state: SessionState, plan_id: PlanId, mime_type: str) -> str:
    """A plan in a form. The session must have it."""
    if mime_type == JSON:
        return msgspec.json.format(msgspec.json.encode(plan_value(state, plan_id)), indent=2).decode()
    return plan_document(state.plans[plan_id])
