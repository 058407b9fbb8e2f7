"""The two sides of one connection: who they are, and what they agreed on in `initialize`."""

from collections.abc import Callable, Sequence
from typing import Any

from planwire.acp.conversation import name_in
from planwire.acp.translate import Translator
from planwire.model.plan import Fields
from planwire.relay.agents import AgentRow, ways_of
from planwire.relay.capabilities import Capabilities, agent_info
from planwire.relay.questions import Questions


class Connection:
    """Both sides. `capabilities` and `translator` are None until `initialize` is answered. `command` names an agent
    that does not name itself, `learned` are rows of agents that win over planwire's own."""

    def __init__(
        self,
        command: str,
        questions: Questions,
        read_file: Callable[[str | None, str], str | None],
        learned: Sequence[AgentRow] = (),
    ) -> None:
        self.agent = self._command = command
        self.client: str | None = None
        self.capabilities: Capabilities | None = None
        self.translator: Translator | None = None
        self.questions = questions
        self.ways = ways_of(command, None, learned)
        self._read_file = read_file
        self._learned = learned

    def initialize(self, request: Fields, result: Any) -> None:
        """Both sides have introduced themselves."""
        self.capabilities = Capabilities.agreed(request, result)
        self.translator = Translator(self.capabilities.dialect, self._read_file)
        self.ways = ways_of(self._command, result, self._learned)
        self.client = name_in(request.get("clientInfo") or request.get("info"))
        self.agent = name_in(agent_info(result)) or self._command
