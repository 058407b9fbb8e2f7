"""Journals under hard use: writers that are killed, servers that go away, connections that are cut or slow.

Each proof runs twice: with small numbers in `make test`, and with the full ones in `make torture`, which writes what it
found into docs/torture.md.
"""
