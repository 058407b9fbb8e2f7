"""The board in the browser: live plans and their history, for this machine only unless its user says otherwise."""

from planwire.errors import MissingExtra

try:
    import httptools  # noqa: F401
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise MissingExtra(f"the board needs {error.name}, which is not here: pip install 'planwire[web]'") from None

from planwire.web.app import BoardApp
from planwire.web.server import BoardServer

__all__ = ["BoardApp", "BoardServer"]
