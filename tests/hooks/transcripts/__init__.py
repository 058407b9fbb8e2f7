"""Transcripts of real sessions, in the folders of their agents' homes, without the lines and fields that matter to
nobody else."""

from pathlib import Path

__all__ = ["HOMES"]

HOMES = Path(__file__).parent
