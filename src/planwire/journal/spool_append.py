"""The appending end of a spool: records wait in a file until a process drains them into a journal.

Hooks run this in a hurry, in a Python with only its standard library: nothing here imports planwire, or anything that
is slow to load. `spool` is the other end.

A record begins with the byte 0x1e, which occurs nowhere else in it: JSON never has that byte, and a note or a body that
has it gets it escaped. So no body can pass for a record, not even if its own record is torn, and behind any damage the
next 0x1e begins something that may be whole. A record in full, with checksums in hexadecimal:

    0x1e CHECKSUM SOURCE NUMBER TIME NOTE-LENGTH BODY-LENGTH CHECKSUM-OF-BODY newline NOTE newline BODY newline

The first checksum is that of the line behind it and the note. So whose a record is can be known though its body is
damaged; and a record is whole if its lengths and checksums agree, whatever follows it.

A file has a random `source`, and its records the numbers 1, 2, 3 …: a number that is missing is a lost record. `count`
has the number that was acknowledged last, so that records at the end are missed, too. If a power cut leaves it behind
the file, or it is gone, the file itself tells the next number.

Writers take turns (`flock`). A drainer renames the file while holding its lock, so a writer that was waiting checks
whether the file still has its name, and opens the new one if not. A writer whose turn does not come, because another
was stopped in the middle of its own, leaves its record in a separate file, which is drained after the spool. A writer
whose records must keep their order uses separate files until these are drained.

A body that finds no room leaves its first bytes in `overflow`. They tell whose it was, so that the loss is known. On a
full disk there is no room for that either, so the folder has a `reserve`: a file that exists to be removed.
"""

import os
from binascii import crc32
from errno import EDQUOT, ENOSPC
from time import monotonic, sleep, time, time_ns

try:
    import fcntl
except ImportError:  # Windows: nothing is spooled there
    HAS_FLOCK = False
else:
    HAS_FLOCK = True

__all__ = [
    "COUNT",
    "HAS_FLOCK",
    "HEAD",
    "LATE",
    "LOCK",
    "MOST",
    "MOST_IN_A_RECORD",
    "OVERFLOW",
    "SPOOL",
    "RecordHead",
    "append",
    "encode_note",
    "is_drained",
    "is_stale",
    "locked",
    "make_folder",
    "put",
    "read_head",
    "read_mark",
    "refill",
    "sync_folders",
    "write_mark",
]

SPOOL = "spool"
OVERFLOW = "overflow"
LATE = "late-"
RESERVE = "reserve"
LOCK = "drainer.lock"
COUNT = "count"
#: Limits in bytes: of the spool, of a record's body, of the overflow, and of a body that goes there.
MOST = 64 << 20
MOST_IN_A_RECORD = 32 << 20
MOST_OVERFLOW = 1 << 20
HEAD = 512

#: Bytes of a record's first line, at most, and of the end of a file in which the last record is looked for at first.
_MOST_IN_A_LINE = 150
_LOOK = 64 << 10
#: How many damaged beginnings of records are passed over before a writer gives up on the numbers in a file.
_MOST_DAMAGED = 1_000
#: How the names of drafts end, and the seconds after which their writers were killed.
_DRAFT = ".planwire-draft"
_OLD_DRAFT = 60.0
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
    """Write a file that appears whole or not at all. `durable`: on return it is on the disk. What writers that were
    killed left in the folder is removed."""
    path = f"{folder}/{name}"
    draft = f"{folder}/.{name}-{os.urandom(4).hex()}{_DRAFT}"
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
        sync_folders(folder)
    _sweep(folder)


def read_mark(folder: str, name: str) -> "tuple[bytes, int] | None":
    """The source and the number of a record that `write_mark` wrote; None if they can't be read."""
    try:
        with open(f"{folder}/{name}", "rb") as file:
            mark, _, check = file.read().rpartition(b" ")
        source, number = mark.split(b" ")
        return (source, int(number)) if check == b"%08x\n" % crc32(mark) else None
    except (OSError, ValueError):
        return None


def write_mark(folder: str, name: str, source: bytes, number: int) -> None:
    """Write the source and the number of a record over what is in a small file, if that can be written."""
    mark = b"%b %020d" % (source, number)
    try:
        handle = os.open(f"{folder}/{name}", os.O_CREAT | os.O_WRONLY | _NOT_THROUGH_LINKS, _PRIVATE_FILE)
        try:
            os.write(handle, b"%b %08x\n" % (mark, crc32(mark)))
        finally:
            os.close(handle)
    except OSError:
        pass


class RecordHead:
    """What comes before the body of a record, undamaged: its `source` and `number`, when it was appended (`at`), its
    note, and where its body begins, how long that is and what its checksum is."""

    __slots__ = ("at", "body_at", "body_check", "body_length", "note", "number", "source")

    def __init__(self, line: "list[bytes]", note: bytes, body_at: int) -> None:
        self.source = line[0]
        self.number, self.at, _, self.body_length = map(int, line[1:5])
        self.body_check = line[5]
        self.note = note
        self.body_at = body_at

    def is_of(self, body: bytes) -> bool:
        """Whether this is the body, and undamaged."""
        return len(body) == self.body_length and self.body_check == b"%08x" % crc32(body)


def read_head(data: bytes, start: int = 0) -> "RecordHead | None":
    """The head of the record whose 0x1e is right before `start`; None if it is damaged, or cut short."""
    end = data.find(b"\n", start, start + _MOST_IN_A_LINE)
    check, *line = data[start : max(end, start)].split(b" ")
    try:
        body_at = end + 2 + int(line[3])
        if check == b"%08x" % crc32(data[start + 9 : body_at - 1]) and data[body_at - 1 : body_at] == b"\n":
            return RecordHead(line, data[end + 1 : body_at - 1], body_at)
    except (ValueError, IndexError):
        pass
    return None


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
        length = os.fstat(handle).st_size
        source, number = _next_number(folder, name, handle, length)
        record = _record(source, number, note, body)
        if length + len(record) > most:
            return False
        if durable and not length:
            sync_folders(folder)
        try:
            _write(handle, record)
            if durable:
                os.fsync(handle)
        except BaseException:
            os.ftruncate(handle, length)
            raise
        if name == SPOOL:
            write_mark(folder, COUNT, source, number)
        return True
    finally:
        os.close(handle)


def _next_number(folder: str, name: str, handle: int, length: int) -> "tuple[bytes, int]":
    """The source and the number of the next record in a file of that length, which is locked."""
    counted = read_mark(folder, COUNT) if name == SPOOL else None
    last = _last_in(handle, length) or counted or (_new_source(), 0)
    if counted is not None and counted[0] == last[0]:
        last = max(last, counted)
    return last[0], last[1] + 1


def _new_source() -> bytes:
    return os.urandom(8).hex().encode()


def _last_in(handle: int, length: int) -> "tuple[bytes, int] | None":
    """The source and the number of the last record in a file whose head is undamaged. Mostly that is close to the
    end."""
    size, left = 0, _MOST_DAMAGED
    while left and size < length:
        size = max(_LOOK, size * 16)
        block = os.pread(handle, size, max(0, length - size))
        start = block.rfind(b"\x1e")
        while left and start >= 0:
            if head := read_head(block, start + 1):
                return head.source, head.number
            start, left = block.rfind(b"\x1e", 0, start), left - 1
    return None


def _put_aside(folder: str, note: bytes, body: bytes, durable: bool) -> bool:
    try:
        if _count_late(folder) < _MOST_LATE:
            put(folder, f"{LATE}{time_ns():020d}-{os.urandom(4).hex()}", _record(_new_source(), 1, note, body), durable)
            return True
    except OSError:
        pass
    return False


def _count_late(folder: str) -> int:
    return sum(name.startswith(LATE) for name in os.listdir(folder))


def sync_folders(folder: str) -> None:
    """Bring the names of new files and folders to the disk, up to the root: no one knows which of them are new. Some
    file systems can't, and a user may not open them all."""
    while folder:
        try:
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError:
            pass
        folder = os.path.dirname(folder) if os.path.dirname(folder) != folder else ""


def _sweep(folder: str) -> None:
    """Remove the drafts of writers that were killed."""
    for name in os.listdir(folder):
        if name.startswith(".") and name.endswith(_DRAFT):
            try:
                if abs(time() - os.stat(f"{folder}/{name}").st_mtime) > _OLD_DRAFT:
                    os.unlink(f"{folder}/{name}")
            except OSError:  # its writer had it after all, or another process was faster
                pass


def _record(source: bytes, number: int, note: bytes, body: bytes) -> bytes:
    note, body = _escaped(note), _escaped(body)
    lengths = b"%d %d" % (len(note), len(body))
    line = b"%b %d %d %b %08x" % (source, number, time_ns() // 1_000_000, lengths, crc32(body))
    return b"\x1e%08x %b\n%b\n%b\n" % (crc32(b"%b\n%b" % (line, note)), line, note, body)


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
