"""The stream of a JetStream journal: how it is made, what is refused, and what there is to know of it."""

import re
from typing import Any, Final

from planwire.errors import JournalUnavailable, NewerJournal, NoJournal, NotAJournal
from planwire.journal.jetstream_api import NAME_IN_USE, NO_STREAM, ApiError, JetStreamApi
from planwire.journal.jetstream_settings import JetStreamSettings
from planwire.journal.protocol import JournalFacts

__all__ = ["JournalStream"]

#: The number of the format, in the description of the stream.
FORMAT: Final = 1
_DESCRIPTION: Final = "planwire journal, format "
#: The oldest server that answers all questions of this engine.
_OLDEST: Final = (2, 11)
_SECOND: Final = 1_000_000_000


class JournalStream:
    """The stream with the events."""

    def __init__(self, api: JetStreamApi, settings: JetStreamSettings) -> None:
        self._api = api
        self._settings = settings
        self._replicas = settings.replicas or 1

    def open(self, create: bool) -> None:
        """Find the stream, or make it; refuse one that is not ours, or that a newer planwire made."""
        self._refuse_old_server()
        config = self._config()
        if config is None:
            if not create:
                raise NoJournal(
                    f"there is no journal at {self._settings.where}. Run an agent behind planwire first (planwire "
                    "relay -- AGENT), or name another journal with --journal or PLANWIRE_JOURNAL"
                )
            config = self._make()
        description = str(config.get("description") or "")
        number = description.removeprefix(_DESCRIPTION)
        if not description.startswith(_DESCRIPTION) or not number.isdecimal():
            raise NotAJournal(
                f"the stream {self._settings.name} at {self._settings.where} is not planwire's, and stays as it is: "
                "name another one behind the host (nats://HOST/NAME)"
            )
        if int(number) > FORMAT:
            raise NewerJournal(
                f"the journal {self._settings.where} has format {number}, and this planwire knows up to {FORMAT}: "
                "update planwire. Nothing was changed"
            )
        self._replicas = int(config.get("num_replicas") or 1)

    @property
    def replicas(self) -> int:
        return self._replicas

    def last_message(self) -> int:
        """The number of the stream's last message, which may be gone."""
        return int(self.info()["state"]["last_seq"])

    def info(self) -> dict[str, Any]:
        return self._api.call(f"STREAM.INFO.{self._settings.name}")

    def purge(self, subject: str) -> None:
        self._api.call(f"STREAM.PURGE.{self._settings.name}", filter=subject)

    def facts(self) -> JournalFacts:
        info, server = self.info(), self._api.connection.server
        state, cluster = info["state"], info.get("cluster") or {}
        replicas = int(info["config"]["num_replicas"])
        asked = self._settings.replicas
        differs = (
            f" (the URL asks for {asked}: nats stream edit {self._settings.name} --replicas {asked})"
            if asked not in (None, replicas)
            else ""
        )
        facts = {
            "server": f"{server.get('server_name', '?')}, NATS {server.get('version', '?')}",
            "stream": self._settings.name,
            "replicas": f"{replicas}{differs}",
            "messages": f"{state['messages']:,}",
            "bytes": f"{state['bytes']:,}",
            "largest message": f"{self._api.connection.max_payload:,} bytes",
        }
        if cluster.get("name"):
            facts["cluster"] = f"{cluster['name']}, led by {cluster.get('leader') or 'nobody'}"
        return JournalFacts("nats", self._settings.where, _promise(replicas), facts)

    def _make(self) -> dict[str, Any]:
        config = {
            "name": self._settings.name,
            "description": f"{_DESCRIPTION}{FORMAT}",
            "subjects": [f"{self._settings.name}.events.*"],
            "storage": "file",
            "retention": "limits",
            "discard": "new",
            "num_replicas": self._replicas,
            "duplicate_window": 120 * _SECOND,
            "allow_direct": True,
        }
        try:
            made: dict[str, Any] = self._api.call(f"STREAM.CREATE.{self._settings.name}", **config)["config"]
        except ApiError as error:
            found = self._config() if error.number == NAME_IN_USE else None
            if found is not None:
                return found
            raise JournalUnavailable(
                f"the NATS server at {self._settings.where} makes no stream {self._settings.name} with "
                f"{self._replicas} replicas: {error}"
            ) from None
        return made

    def _config(self) -> dict[str, Any] | None:
        try:
            config: dict[str, Any] = self._api.call(f"STREAM.INFO.{self._settings.name}")["config"]
        except ApiError as error:
            if error.number == NO_STREAM:
                return None
            raise
        return config

    def _refuse_old_server(self) -> None:
        version = str(self._api.connection.server.get("version", ""))
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < _OLDEST:
            raise JournalUnavailable(
                f"the server at {self._settings.where} runs NATS {version}; a journal needs 2.11 or newer: update it"
            )


def _promise(replicas: int) -> str:
    took = "the server took it" if replicas == 1 else f"{replicas // 2 + 1} of {replicas} replicas took it"
    return (
        f"an acknowledged append means that {took}. Each server writes to its files at once, and syncs its disk every "
        "sync_interval (2 minutes, unless its configuration says another; `sync_interval: always` syncs every write). "
        "A client can't see that setting"
    )
