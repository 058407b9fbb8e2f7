"""The demo's client: starts the agent behind the relay, prompts it, and hands on every line."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Final, Self

from planwire.cli.agent_client import AgentClient, AgentTrouble
from planwire.cli.recording import RecordedLine
from planwire.demo.keys import Keys
from planwire.demo.person import People
from planwire.demo.reviewer import Narrator, Reviewer
from planwire.errors import InputError, reason
from planwire.journal.engines import unrevealing_url
from planwire.journal.user_files import default_path
from planwire.own_process import own_command

BEGIN: Final = "Our nightly export drops rows with umlauts. Find out why and fix it."
GO_ON: Final = "Go on."
_AIR: Final = {"jetbrains": {"air": {"planContentDelta": True}}}
#: Longer than any demo takes.
_DAY: Final = 86_400
#: Seconds for people at speed 1: to answer the question, to read what was suggested, to finish what they say.
ANSWER_SECONDS: Final = 6.0
#: The same with a person at the terminal, who may want to open the board first.
WATCHED_SECONDS: Final = 20.0
_READ_SECONDS: Final = 1.5
_SPEAK_SECONDS: Final = 1.0
#: Seconds between two looks for the end.
_MOMENT: Final = 0.05


class DemoConversation:
    """Every line between the client and the relay, as it happens. `folder` is the project of the agent.

    `session` is the agent's id of the session, once it has given one. The agent stays for as long as this is open.
    """

    def __init__(self, speed: float, journal: str | None, folder: Path, stage: Narrator, keys: Keys) -> None:
        self.session = ""
        self.people = People(journal)
        self._speed = speed
        self._folder = folder
        self._stage = stage
        self._open = ExitStack()
        relay = own_command("relay", *(["--journal", unrevealing_url(journal)] if journal else []))
        agent = own_command("--speed", str(speed), module="planwire.demo.agent")
        self._command = [*relay, "--", *agent]
        patience = WATCHED_SECONDS if keys.are_there else ANSWER_SECONDS
        self._reviewer = Reviewer(stage, keys, patience / speed, self.people.answer)

    def __enter__(self) -> Self:
        self._open.enter_context(self.people)
        self._client = self._open.enter_context(closing(AgentClient(self._command, _DAY, self._reviewer)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def story(self) -> Iterator[RecordedLine]:
        """All of the demo: the agent asks, is compacted, hears of its plan and of what people said, and finishes."""
        try:
            yield from self._hello()
            self._stage.tell(f"You: {BEGIN}")
            yield from self._prompt(BEGIN)
            self._stage.tell(self.people.suggest())
            yield from self._pause(_READ_SECONDS)
            self._stage.tell(f"You: {GO_ON}")
            yield from self._prompt(GO_ON)
            self.people.wait_for_turn()
            if self.people.unheard():
                yield from self._prompt(GO_ON)
                self.people.wait_for_turn()
        except AgentTrouble:
            raise InputError("the demo agent ended early; its output is above") from None

    def afterwards(self, is_over: Callable[[], bool]) -> Iterator[RecordedLine]:
        """The agent goes on hearing what people say until it `is_over`. The relay itself tells it what they want told
        now; everything else comes with a prompt a moment later."""
        with suppress(AgentTrouble):
            while not is_over():
                yield from self._client.listen(lambda: is_over() or self.people.unheard() > 0)
                yield from self._pause(_SPEAK_SECONDS, is_over)
                if is_over() or not self.people.unheard():
                    continue
                for line in self._prompt(GO_ON):
                    yield line
                    if is_over():
                        return
                yield from self._client.listen(lambda: is_over() or not self.people.unheard())
        while not is_over():  # the agent has ended
            sleep(_MOMENT)

    def _hello(self) -> Iterator[RecordedLine]:
        about = {"name": "planwire-demo", "title": "planwire demo", "version": "1.0"}
        hello = {"protocolVersion": 2, "info": about, "capabilities": {"_meta": _AIR}}
        yield from self._client.ask("initialize", hello)
        begun = yield from self._client.ask("session/new", {"cwd": str(self._folder), "mcpServers": []})
        self.session = str(begun.get("sessionId"))
        self.people.join(self.session)

    def _prompt(self, text: str) -> Iterator[RecordedLine]:
        words = [{"type": "text", "text": text}]
        yield from self._client.ask("session/prompt", {"sessionId": self.session, "prompt": words})
        yield from self._client.until_idle(self.session)

    def _pause(self, seconds: float, is_over: Callable[[], bool] = lambda: False) -> Iterator[RecordedLine]:
        end = monotonic() + seconds / self._speed
        yield from self._client.listen(lambda: is_over() or monotonic() >= end)


def project_folder() -> Path:
    """The folder that the agent works in. It stays, since people look at the plan file in it after the demo, and every
    demo uses the same one."""
    folder = default_path().parent / "demo"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} can't be created: {reason(error)}") from None
    return folder
