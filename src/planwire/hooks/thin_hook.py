"""A hook as a process that lives for milliseconds: it writes what the agent says to the spool, and maybe answers.

An agent waits for each of its hooks. So this imports neither planwire nor anything slow; only a hook that needs an
answer that no other process can give becomes the full program. Whatever goes wrong, it ends with 0 and prints nothing:
an agent takes any other status for a veto, and any other word for context.

An answer is a file, `answers/ID`, that the drainer of the spool writes under the id in the hook's note. Hook and
drainer can both take it by renaming it, and only one of them succeeds: so either the hook says it, or the drainer knows
that it did not. `.taken` is an answer that is being said, `.told` one that was.
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
    except ImportError:  # imported as a part of planwire
        from planwire.journal.spool_append import MOST_IN_A_RECORD, append, encode_note, is_drained, make_folder, put

#: Variables that tell which agent started a process. Only their presence is noted, never their values.
TELLING = ("COPILOT_CLI", "QWEN_CODE_CLI", "GEMINI_SESSION_ID", "CLAUDECODE")
#: The variable of an agent behind planwire's relay, which records that agent itself.
RELAYED = "PLANWIRE_AGENT"
#: How many of the hook's ancestors are noted.
LEVELS = 6
#: Seconds to wait for the drainer's answer, for its answer to a call (which this process can give itself), and between
#: two looks.
PATIENCE = 0.6
CALL_PATIENCE = 0.15
GLANCE = 0.003
#: Seconds that this process itself may work on an answer, whoever keeps the journal busy.
MOST_SECONDS = 2.0
#: How many looks pass between checks that there still is a drainer.
LOOKS = 16
#: Seconds for which no process asks a server that did not answer another one (`journal/away/outage`).
LATELY = 2.0


def run(arguments: "list[str]") -> None:
    """Be the hook, and end the process."""
    try:
        _fill_standard_streams()
        role, folder, *more = arguments
        serve(role, folder, more[0] if more else "", _all_of_standard_input())
    except BaseException:  # whatever is wrong, the agent goes on
        pass
    finally:
        os._exit(0)  # nothing is left to clean up, and that would take a while


def serve(role: str, folder: str, agent: str, body: bytes) -> None:
    """Do what a hook of this role does with what the agent said; nothing if the relay records the agent."""
    if body.strip() and os.path.isabs(folder) and RELAYED not in os.environ:
        ROLES[role](folder, _note(role, agent), body)


def record(folder: str, note: "dict[str, str]", body: bytes) -> None:
    """Put what the agent says into the spool."""
    append(folder, encode_note(note), body)


def tell(folder: str, note: "dict[str, str]", body: bytes) -> None:
    """The same, and give the model an answer: the drainer's, or else one made by this process."""
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
    """A call of planwire's own tools: their server finds in `calls` whose it is, and it needs no dialog. The drainer
    can say so in the agent's dialect much sooner than this process."""
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
    """A plan that a person has to decide about: the agent waits for that, and this process with it."""
    append(folder, encode_note(note), body)
    _become_planwire("planwire.hooks.hook_command").ask(folder, note, body)


def news(folder: str, note: "dict[str, str]", body: bytes) -> None:
    """Any tool call: the model is told what people said meanwhile, if they did. Mostly one look is all."""
    try:
        names = os.listdir(f"{folder}/news")
    except OSError:
        return
    if any(name.encode() in body for name in names):
        tell(folder, note, body)


ROLES = {"record": record, "tell": tell, "news": news, "call": call, "ask": ask}


def _fill_standard_streams() -> None:
    """Open closed streams: the next file to be opened would take their number, and get the answer."""
    for handle in (0, 1, 2):
        try:
            os.fstat(handle)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _all_of_standard_input() -> bytes:
    """What the agent says. Of an input that is too long, only as much as shows that; but all is read, so that the agent
    can write it."""
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
    """The processes that the hook descends from, nearest first, as `PID:START:PROGRAM`: a number alone may be another
    process's tomorrow. Empty if the system has no such files."""
    found: list[str] = []
    pid = os.getppid()
    try:
        while pid > 1 and len(found) < LEVELS:
            with open(f"/proc/{pid}/stat", "rb") as file:
                head, _, tail = file.read().rpartition(b")")  # a program's name may hold anything
            fields, program = tail.split(), head.partition(b"(")[2].decode("ascii", "replace")
            found.append(f"{pid}:{int(fields[19])}:{program.replace(',', ' ')}")
            if int(fields[3]) == pid and int(fields[4]):  # it leads a terminal: what is above it is a person's
                break
            pid = int(fields[1])
    except (OSError, LookupError, ValueError):
        pass
    return found


def _somebody_answers(folder: str, answer: str, patience: float) -> bool:
    """Wait for the answer, but no longer than `patience`; False at once if no process drains the spool."""
    end = monotonic() + patience
    looks = 0
    while not os.path.exists(f"{folder}/answers/{answer}") and monotonic() < end:
        if looks % LOOKS == 0 and not is_drained(folder):
            return os.path.exists(f"{folder}/answers/{answer}")  # the last thing that the drainer did
        looks += 1
        sleep(GLANCE)
    return True


def is_away(folder: str) -> bool:
    """Whether a process has just found the server of this folder's journal away: then there can be no answer. The
    server's folder beside those of hooks has the same name."""
    beside, name = os.path.split(folder)
    try:
        return abs(time() - os.stat(f"{os.path.dirname(beside)}/away/{name}/away").st_mtime) < LATELY
    except OSError:
        return False


def _say_answer(folder: str, answer: str) -> bool:
    """Take the answer, say it, and leave a sign that it was said. Returns whether there was anything to say."""
    path = f"{folder}/answers/{answer}"
    try:
        os.rename(path, f"{path}.taken")
    except FileNotFoundError:  # there was no answer, or it was taken back
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
    """End the process in time, and with 0: a shell would report an end by a signal."""
    sleep(seconds)
    os._exit(0)


def _become_planwire(module: str, seconds: float = 0.0) -> "ModuleType":
    """Import one of planwire's modules, which makes this process a full Python; it ends after `seconds`, if given.
    Planwire is the one of this file, even if Python with these options does not look there, or if there is another
    one."""
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
