"""How alike the texts of two steps are, by their words.

Characters say little: of random pairs of unrelated tasks one in six shares 40 % of them, and "Fix bug 131" is nearly
"Fix bug 144". So a text is read as words, without what is no part of it (enumerators, checkboxes, signs, tags) and
without the endings of verbs. What counts is what was *exchanged*: words that are only added or dropped make the same
step clearer, but a word in place of another names another object, or does something else to it.

Scripts without spaces are read one ideograph or three letters at a time. Two words are one if they differ by their
endings alone: to begin alike is not enough. Tables hold what no rule finds: verbs that mean the same, short forms.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from typing import Final

from msgspec import Struct

from planwire.model.seen import plain_words
from planwire.model.statuses import folded_status

#: Characters read of a text. A longer one is only like itself.
READ_CHARACTERS: Final = 400
#: Pairs of words that may be exchanged for each other: where there are more, the texts are about something else.
EXCHANGED: Final = 64
#: The weights of a number, path or identifier, of a word, of one from which an exchange matters, and of a faint one.
NAME, WORD, STRONG, FAINT = 1.25, 1.0, 0.5, 0.15
#: How alike a text is at least to what it begins with: the rest is detail.
HEAD: Final = 0.6


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: What people number as steps. "Bug 2:" and "Server 2:" are no enumerators.
_STEP: Final = (
    "(?:step|task|phase|part|stage|schritt|teil|étape|paso|fase|passo|vaihe|steg|шаг|этап|крок|ステップ|手順|步骤|任务)"
)
#: Enumerators, boxes, and words that say that work goes on.
_BEFORE: Final = re.compile(
    rf"(?:[-*+•·–—>▪◦‣]+\s|\[[ x~*/-]\]|\#\d{{1,2}}\s|{_STEP}\s?\#?\d[\d.]*(?:\s?(?:/|of)\s?\d+)?\s?[:.)\],–—-]+"
    r"|\(?\d{1,3}(?:(?:\.\d{1,3}){0,2}\s?(?:[)\]、]|\.(?=\s)|단계)|\s?:)|\d{1,3}\s?(?:/|of)\s?\d{1,3}\s?[:.–—-]?\s|\d{1,3}\s[-–—]\s"
    r"|\d{1,2}(?:\.\d{1,2})+\s(?=[^\W\d])|[ivx]{2,5}[.)]\s|第\s?[\d一二三四五六七八九十]+\s?[步个項项章番]目?"
    r"|[一二三四五六七八九十]+[、.]|(?:done|finish(?:ed)?|start(?:ed)?|now|still)\s(?=[a-z]+ing\b)"
    rf"|(?:running|starting|doing|working on)\s(?={_STEP}\s?\d)|正在|已完成|已"
    r"|\(?[a-z]\)|[a-z]\.\s)[\s:、,.]*",
    re.IGNORECASE,
)
_TAG_BEFORE: Final = re.compile(r"(?:[\[(【]([^\[\]()【】]{1,40})[\])】]\s?:?|([^\W\d][\w -]{1,20}?)\s?:)\s?")
_TAG_BEHIND: Final = re.compile(
    r"\s?(?:[\[(【]([^\[\]()【】]{1,60})[\])】]|(?:\s[-–—|]+|[,:—–])\s?([^][(),:|–—]{1,40}))[\s.!。…]*$|\s\d+ ?/ ?\d+$"
)
_PROGRESS: Final = re.compile(r"\s+\(\d+ ?/ ?\d+\)$")
_COUNT: Final = re.compile(
    r"(?:[^\W\d]+\s)?[~≈+-]?\d[\d.,]*(?:\s?(?:/|of|von|de|из)\s?\d[\d.,]*(?:\s[^\W\d]+){0,2}|\s?%?\s[^\W\d]+|%|m?s|m|h)|p\d"
)
#: Whether a text may have any of these: most have not.
_MARKED: Final = re.compile(
    rf"[\W\d]|.[.)]|正|已|(?:\w+ing (?:on )?)?{_STEP}\b|\w+ \w+ing\b|[ivx]{{2,5}}[.)]", re.IGNORECASE
)
_SIGNED: Final = re.compile("[])】:,/|–—]| -")

_IDEOGRAPH: Final = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_SYLLABLE: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTER: Final = rf"[^\W{_IDEOGRAPH}{_SYLLABLE}]"
_TOKEN: Final = re.compile(
    rf"{_LETTER}+(?:[./\\:@#$+=&'’-]+{_LETTER}+)*(?:\+\+|\#)?|[\u30a1-\u30ff]+|[{_IDEOGRAPH}]|[{_SYLLABLE}]+|→"
)
_SYLLABLES: Final = re.compile(f"[{_SYLLABLE}]")
_NAMED: Final = re.compile(r"[\d_./\\:@#$+=&]|[a-z][A-Z]|^[A-Z][A-Z0-9]+$")
_TAGS: Final = _words(
    "next now ok passed passing failed failing partial fertig fait hecho listo готово 完成 已完成 进行中 完了 済 완료"
)
_DROPPED: Final = _words("the a an and this that these those its it's all our your my some any please 的 了 を 中 済")
_FAINT: Final = _words(
    "to of for in on at by with from into onto over via per as is are be been was it so up out then also using use "
    "der die das den dem und für von mit im zu ein eine einen le la les l d de du des un une et pour dans en au aux "
    "el los las del y para con por o e il lo gli di da che al och att av för på med ett i и в на для с по из к о"
)
_DIRECTIONS: Final = _words("to from into → before after nach zu в из")
_JOINING: Final = _words("and then &")
_NEGATIONS: Final = _words("not no never don't dry skip without except nicht kein ne pas sin senza не без 不 没 未 别")


_ENDINGS: Final = (("ying", "y"), ("ing", ""), ("ied", "y"), ("ies", "y"), ("ed", ""), ("es", "e"), ("s", ""))


def _stem(word: str) -> str:
    """An English word without its ending."""
    for ending, instead in _ENDINGS if word[-1] in "gds" and word[-2:] != "ss" else ():
        rest = word.removesuffix(ending)
        if rest != word and re.search(".[aeiouy]|[aeiouy].", rest):
            is_doubled = not instead and len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            word = rest[:-1] if is_doubled else rest + instead
            break
    return word.removesuffix("e").replace("iz", "is") if len(word) > 2 else word


#: The folders of a path, and its file without what that ends with.
_PART: Final = re.compile("(?:^|/)([^/.]+)")
#: What the forms of a noun end with (plurals, genders, cases), and what verbs and the nouns made of them do.
_NOUN: Final = re.compile("e?s|e?n|[aeiouаеёиоуыэюяьйіїє]{0,2}[вмхйї]?")
_VERB: Final = re.compile("[aeiourntdscgzćаеёиоуыэюяьйіїєтлнквмс]{0,7}|ments?")
#: Groups of words that are forms of one or, as verbs of one object, mean the same.
_GROUPS: Final = (
    "write wrote written add create implement build built | run ran | check verify validate | update modify change | "
    "remove delete drop | find found | send sent | fix resolve | document documentation doc | database db | "
    "authentication auth | configuration config | bug issue | dependency dep | repository repo | application app | "
    "investigate explore analyze"
)
_KIN: Final = {_stem(word): group for group in _GROUPS.split("|") for word in group.split()}
_OPPOSITES: Final = [
    {*pair.split("/")} for pair in _words("before/after with/without up/down on/off in/out up/out to/from")
]


class Text(Struct, frozen=True, gc=False):
    """A text as it is compared: its `words` in order, by their stems; the weight of each, and of all; and the `verb`
    that it begins with."""

    words: tuple[str, ...]
    weights: dict[str, float] = {}
    weight: float = 0.0
    verb: str = ""

    @property
    def keys(self) -> list[str]:
        """What to look up a text by that may be like it."""
        return [word[:4] if weight <= WORD else word[-6:] for word, weight in self.weights.items() if weight > FAINT]


@lru_cache(maxsize=8192)
def read(content: str) -> Text:
    """A text as it is compared."""
    if len(content) > READ_CHARACTERS:
        return Text((content,))
    bare = " ".join(
        (content if content.isascii() else unicodedata.normalize("NFKC", content.lstrip("①②③④⑤⑥⑦⑧⑨⑩"))).split()
    )
    if _MARKED.match(bare) or _SIGNED.search(bare):
        bare = _bare(bare)
    weights = dict(chain.from_iterable(map(_word, _TOKEN.findall(bare.lower() if bare.isupper() else bare))))
    if not weights:
        return Text((content,))
    words = tuple(weights)
    verb = words[0] if bare[0].isalpha() and weights[words[0]] <= WORD else ""
    return Text(words, weights, sum(weights.values()), verb)


def compare(one: Text, other: Text) -> float:
    """How alike two texts are: 1 for the same words, 0 where words in place of others name another object or act."""
    both = one.weights.keys() & other.weights.keys()
    gone, come = one.weights.keys() - both, other.weights.keys() - both
    if len(gone) * len(come) > EXCHANGED:
        return 0.0
    shared = sum([one.weights[word] for word in both])
    for word in sorted(gone) if come else ():
        for twin in sorted(come):
            if _is_kin(word, twin, is_verb=word == one.verb or twin == other.verb):
                shared += 0.85 * min(one.weights[word], other.weights[twin])
                gone.remove(word)
                come.remove(twin)
                break
    in_order = [[word for word in text.words if word in both] for text in (one, other) if both & _DIRECTIONS]
    if in_order[:1] != in_order[1:] or not _NEGATIONS.isdisjoint(gone | come) or _is_exchanged(one, other, gone, come):
        return 0.0
    likeness = 2 * shared / ((one.weight + other.weight) or 1.0)
    shorter = min(len(one.words), len(other.words))
    is_head = min(one.weight, other.weight) > 2 and one.words[:shorter] == other.words[:shorter]
    return max(likeness, HEAD) if is_head else likeness


def is_rephrased(before: str, after: str) -> bool:
    """Whether a text has the words of another one in their order, with nothing but its verbs in another form: the first
    word, and after it those behind "and", "then" or a comma. What a person allowed is about each sign: `rm -rf ./build`
    is not `rm -rf / build`, nor "Delete the staging data" "Delete the staged data"."""
    one, other = _spoken(before), _spoken(after)
    first = _form(one[0], other[0]) if len(one) == len(other) > 0 else None
    if first is None:
        return False
    joined = (each.endswith(",") or each.lower() in _JOINING for each in one)
    later = zip(one[1:], other[1:], joined, strict=False)
    return all(word == twin or (is_verb and _form(word, twin) == first) for word, twin, is_verb in later)


def _spoken(text: str) -> list[str]:
    return [word for word in plain_words(_PROGRESS.sub("", text)).split() if word.lower() != "the"]


def _form(word: str, twin: str) -> tuple[str, ...] | None:
    """How a verb changed its form: its endings before and after, none if it is the same. None if it is another word."""
    if word.casefold() == twin.casefold():
        return ()
    one, other = word.rstrip(",").casefold(), twin.rstrip(",").casefold()
    endings = tuple(next((end for end in ("ing", "ed") if each.endswith(end)), "") for each in (one, other))
    is_form = one.isalpha() and other.isalpha() and endings[0] != endings[1] and _stem(one) == _stem(other)
    return endings if is_form else None


def _is_exchanged(one: Text, other: Text, gone: set[str], come: set[str]) -> bool:
    """Whether words of weight go and come, or one gives way to its opposite."""
    if not (gone and come):
        return False
    is_weighty = [any(text.weights[word] >= STRONG for word in words) for text, words in ((one, gone), (other, come))]
    return all(is_weighty) or any({word, twin} in _OPPOSITES for word in gone for twin in come)


def _is_kin(word: str, twin: str, *, is_verb: bool) -> bool:
    """Whether two words are one: a path and a part of it, words of a group, the same but for their endings. Verbs have
    many forms, but "content" is not "context", and the product table not the production table."""
    shorter, longer = sorted((word, twin), key=len)
    if _NAMED.search(longer):
        return longer.endswith("/" + shorter) or shorter in map(_stem, _PART.findall(longer))
    same = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    if "\uac00" <= shorter[0] <= "\ud7a3":
        return same == len(shorter) >= 2
    is_short = same < 5 and shorter.isascii() and len(shorter) > same + 1
    ending = _VERB if is_verb and not is_short else _NOUN
    is_form = same >= 4 and bool(ending.fullmatch(shorter, same) and ending.fullmatch(longer, same))
    is_participle = len(shorter) > 3 and longer.startswith("ge" + shorter[:3])
    return is_form or is_participle or (word in _KIN and _KIN[word] == _KIN.get(twin))


def _bare(text: str) -> str:
    """A text without enumerators, checkboxes, signs and tags; whole if nothing else is left."""
    bare = text
    for _ in range(4):
        before = bare
        if found := _BEFORE.match(bare):
            bare = bare[found.end() :]
        if (found := _TAG_BEFORE.match(bare)) and _is_tag(found[1] or found[2]):
            bare = bare[found.end() :]
        if (found := _TAG_BEHIND.search(bare, max(0, len(bare) - 64))) and _is_tag(found[1] or found[2] or found[0]):
            bare = bare[: found.start()]
        if bare and unicodedata.category(bare[0])[0] in "SC":
            bare = bare[1:].lstrip("\ufe0f ")
        if bare in ("", before):
            break
    return bare or text


def _is_tag(text: str) -> bool:
    """Whether a text says how far a step is: a status and more about it, or counts."""
    parts = [part.strip().casefold() for part in re.split(r"[,;:·|]", text)]
    return parts[0] in _TAGS or bool(folded_status(parts[0])) or all(_COUNT.fullmatch(part) for part in parts)


@lru_cache(maxsize=8192)
def _word(token: str) -> tuple[tuple[str, float], ...]:
    """The words in a token, by their stems, with their weights: short ones say little in most languages."""
    if _SYLLABLES.match(token):
        return tuple((token[at : at + 3], STRONG) for at in range(max(1, len(token) - 2)))
    if _NAMED.search(token) or (len(token) == 1 and token.isupper()):
        return ((token.casefold(), NAME),)
    parts = re.split("['’]s$|-", token.casefold()) if not token.isalpha() else (token.casefold(),)
    words = [_stem(part) if part.isascii() else part for part in parts if part and part not in _DROPPED]
    return tuple([(word, FAINT if word in _FAINT or "぀" <= word < "゠" else _weight(word)) for word in words])


def _weight(word: str) -> float:
    return (STRONG, STRONG, 0.6, WORD)[min(len(word) * (2 if word > "\u3000" else 1), 4) - 1]
