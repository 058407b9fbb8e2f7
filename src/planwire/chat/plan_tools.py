"""The names of the plan tools. `tools` declares and runs them; a compaction recognises their calls by these names."""

from typing import Final

#: The name of planwire's MCP server. An agent puts it before the names of the tools.
SERVER: Final = "planwire"
SET_PLAN: Final = "set_plan"
UPDATE_PLAN: Final = "update_plan"
GET_PLAN: Final = "get_plan"
REMOVE_PLAN: Final = "remove_plan"
TOOL_NAMES: Final = (SET_PLAN, UPDATE_PLAN, GET_PLAN, REMOVE_PLAN)
