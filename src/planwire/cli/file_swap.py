"""Replace the content of a person's own file, completely or not at all."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from planwire.errors import InputError, Refused, reason


def read_bytes(path: Path) -> bytes | None:
    """The content of a file; None if there is no such file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path} can't be read: {reason(error)}") from None


def swap_bytes(path: Path, before: bytes | None, after: bytes | None, *, like: Path | None = None) -> None:
    """Write `after` if the file still holds `before`; None stands for no file.

    Readers see one or the other, never a part. A link stays a link, and the file keeps its permissions; a new file gets
    those of `like`, since a copy of settings must not be easier to read than the original.
    """
    target = Path(os.path.realpath(path))
    try:
        if after is None:
            refuse_if_changed(target, before)
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(after)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(_mode(target, like))
            refuse_if_changed(target, before)
            Path(name).replace(target)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise InputError(f"{path} can't be written: {reason(error)}. It is as it was") from None


def refuse_if_changed(path: Path, before: bytes | None) -> None:
    """Raise `Refused` if the content of the file has changed, because another program saved it meanwhile."""
    if read_bytes(path) != before:
        raise Refused(f"{path} was changed by another program in the meantime, and is left alone: try again")


def _mode(path: Path, like: Path | None) -> int:
    for each in (path, like):
        with suppress(OSError):
            if each is not None:
                return each.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
