"""Adapters to other packages: one file per package, usable where that package is installed."""

__all__: list[str] = []
