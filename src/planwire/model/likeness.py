"""How alike two texts are, as `difflib` measures it, but fast enough for every rewording of a long history.

`difflib.SequenceMatcher.ratio` visits each pair of equal characters in Python. Here `str.find` does it, which makes a
step's words ten times cheaper to compare. The answer has to stay the same to the last digit: a step's id depends on it,
and a journal that is folded again must give the same ids.
"""

__all__ = ["is_alike"]


def is_alike(one: str, other: str, threshold: float) -> bool:
    """Whether `SequenceMatcher(None, one, other, autojunk=False).ratio()` reaches the threshold."""
    length = len(one) + len(other)
    if not length:
        return threshold <= 1.0
    if 2.0 * min(len(one), len(other)) / length < threshold:
        return False
    matched = 0
    pairs = [(one, other)]
    while pairs:
        left, right = pairs.pop()
        at, found, size = _longest_match(left, right)
        if size:
            matched += size
            if 2.0 * matched / length >= threshold:
                return True
            if at and found:
                pairs.append((left[:at], right[:found]))
            if at + size < len(left) and found + size < len(right):
                pairs.append((left[at + size :], right[found + size :]))
    return 2.0 * matched / length >= threshold


def _longest_match(one: str, other: str) -> tuple[int, int, int]:
    """The longest text in both: where it begins in each, and its length. The earliest of several, in `one` first."""
    at = size = 0
    end = len(one)
    for begin in range(end):
        stop = begin + size + 1
        if stop > end:
            break
        while stop <= end and one[begin:stop] in other:
            at, size = begin, stop - begin
            stop += 1
    return at, other.find(one[at : at + size]), size
