"""Steering: the acts of people on plans, and the rules for them."""

__all__: list[str] = []
