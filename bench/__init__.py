"""Speed against peers: `python -m bench` prints the tables and writes `bench/results.json`.

A benchmark is one module in this folder with a function `measure` that yields figures; it is found by that name.
Every target is a ratio of two things timed in the same run, because nothing else carries over to another machine.
"""
