"""A journal in a PostgreSQL database: any number of machines."""

__all__: list[str] = []
