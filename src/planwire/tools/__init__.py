"""The plan tools for models: their schemas, and the effect of a call."""

__all__: list[str] = []
