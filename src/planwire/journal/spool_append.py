"""The appending end of a spool: records wait in a file until a process drains them into a journal.

Hooks run this in a hurry, in a Python with only its standard library: nothing here imports planwire, or anything that
is slow to load. `spool` is the other end.

A record is one piece of the file. It begins with the byte 0x1e, which occurs nowhere else in it: JSON never has that
byte, and a note or a body that has it gets it escaped. So where a record begins is never a guess. A record whose writer
was killed halfway ends at the next 0x1e, has the wrong length and costs only itself. And no body can pass for a record,
not even if its own record is torn. A record in full:

    0x1e TIME NOTE-LENGTH BODY-LENGTH newline NOTE newline BODY newline

Writers take turns (`flock`). A drainer renames the file while holding its lock, so a writer that was waiting checks
whether the file still has its name, and opens the new one if not. A writer whose turn does not come, because another
was stopped in the middle of its own, leaves its record in a separate file, which is drained after the spool. A writer
whose records must keep their order uses separate files until these are drained.

A body that finds no room leaves its first bytes in `overflow`. They tell whose it was, so that the loss is known. On a
full disk there is no room for that either, so the folder has a `reserve`: a file that exists to be removed.
"""

import os
from errno import EDQUOT, ENOSPC
from time import monotonic, sleep, time, time_ns

try:
    import fcntl
except ImportError:  # Windows: nothing is spooled there
    HAS_FLOCK = False
else:
    HAS_FLOCK = True

__all__ = [
    "HAS_FLOCK",
    "HEAD",
    "LATE",
    "LOCK",
    "MOST",
    "MOST_IN_A_RECORD",
    "OVERFLOW",
    "SPOOL",
    "append",
    "encode_note",
    "is_drained",
    "is_stale",
    "locked",
    "make_folder",
    "put",
    "refill",
]

SPOOL = "spool"
OVERFLOW = "overflow"
LATE = "late-"
RESERVE = "reserve"
LOCK = "drainer.lock"
#: Limits in bytes: of the spool, of a record's body, of the overflow, and of a body that goes there.
MOST = 64 << 20
MOST_IN_A_RECORD = 32 << 20
MOST_OVERFLOW = 1 << 20
HEAD = 512

#: Seconds without a sign of life after which a drainer counts as stopped, or stuck.
_STALE = 5.0
_RESERVED = 8 << 10
_PRIVATE_FILE = 0o600
_PRIVATE_FOLDER = 0o700
#: Seconds to wait for other writers, and between two tries: at first, and at most. A turn takes microseconds, unless
#: the writer was stopped in the middle, or a thousand others want to run.
_PATIENCE = 3.0
_GLANCES = (0.001, 0.05)
#: The most records that wait in separate files.
_MOST_LATE = 1_000
#: More often than drainers can rename the file that a writer waits for.
_MOST_TRIES = 100
_NOT_THROUGH_LINKS = getattr(os, "O_NOFOLLOW", 0)


def append(folder: str, note: bytes, body: bytes, most: int = MOST, *, durable: bool = False) -> bool:
    """Append a record; returns whether it is in the spool. Never raises, whatever is wrong.

    `durable`: on return the record is on the disk, after all that its writer appended before. One that is not kept
    leaves no sign: its writer still has it, and knows."""
    try:
        if make_folder(folder):
            refill(folder)
        if len(body) <= MOST_IN_A_RECORD:
            if durable and _count_late(folder):
                raise _NotOurTurn
            if _append(folder, SPOOL, note, body, most, durable):
                return True
    except _NotOurTurn:
        if _put_aside(folder, note, body, durable):
            return True
    except Exception:  # a full disk, another user's folder, …
        pass
    if not durable:
        _leave_a_sign(folder, note, body[:HEAD])
    return False


def encode_note(note: "dict[str, str]") -> bytes:
    """A note as one line: `key=value`, separated by tabs."""
    fields = (f"{key}={value}".replace("\t", " ").replace("\n", " ") for key, value in note.items())
    return "\t".join(fields).encode("utf-8", "replace")


def make_folder(folder: str) -> bool:
    """Make a folder that only its owner can read, if it is missing, with those around it; returns whether it was."""
    if os.path.isdir(folder):
        return False
    parent = os.path.dirname(folder)
    if parent and not os.path.isdir(parent):
        make_folder(parent)
    try:
        os.mkdir(folder, _PRIVATE_FOLDER)
    except FileExistsError:
        return False
    return True


def refill(folder: str) -> None:
    """Put a `reserve` into a folder, if it has none and there is room for one."""
    try:
        handle = os.open(f"{folder}/{RESERVE}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PRIVATE_FILE)
    except OSError:  # mostly because there is one
        return
    try:
        os.write(handle, os.urandom(_RESERVED))  # zeros take no room in some file systems
    except OSError:
        os.unlink(f"{folder}/{RESERVE}")
    finally:
        os.close(handle)


def put(folder: str, name: str, data: bytes, durable: bool = False) -> None:
    """Write a file that appears whole or not at all. `durable`: on return it is on the disk."""
    path = f"{folder}/{name}"
    draft = f"{folder}/.{name}-{os.urandom(4).hex()}"
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PRIVATE_FILE)
    try:
        try:
            _write(handle, data)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(draft, path)
    except OSError:
        os.unlink(draft)
        raise
    if durable:
        _sync_folder(folder)


def locked(path: str, flags: int = 0, patience: "float | None" = None) -> "int | None":
    """A handle of a file, locked: the file keeps its name until the handle is closed. None if others keep it locked."""
    end = monotonic() + (_PATIENCE if patience is None else patience)
    for _ in range(_MOST_TRIES):
        handle = os.open(path, os.O_RDWR | _NOT_THROUGH_LINKS | flags, _PRIVATE_FILE)
        try:
            if not _lock(handle, end):
                break
            if _is_at(handle, path):
                found, handle = handle, -1
                return found
        finally:
            if handle >= 0:
                os.close(handle)
    return None


def is_drained(folder: str) -> bool:
    """Whether a process is there to drain the spool (`drainer_lock`)."""
    try:
        handle = os.open(f"{folder}/{LOCK}", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return not is_stale(os.fstat(handle))
    finally:
        os.close(handle)
    return False


def is_stale(lock: os.stat_result) -> bool:
    """Whether the holder of this lock has shown no sign of life for a while."""
    return abs(time() - lock.st_mtime) > _STALE


class _NotOurTurn(Exception):
    """Others keep the file locked."""


def _append(folder: str, name: str, note: bytes, body: bytes, most: int, durable: bool = False) -> bool:
    handle = locked(f"{folder}/{name}", os.O_CREAT | os.O_APPEND)
    if handle is None:
        raise _NotOurTurn
    try:
        record = _record(note, body)
        length = os.fstat(handle).st_size
        if length + len(record) > most:
            return False
        try:
            _write(handle, record)
            if durable:
                os.fsync(handle)
                if not length:
                    _sync_folder(folder)
        except BaseException:
            os.ftruncate(handle, length)
            raise
        return True
    finally:
        os.close(handle)


def _put_aside(folder: str, note: bytes, body: bytes, durable: bool) -> bool:
    try:
        if _count_late(folder) < _MOST_LATE:
            put(folder, f"{LATE}{time_ns():020d}-{os.urandom(4).hex()}", _record(note, body), durable)
            return True
    except OSError:
        pass
    return False


def _count_late(folder: str) -> int:
    return sum(name.startswith(LATE) for name in os.listdir(folder))


def _sync_folder(folder: str) -> None:
    """Bring a new name to the disk as well, where the file system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def _record(note: bytes, body: bytes) -> bytes:
    note, body = _escaped(note), _escaped(body)
    return b"\x1e%d %d %d\n%b\n%b\n" % (time_ns() // 1_000_000, len(note), len(body), note, body)


def _escaped(data: bytes) -> bytes:
    return data.replace(b"\x1f", b"\x1f_").replace(b"\x1e", b"\x1f^")


def _write(handle: int, data: bytes) -> None:
    """Write all of it, in one go if the system takes it."""
    done = os.write(handle, data)
    while done < len(data):
        done += os.write(handle, data[done:])


def _lock(handle: int, end: float) -> bool:
    glance, longest = _GLANCES
    while HAS_FLOCK:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() > end:
                return False
            sleep(glance)
            glance = min(glance * 2, longest)
        else:
            return True
    return False


def _is_at(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _leave_a_sign(folder: str, note: bytes, head: bytes) -> None:
    try:
        try:
            _append(folder, OVERFLOW, note, head, MOST_OVERFLOW)
        except OSError as error:
            if error.errno not in (ENOSPC, EDQUOT):
                return
            os.unlink(f"{folder}/{RESERVE}")
            _append(folder, OVERFLOW, note, head, MOST_OVERFLOW)
    except Exception:  # then nothing can be done
        pass
