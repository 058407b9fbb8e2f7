"""The board in the browser: plans live, and their history. Served to this machine only, unless told otherwise."""

from planwire.errors import MissingExtra

try:
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError:
    raise MissingExtra("the board needs Starlette and uvicorn: pip install 'planwire[web]'") from None

from planwire.web.app import BoardApp
from planwire.web.server import BoardServer

__all__ = ["BoardApp", "BoardServer"]
