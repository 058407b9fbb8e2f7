"""The agent that `planwire check --client` gives to a client: `python -m planwire.cli.trial_agent TRIAL DIALECT LOG`.

It keeps every line of both sides in the log, from which the client is judged.
"""

import sys
from pathlib import Path

import msgspec

from planwire.acp.conversation import AGENT, CLIENT, value_of
from planwire.check.trials import TrialAgent, trial_named
from planwire.cli.recording import RecordedLine, as_recorded


def main(name: str, dialect: str, log: str) -> None:
    agent = TrialAgent(trial_named(name, dialect))
    with Path(log).open("ab", buffering=0) as kept:
        for line in sys.stdin.buffer:
            kept.write(as_recorded(RecordedLine(0, line.rstrip(b"\r\n"), CLIENT)))
            for message in agent.hear(value_of(line)):
                said = msgspec.json.encode(message)
                kept.write(as_recorded(RecordedLine(0, said, AGENT)))
                sys.stdout.buffer.write(said + b"\n")
                sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
