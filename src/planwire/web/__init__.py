"""The board in the browser: live plans and their history, for this machine only unless its user says otherwise."""

from planwire.extras import missing_extra

try:
    import httptools  # noqa: F401

    from planwire.web.app import BoardApp
    from planwire.web.server import BoardServer
except ImportError as error:
    raise missing_extra("the board", "starlette", error) from error

__all__ = ["BoardApp", "BoardServer"]
