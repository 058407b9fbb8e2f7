"""One agent session: its journal, the model's context, and the clients that are told."""

__all__: list[str] = []
