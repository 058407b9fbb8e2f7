"""An ACP agent that asks about a plan in every turn, and notes every line that it gets in a file.

Its turn goes on until its question is answered or its turn is cancelled. A prompt of somebody else than the client ends
at once. With `deaf` it closes its input once it has asked, and ends when a file of that name is beside its notes. With
`runs` and a command it runs that once it has asked.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NOTES = Path(sys.argv[1])
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def say(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(session: str) -> None:
    call = {"toolCallId": "t", "kind": "switch_mode", "name": "ExitPlanMode", "rawInput": {"plan": "# Parser"}}
    params = {"sessionId": session, "toolCall": call, "options": OPTIONS}
    say(id=0, method="session/request_permission", params=params)


def wait_for_the_end() -> None:
    os.close(0)
    end = time.monotonic() + 20
    while not NOTES.with_name("deaf").exists() and time.monotonic() < end:
        time.sleep(0.01)
    os._exit(0)


def main() -> None:
    prompt = None
    while line := sys.stdin.buffer.readline():
        with NOTES.open("ab") as notes:
            notes.write(line)
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                say(id=message["id"], result={"protocolVersion": 1, "agentInfo": {"name": "asks", "version": "1"}})
            case "session/load":
                say(id=message["id"], result={})
            case "session/new":
                say(id=message["id"], result={"sessionId": "s"})
            case "session/prompt" if isinstance(message["id"], str):
                say(id=message["id"], result={"stopReason": "end_turn"})
            case "session/prompt":
                prompt = message["id"]
                ask("s")
                if "runs" in sys.argv:
                    subprocess.Popen(sys.argv[-1], shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                if "deaf" in sys.argv:
                    wait_for_the_end()
            case "session/cancel":
                say(id=prompt, result={"stopReason": "cancelled"})
            case None if message["result"]["outcome"]["outcome"] == "selected":
                say(id=prompt, result={"stopReason": "end_turn"})


main()
