"""The plan tools of a model: what they look like, and what a call of one does."""

__all__: list[str] = []
