"""A journal on three NATS servers, of which some are slow. (`tests/torture` kills them.)"""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from planwire.journal.jetstream.journal import JetStreamJournal
from planwire.journal.jetstream.wire import WireMessage
from tests.journal.test_contract import PATIENCE, said, words
from tests.servers.nats import cluster
from tests.waiting import until


@pytest.mark.timeout(120)
def test_an_append_that_still_waits_for_the_other_replicas_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The leader has it, and says to the second attempt that it is at it."""
    with cluster(3) as nodes:
        JetStreamJournal(nodes.url()).close()
        leader = nodes.leader()
        others = [each.process for each in nodes.servers if each is not leader and each.process]
        with JetStreamJournal(leader.url()) as journal, ThreadPoolExecutor() as pool:
            journal.append("s", said("one"))
            ask, heard = journal._connection.request, list[bytes]()

            def listen(subject: str, body: bytes = b"", headers: bytes = b"", timeout: float = 2.0) -> WireMessage:
                reply = ask(subject, body, headers, timeout)
                heard.append(reply.body)
                return reply

            monkeypatch.setattr(journal._connection, "request", listen)
            for each in others:
                each.send_signal(signal.SIGSTOP)
            try:
                written = pool.submit(journal.append, "s", said("two"))
                until(lambda: any(b"10158" in each for each in heard) or written.done())
            finally:
                for each in others:
                    each.send_signal(signal.SIGCONT)
            assert words(written.result(PATIENCE)) == ["two"]
            assert words(journal.read("s")) == ["one", "two"]
