"""The course of a check: prompt an agent, then try what else it offers: load, resume, fork and plan mode."""

from collections.abc import Callable, Generator, Iterator
from typing import Any, Final

from msgspec import Struct

from planwire import __version__
from planwire.acp.dialects import V2, dialect_of_option
from planwire.check.observing import ECHOED, TOOLS
from planwire.check.offers import COMPACT, FORK, LOAD, PLAN_MODE, PROMPT, RESUME, AgentOffer, offers_of, plan_mode_of
from planwire.cli.agent_client import AgentClient, AgentRefusal, AgentTrouble, Message
from planwire.cli.deciding import Decider
from planwire.cli.learning import compaction_announced
from planwire.cli.recording import RecordedLine

_PLAN: Final = "choosing a name for a cat: collect five names, compare them, pick one"
ASK: Final = (
    f"Make a plan of three short steps for {_PLAN}. Put it into your plan or to-do tool, mark each step as you begin "
    "and finish it, and tell me the name. Touch no files."
)
PROPOSE: Final = f"Propose a plan of three short steps for {_PLAN}. Ask me to approve it. Touch no files."
PROPOSE_AGAIN: Final = "I said no by mistake. Propose the same plan again, and ask me to approve it."

#: What a check can leave out.
SKIPPABLE: Final = (LOAD, RESUME, FORK, PLAN_MODE)

Lines = Generator[RecordedLine, None, Message]


class Course(Struct, frozen=True):
    """What to drive an agent to do. `prompt` replaces the check's own, `capability` is the client's. With a `server`
    the agent also has to show its ways."""

    capability: str
    cwd: str
    prompt: str | None = None
    server: Message | None = None
    skips: frozenset[str] = frozenset()


class Driver:
    """Drives one agent along a course. `accuse` hears of refused offers, `begins` of each thing that is driven;
    `compacts` says which command compacts the context."""

    def __init__(
        self,
        client: AgentClient,
        decider: Decider,
        course: Course,
        accuse: Callable[[str, str, int], None],
        begins: Callable[[str], None] = lambda what: None,
        compacts: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._client = client
        self._decider = decider
        self._course = course
        self._accuse = accuse
        self._begins = begins
        self._compacts = compacts
        self._initialized: Message = {}

    def conversation(self) -> Iterator[RecordedLine]:
        """Every line of the course. Raises `AgentTrouble`."""
        yield from self._hello()
        begun = yield from self._new_session()
        session = begun["sessionId"]
        self._begins(PROMPT)
        yield from self._prompt(session, self._course.prompt or ASK)
        for offer in offers_of(self._initialized):
            if offer.what not in self._course.skips:
                yield from self._drive(offer, session)
        way = plan_mode_of(self._initialized, begun)
        if way is not None and PLAN_MODE not in self._course.skips:
            yield from self._plan(way)
        if self._course.server is not None:
            yield from self._show_ways(self._course.server)
        yield from self._client.settle()

    def _hello(self) -> Iterator[RecordedLine]:
        about = {"name": "planwire-check", "title": "planwire check", "version": __version__}
        hello = dialect_of_option(self._course.capability).initialize()
        hello["info" if "capabilities" in hello else "clientInfo"] = about
        if self._course.server is not None:
            hello = compaction_announced(hello)
        self._initialized = yield from self._client.ask("initialize", hello)
        if not isinstance(self._initialized.get("protocolVersion"), int):
            raise AgentTrouble("refused", "`initialize` was answered without a `protocolVersion`")

    def _new_session(self, *servers: Message) -> Lines:
        begun = yield from self._client.ask("session/new", self._place(*servers))
        if not isinstance(begun.get("sessionId"), str):
            raise AgentTrouble("refused", "`session/new` was answered without a `sessionId`")
        return begun

    def _prompt(self, session: str, *texts: str) -> Iterator[RecordedLine]:
        blocks = [{"type": "text", "text": text} for text in texts]
        ended = yield from self._client.ask("session/prompt", {"sessionId": session, "prompt": blocks})
        if self._initialized["protocolVersion"] == V2.version and "stopReason" not in ended:
            yield from self._client.until_idle(session)  # the answer only confirms the message

    def _drive(self, offer: AgentOffer, session: str) -> Iterator[RecordedLine]:
        """Request one offer for a session. An agent that can't load an open session is restarted first."""
        self._begins(offer.what)
        params = {"sessionId": session, **self._place(), **offer.params}
        try:
            yield from self._client.ask(offer.method, params)
        except AgentRefusal as refusal:
            if offer.what == FORK:
                self._accuse("offer-refused", str(refusal), self._client.last_number)
                return
            self._client.restart()
            yield from self._hello()
            yield from self._if_it_does(offer.method, params)

    def _plan(self, way: AgentOffer) -> Iterator[RecordedLine]:
        """Plan in a new session in plan mode: reject the first plan that the agent asks about, and approve the rest."""
        begun = yield from self._new_session()
        session = begun["sessionId"]
        if not (yield from self._if_it_does(way.method, {"sessionId": session, **way.params})):
            return
        self._begins(PLAN_MODE)
        self._decider.rejects, asked = 1, self._decider.asked
        yield from self._prompt(session, self._course.prompt or PROPOSE)
        if self._decider.asked == asked + 1:
            yield from self._prompt(session, PROPOSE_AGAIN)

    def _show_ways(self, server: Message) -> Iterator[RecordedLine]:
        """Have the agent call a tool of an MCP server, repeat the prompt, and compact its context."""
        self._begins(TOOLS)
        begun = yield from self._new_session(server)
        session = begun["sessionId"]
        yield from self._prompt(session, *ECHOED)
        for offer in offers_of(self._initialized):
            if offer.what == LOAD:
                yield from self._drive(offer, session)
        yield from self._client.settle()
        command = self._compacts()
        if command is not None:
            self._begins(COMPACT)
            yield from self._prompt(session, f"/{command}")

    def _if_it_does(self, method: str, params: Message) -> Generator[RecordedLine, None, bool]:
        try:
            yield from self._client.ask(method, params)
        except AgentRefusal as refusal:
            self._accuse("offer-refused", str(refusal), self._client.last_number)
            return False
        return True

    def _place(self, *servers: Message) -> dict[str, Any]:
        return {"cwd": self._course.cwd, "mcpServers": list(servers)}
