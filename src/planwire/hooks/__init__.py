"""Agents in their own terminals: what their hooks say is recorded, and what people say is told through them."""

__all__: list[str] = []
