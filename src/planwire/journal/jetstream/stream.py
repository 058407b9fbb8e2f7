"""The stream of a JetStream journal: how it is created, which streams are refused, and what is known about it."""

import re
from time import monotonic
from typing import Any, Final

import msgspec

from planwire.errors import JournalUnavailable, NotAJournal, NotWritable
from planwire.journal.format import FORMAT, development, newer
from planwire.journal.jetstream.api import NAME_IN_USE, NO_PEERS, NO_STREAM, ApiError, JetStreamApi
from planwire.journal.jetstream.limits import bounds, losses
from planwire.journal.jetstream.settings import JetStreamSettings
from planwire.journal.jetstream.wire import WireMessage
from planwire.journal.protocol import JournalFacts
from planwire.journal.unusable import absent

#: The beginning of the stream's description, before the number of its format; that in development versions.
_DESCRIPTION: Final = "planwire format "
_OLD_DESCRIPTION: Final = "planwire journal, format "
#: The oldest server that answers all requests of this engine.
_OLDEST: Final = (2, 11)
_SECOND: Final = 1_000_000_000
#: Seconds that the servers of a cluster that just started get to find each other.
PEERS: Final = 4.0
#: Seconds after which an open journal looks at the stream's settings again, which its admin may have changed.
LOOK_AGAIN: Final = 30.0


class JournalStream:
    """The stream with the events."""

    def __init__(self, api: JetStreamApi, settings: JetStreamSettings) -> None:
        self._api = api
        self._settings = settings
        self.name = settings.name
        self.replicas = settings.replicas or 1
        self._parts = f"{self.name}.parts.*"
        self._largest = 0  # the stream's own limit on messages, if it has one
        self._losses: list[str] = []
        self._created = ""  # when the server made it
        self._is_another = False

    def open(self, create: bool) -> bool:
        """Find or create the stream; refuse one that is not planwire's, or that a newer planwire made. Says whether it
        is new."""
        self._refuse_old_server()
        found = self._find()
        is_new = found is None
        if found is None:
            if not create:
                raise absent(self._settings.where)
            found = self._make()
        config = found["config"]
        description = str(config.get("description") or "")
        number = description.removeprefix(_DESCRIPTION)
        if description.startswith(_OLD_DESCRIPTION):
            raise development(
                f"the stream {self.name} at {self._settings.where}",
                "name another one after the host (nats://HOST/NAME), or delete it",
            )
        if not description.startswith(_DESCRIPTION) or not number.isdecimal():
            raise NotAJournal(
                f"the stream {self.name} at {self._settings.where} is not planwire's, and stays as it is: "
                "name another one after the host (nats://HOST/NAME)"
            )
        if int(number) > FORMAT:
            raise newer(f"the journal {self._settings.where}", int(number))
        if not config.get("allow_direct"):
            raise JournalUnavailable(
                f"the stream {self.name} at {self._settings.where} allows no direct gets, which a journal needs: allow "
                f"them with nats stream edit {self.name} --allow-direct"
            )
        self._note(found)
        return is_new

    @property
    def room(self) -> int:
        """The most bytes of a message, with its headers."""
        room = self._api.connection.room
        return min(room, self._largest) if self._largest else room

    def last_message(self) -> int:
        """The number of the stream's last message, even if that was removed."""
        return int(self.info()["state"]["last_seq"])

    def info(self) -> dict[str, Any]:
        """What the server says of the stream. `JournalUnavailable` if the stream was deleted and made anew."""
        found = self._api.call(f"STREAM.INFO.{self.name}")
        self._note(found)
        self._refuse_another()
        return found

    def watch(self) -> None:
        """Look at the stream's settings now and then, for as long as the journal is open."""
        connection, token = self._api.connection, ""

        def heard(reply: WireMessage | None) -> None:
            found = msgspec.json.decode(reply.body) if reply is not None and not reply.status else {}
            if found.get("config"):
                self._note(found)

        def look() -> None:
            nonlocal token
            connection.drop(token)
            token = connection.expect(heard)
            connection.send(self._api.subject(f"STREAM.INFO.{self.name}"), token=token)

        connection.every(LOOK_AGAIN, look)

    def losses(self) -> list[str]:
        """The settings that make the stream lose events, as sentences."""
        return [f"the stream {self.name} can't be relied on: {each}" for each in losses(self.info()["config"])]

    def refuse_losses(self) -> None:
        """Raise `NotWritable` if the stream would not keep what is written: it waits until that is corrected."""
        self._refuse_another()
        if self._losses and (found := self.losses()):
            raise NotWritable(
                f"nothing is written to {self._settings.where}: {found[0]}. Change that with nats stream edit "
                f"{self.name}; planwire journal info names all limits"
            )

    def purge(self, subject: str) -> None:
        self._api.call(f"STREAM.PURGE.{self.name}", filter=subject)

    def facts(self) -> JournalFacts:
        info, server = self.info(), self._api.connection.server
        large = self._api.call(f"STREAM.INFO.{self.name}", subjects_filter=self._parts)["state"]
        parts = sum((large.get("subjects") or {}).values())
        state, cluster = info["state"], info.get("cluster") or {}
        replicas = int(info["config"]["num_replicas"])
        asked = self._settings.replicas
        differs = (
            f" (the URL asks for {asked}: nats stream edit {self.name} --replicas {asked})"
            if asked not in (None, replicas)
            else ""
        )
        facts = {
            "server": f"{server.get('server_name', '?')}, NATS {server.get('version', '?')}",
            "stream": self.name,
            "replicas": f"{replicas}{differs}",
            "messages": f"{state['messages'] - parts:,}" + (f", and {parts:,} parts of large ones" if parts else ""),
            "bytes": f"{state['bytes']:,}",
            "risk": _RISK,
            "largest message": f"{self._largest or self._api.connection.max_payload:,} bytes",
        }
        if limits := losses(info["config"]) + bounds(info["config"]):
            facts["limits"] = "; ".join(limits)
        if cluster.get("name"):
            facts["cluster"] = f"{cluster['name']}, led by {cluster.get('leader') or 'nobody'}"
        return JournalFacts("nats", self._settings.where, _promise(replicas), facts)

    def _refuse_another(self) -> None:
        """Raise if the stream was made anew: what is known here, such as keys and positions, is of the old one."""
        if self._is_another:
            raise JournalUnavailable(
                f"the journal {self._settings.where} was deleted while it was open, and made anew: open it again"
            )

    def _note(self, found: dict[str, Any]) -> None:
        config = found["config"]
        self._created = self._created or str(found.get("created"))
        self._is_another = self._is_another or self._created != str(found.get("created"))
        self.replicas = int(config.get("num_replicas") or 1)
        self._largest = max(int(config.get("max_msg_size") or 0), 0)
        self._losses = losses(config)

    def _make(self) -> dict[str, Any]:
        config = {
            "name": self.name,
            "description": f"{_DESCRIPTION}{FORMAT}",
            "subjects": [f"{self.name}.events.*", self._parts],
            "storage": "file",
            "retention": "limits",
            "discard": "new",
            "num_replicas": self.replicas,
            "duplicate_window": 120 * _SECOND,
            "allow_direct": True,
        }
        end = monotonic() + PEERS
        while True:
            try:
                made: dict[str, Any] = self._api.call(f"STREAM.CREATE.{self.name}", **config)
            except ApiError as error:
                found = self._find() if error.number == NAME_IN_USE else None
                if found is not None:
                    return found
                if error.number != NO_PEERS or monotonic() > end:
                    raise JournalUnavailable(
                        f"can't make the stream {self.name} with {self.replicas} replicas at "
                        f"{self._settings.where}: {error}"
                    ) from None
                self._api.connection.wait(0.1)
            else:
                return made

    def _find(self) -> dict[str, Any] | None:
        try:
            return self._api.call(f"STREAM.INFO.{self.name}")
        except ApiError as error:
            if error.number == NO_STREAM:
                return None
            raise

    def _refuse_old_server(self) -> None:
        version = str(self._api.connection.server.get("version", ""))
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < _OLDEST:
            raise JournalUnavailable(
                f"the server at {self._settings.where} runs NATS {version}; a journal needs 2.11 or newer: update it"
            )


_RISK: Final = (
    "sync_interval: unless every server has `sync_interval: always`, a power cut can take the last 2 minutes of "
    "acknowledged events, also with several replicas"
)


def _promise(replicas: int) -> str:
    took = "the server took it" if replicas == 1 else f"{replicas // 2 + 1} of {replicas} replicas took it"
    return (
        f"an acknowledged append means that {took}. Each server writes to its files at once, and syncs its disk every "
        "sync_interval (2 minutes, unless its configuration sets another; `sync_interval: always` syncs every write). "
        "A client can't see that setting"
    )
