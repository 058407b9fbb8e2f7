"""A hook as a process that lives for milliseconds: it writes what the agent says to the spool, and maybe answers.

An agent waits for each of its hooks. So this imports neither planwire nor anything slow; only a hook that wants an
answer which nobody is there to give becomes the full program. Whatever goes wrong, it ends with 0 and prints nothing:
an agent takes any other status for a veto, and any other word for context.

An answer is a file, `answers/ID`, that whoever drains the spool writes under the id in the hook's note. Both can take
it, by renaming it, and only one of them will: so either the hook says it, or the drainer knows that it did not.
`.taken` is an answer that is being said, `.told` one that was.
"""

import os
import sys
from time import monotonic, sleep, time, time_ns

TYPE_CHECKING = False  # importing it from typing takes longer than all the rest
if TYPE_CHECKING:
    from types import ModuleType

    from planwire.journal.spool_append import MOST_IN_A_RECORD, append, encode_note, is_drained, make_folder, put
else:
    try:
        from spool_append import MOST_IN_A_RECORD, append, encode_note, is_drained, make_folder, put
    except ImportError:  # somebody imports this as a part of planwire
        from planwire.journal.spool_append import MOST_IN_A_RECORD, append, encode_note, is_drained, make_folder, put

__all__ = ["PATIENCE", "is_away", "run", "say", "serve"]

#: Variables that tell which agent started a process. Only that they are there is noted, never what they hold.
TELLING = ("COPILOT_CLI", "QWEN_CODE_CLI", "GEMINI_SESSION_ID", "CLAUDECODE")
#: The variable of an agent behind planwire's relay, which records that agent itself.
RELAYED = "PLANWIRE_AGENT"
#: How many of the processes are noted that the hook descends from.
LEVELS = 6
#: Seconds to wait for the answer of somebody who drains, for that to a call, which this process can answer itself, and
#: between two looks.
PATIENCE = 0.6
CALL_PATIENCE = 0.15
GLANCE = 0.003
#: Seconds that this process itself may work on an answer, whoever keeps the journal busy.
MOST_SECONDS = 2.0
#: Looks after which to see whether there still is somebody.
LOOKS = 16
#: Seconds for which nobody asks a server again that did not answer somebody else (`journal/away/outage`).
LATELY = 2.0


def run(arguments: "list[str]") -> None:
    """Be the hook, and end the process."""
    try:
        _fill_standard_streams()
        role, folder, *more = arguments
        serve(role, folder, more[0] if more else "", _all_of_standard_input())
    except BaseException:  # whatever it is, the agent goes on
        pass
    finally:
        os._exit(0)  # nothing is left to clean up, and that would take a while


def serve(role: str, folder: str, agent: str, body: bytes) -> None:
    """Do what a hook of a role does with what the agent said. Nothing, where the relay does it all."""
    if body.strip() and os.path.isabs(folder) and RELAYED not in os.environ:
        ROLES[role](folder, _note(role, agent), body)


def record(folder: str, note: "dict[str, str]", body: bytes) -> None:
    """What the agent says goes to the spool."""
    append(folder, encode_note(note), body)


def tell(folder: str, note: "dict[str, str]", body: bytes) -> None:
    """The same, and the answer goes to the model: that of whoever drains the spool, or else of this process itself."""
    answer = note["answer"] = os.urandom(8).hex()
    if not append(folder, encode_note(note), body):
        return
    if _somebody_answers(folder, answer, PATIENCE):
        _say_answer(folder, answer)
        return
    if is_away(folder):
        return
    hook_command = _become_planwire("planwire.hooks.hook_command", MOST_SECONDS)
    hook_command.tell_now(folder, answer)
    if _say_answer(folder, answer):
        hook_command.settle(folder)


def call(folder: str, note: "dict[str, str]", body: bytes) -> None:
    """A call of planwire's own tools: their server finds in `calls` whose it is, and it needs no dialog. Whoever drains
    can say so in the agent's dialect, and much sooner than this process."""
    answer = note["answer"] = os.urandom(8).hex()
    try:
        make_folder(folder)
        make_folder(f"{folder}/calls")
        put(f"{folder}/calls", f"{time_ns()}-{os.getpid()}-{answer}", encode_note(note) + b"\n" + body)
    except OSError:  # then the server guesses
        pass
    if append(folder, encode_note(note), body) and _somebody_answers(folder, answer, CALL_PATIENCE):
        if _say_answer(folder, answer):
            return
    agents, answers = _become_planwire("planwire.hooks.agents"), _become_planwire("planwire.hooks.answers")
    payload = agents.read_hook(body, note.get("agent"), note["variables"].split())
    say(payload.spoken(answers.AllowCall()) if payload else b"")


def ask(folder: str, note: "dict[str, str]", body: bytes) -> None:
    """A plan that a person shall decide about: the agent waits for that, and this process with it."""
    append(folder, encode_note(note), body)
    _become_planwire("planwire.hooks.hook_command").ask(folder, note, body)


def news(folder: str, note: "dict[str, str]", body: bytes) -> None:
    """Any tool call: the model is told what a person said meanwhile, if anybody did. Mostly one look is all."""
    try:
        names = os.listdir(f"{folder}/news")
    except OSError:
        return
    if any(name.encode() in body for name in names):
        tell(folder, note, body)


ROLES = {"record": record, "tell": tell, "news": news, "call": call, "ask": ask}


def _fill_standard_streams() -> None:
    """A stream that is closed would be the next file to be opened, and the answer would go there."""
    for handle in (0, 1, 2):
        try:
            os.fstat(handle)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _all_of_standard_input() -> bytes:
    """What the agent says. Of what is too long, no more than shows that it is; but all is read, so that the agent can
    write it."""
    found: list[bytes] = []
    length = 0
    while not os.isatty(0) and (block := os.read(0, 1 << 20)):
        if length <= MOST_IN_A_RECORD:
            found.append(block)
            length += len(block)
    return b"".join(found)


def _note(role: str, agent: str) -> "dict[str, str]":
    note = {"at": str(time_ns() // 1_000_000), "role": role}
    if agent:
        note["agent"] = agent
    note["ancestors"] = ",".join(_ancestors())
    note["variables"] = " ".join(name for name in TELLING if name in os.environ)
    return note


def _ancestors() -> "list[str]":
    """The processes that the hook descends from, nearest first, as `PID:START:PROGRAM`: a number alone may be that of
    another one tomorrow. Empty where the system has no such files."""
    found: list[str] = []
    pid = os.getppid()
    try:
        while pid > 1 and len(found) < LEVELS:
            with open(f"/proc/{pid}/stat", "rb") as file:
                head, _, tail = file.read().rpartition(b")")  # a program's name may hold anything
            fields, program = tail.split(), head.partition(b"(")[2].decode("ascii", "replace")
            found.append(f"{pid}:{int(fields[19])}:{program.replace(',', ' ')}")
            if int(fields[3]) == pid and int(fields[4]):  # all of a terminal: what is above it is a person's
                break
            pid = int(fields[1])
    except (OSError, LookupError, ValueError):
        pass
    return found


def _somebody_answers(folder: str, answer: str, patience: float) -> bool:
    """Wait until the answer is there, and no longer than that; False at once if nobody drains the spool."""
    end = monotonic() + patience
    looks = 0
    while not os.path.exists(f"{folder}/answers/{answer}") and monotonic() < end:
        if looks % LOOKS == 0 and not is_drained(folder):
            return os.path.exists(f"{folder}/answers/{answer}")  # the last thing that somebody did
        looks += 1
        sleep(GLANCE)
    return True


def is_away(folder: str) -> bool:
    """Whether somebody has just found that the server of this folder's journal is away: then nobody can answer. Its
    folder beside those of hooks has the same name."""
    beside, name = os.path.split(folder)
    try:
        return abs(time() - os.stat(f"{os.path.dirname(beside)}/away/{name}/away").st_mtime) < LATELY
    except OSError:
        return False


def _say_answer(folder: str, answer: str) -> bool:
    """Take the answer, say it, and leave a sign that it was said. Whether there was anything to say."""
    path = f"{folder}/answers/{answer}"
    try:
        os.rename(path, f"{path}.taken")
    except FileNotFoundError:  # nobody answered, or it was taken back
        return False
    with open(f"{path}.taken", "rb") as file:
        said = file.read()
    say(said)
    os.rename(f"{path}.taken", f"{path}.told")
    return bool(said)


def say(answer: bytes) -> None:
    """Write an answer to standard output, all of it."""
    while answer:
        answer = answer[os.write(1, answer) :]


def _end_after(seconds: float) -> None:
    """End the process in time, and with 0: a shell reports one that a signal ended."""
    sleep(seconds)
    os._exit(0)


def _become_planwire(module: str, seconds: float = 0.0) -> "ModuleType":
    """One of planwire's modules, in what is a full Python from here on, and one that ends after so many seconds.
    Planwire is that of this file, even if it was installed where Python with these options does not look, or if there
    is another one."""
    import site  # it takes as long as a whole hook
    from _thread import start_new_thread
    from importlib import import_module

    if seconds:
        start_new_thread(_end_after, (seconds,))
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if root not in sys.path:
        sys.path.append(root)
        site.main()
    return import_module(module)
