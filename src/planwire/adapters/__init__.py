"""planwire inside other packages: one file a package, for those who have it installed."""

__all__: list[str] = []
