"""Agents in their own terminals: what their hooks say is recorded, and what people say reaches them through hooks."""

__all__: list[str] = []
