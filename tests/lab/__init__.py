"""A laboratory of faults: random programs, power cuts, damaged files and simulated time, each judged by what must hold.

`make lab` runs it for minutes with a new seed, which a failure prints; `make lab SEED=…` runs it again. A short part of
it is in `make test`, with a seed that stays. The seed decides what is done, in which order; where real processes and
servers race, the system decides the rest.
"""
