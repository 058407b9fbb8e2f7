"""Engines as other packages write them: one file each, over what is there, with `planwire.journal.store` alone."""
