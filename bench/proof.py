"""Every contender has to show that it does the work before it is timed.

A figure must not come from a path that failed early, dropped entries or did not notice the change. The truth about a
line comes from the plainest reader there is, `json.loads`.
"""

import json
from typing import Any

import planwire
from bench.lines import BAD_ENTRIES
from bench.peers import DECODERS, ENCODERS, sdk_decode, sdk_encode

__all__ = ["BrokenContender", "prove", "prove_applied", "prove_decoded", "prove_encoded", "without_bad_entries"]


class BrokenContender(Exception):
    """A contender did not do the work that it was to be timed for."""


def prove(found: object, expected: object, what: str) -> None:
    if found != expected:
        raise BrokenContender(f"{what}: expected {str(expected)[:200]}, found {str(found)[:200]}")


def prove_decoded(name: str, line: bytes) -> None:
    """Prove that everyone reads what is on the line, and that planwire also keeps other fields around and inside the
    entries."""
    params = json.loads(line)["params"]
    for peer in ("orjson", "json"):
        prove(DECODERS[peer](line)["params"], params, f"{peer} reading {name}")
    theirs: Any = sdk_decode(line).update
    reading = planwire.read(line)
    update = params["update"]
    if "content" in update:
        prove(theirs.content.text, update["content"]["text"], f"the SDK reading {name}")
        prove([message.method for message in reading.messages], ["session/update"], f"planwire reading {name}")
        return
    plan = update.get("plan", update)
    theirs = theirs.plan if "plan" in update else theirs
    their_entries = [entry.model_dump(by_alias=True, exclude_none=True) for entry in theirs.entries]
    prove(their_entries, without_bad_entries(plan["entries"]), f"the SDK reading {name}")
    prove(theirs.field_meta, plan.get("_meta"), f"the SDK reading _meta of {name}")
    _prove_read(name, reading, params, plan)


def without_bad_entries(entries: list[Any]) -> list[Any]:
    """The entries that a reader which follows the schema keeps."""
    return [entry for entry in entries if isinstance(entry, dict) and "priority" in entry]


def _prove_read(name: str, reading: planwire.Reading, params: dict[str, Any], plan: dict[str, Any]) -> None:
    (update,) = reading.updates
    body = update.body
    assert isinstance(body, planwire.ItemsPlan)
    expected = [
        entry if isinstance(entry, dict) else {"content": entry, "status": "pending"} for entry in plan["entries"]
    ]
    fields = [(entry.content, entry.priority, entry.status, entry.meta) for entry in body.entries]
    wanted = [(entry["content"], entry.get("priority"), entry["status"], entry.get("_meta")) for entry in expected]
    prove(fields, wanted, f"planwire reading {name}")
    prove(len(reading.reports), len(BAD_ENTRIES) if name == "bad_entry" else 0, f"planwire's reports on {name}")
    known = ("sessionUpdate", "type", "planId", "entries", "_meta")
    siblings = {key: value for key, value in plan.items() if key not in known}
    around = {key: value for key, value in params.items() if key not in ("sessionId", "update")}
    prove(update.session, params["sessionId"], f"planwire reading the session of {name}")
    prove((body.meta or {}, body.extra or {}), (plan.get("_meta", {}), siblings), f"planwire keeping fields of {name}")
    prove(update.envelope.params or {}, around, f"planwire keeping fields around {name}")


def prove_encoded(name: str, line: bytes) -> None:
    """Prove that everyone writes what it read. Only the SDK has no place for fields outside the protocol."""
    message = json.loads(line)
    (update,) = planwire.read(line).updates
    prove(json.loads(planwire.write(update, planwire.V1)), message, f"planwire writing {name}")
    for peer in ("orjson", "json"):
        prove(json.loads(ENCODERS[peer](DECODERS[peer](line))), message, f"{peer} writing {name}")
    known = {key: message["params"]["update"].get(key) for key in ("sessionUpdate", "entries", "_meta")}
    message["params"]["update"] = {key: value for key, value in known.items() if value is not None}
    prove(json.loads(sdk_encode(sdk_decode(line))), message, f"the SDK writing {name}")


def prove_applied(change: planwire.Change, size: int) -> None:
    """Prove that the change is one status of one step, and that every step is still there under its id."""
    (plan,) = change.plans
    assert plan.before is not None
    assert plan.after is not None
    (moved,) = plan.diff.status
    prove(plan.diff, planwire.Diff(status=(moved,)), f"the difference in {size} entries")
    prove({moved.before, moved.after}, {"in_progress", "completed"}, f"the status in {size} entries")
    ids = [[step.id for step in state.steps] for state in (plan.before, plan.after)]
    prove(ids, [[f"s{number}" for number in range(1, size + 1)]] * 2, f"ids of {size} steps")
