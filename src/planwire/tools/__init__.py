"""The plan tools of a model: their schemas, and the effect of a call."""

__all__: list[str] = []
