"""One agent session: its journal, the model's context, and its clients."""

__all__: list[str] = []
