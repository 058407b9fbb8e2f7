"""How alike the texts of two steps are, by their words.

Characters say little: of random pairs of unrelated tasks one in six shares 40 % of them, and "Fix bug 131" is nearly
"Fix bug 144". So a text is read as words, without what is no part of it (enumerators, checkboxes, signs, tags) and
without the endings of verbs. What counts is what was *exchanged*: words that are only added or dropped make the same
step clearer, and a verb may change as work begins, but any other word in place of another names another object.

Scripts without spaces are read character by character (ideographs) or three at a time (Thai, Khmer); words of other
languages are the same if they begin alike. Tables hold what rules can't: English verbs, opposites, short forms.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from planwire.model.statuses import folded_status

__all__ = ["READ_CHARACTERS", "Exchange", "Text", "compare", "read"]

#: Characters read of a text. A longer one is only like itself.
READ_CHARACTERS: Final = 500
#: The weight of a word from which exchanging it matters.
_STRONG: Final = 0.5

#: What one text has in place of something in another: nothing, another verb, or another object.
Exchange: TypeAlias = Literal["nothing", "verb", "object"]


def _words(text: str, separator: str | None = None) -> frozenset[str]:
    return frozenset(text.split(separator))


_STEP: Final = (
    "(?:step|task|phase|part|stage|item|todo|schritt|aufgabe|teil|étape|etape|tâche|paso|etapa|tarea|fase|passo|tarefa"
    "|stap|taak|krok|zadanie|vaihe|steg|adım|шаг|этап|задача|крок|bước|ステップ|手順|步骤|任务|단계)"
)
_ENUMERATOR: Final = re.compile(
    rf"\s?(?:[-*+•·–—>▪◦‣○●]+\s|\[[ x~*/-]\]|{_STEP}\s?#?\d+(?:\.\d+)*(?:\s?(?:/|of)\s?\d+)?\s?[:.)\],–—-]+"
    r"|\(?\d{1,3}(?:\.\d{1,3})*\s?(?:[)\]、:]|\.(?=\s)|단계)|\(?\d{1,3}\s?(?:/|of)\s?\d{1,3}[)\]]?\s?[:.–—-]?\s"
    r"|\d{1,2}(?:\.\d{1,2})+\s(?=[^\W\d])|\d{1,3}\s[-–—]\s|\(?[a-z]\)|[a-z]\.\s|[ivx]{2,5}[.)]\s"
    r"|第\s?[\d一二三四五六七八九十]+\s?[步个項项章番]目?\s?[:、,.]?|[一二三四五六七八九十]+[、.])\s?",
    re.IGNORECASE,
)
_BEGUN: Final = re.compile(
    r"(?:(?:done|finish(?:ed)?|completed|start(?:ed)?|now|currently|still|continu(?:e|ing))\s(?=[a-z]+ing\b)"
    "|正在|正|已完成|已经|已)",
    re.IGNORECASE,
)
_LEADING_TAG: Final = re.compile(r"(?:[\[(【]([^\[\]()【】]{1,40})[\])】]\s?:?|([^\W\d][\w -]{1,20}?)\s?:)\s?")
_TRAILING_TAG: Final = re.compile(
    r"\s?(?:[\[(【]([^\[\]()【】]{1,60})[\])】]|(?:\s[-–—|]+|[,:—–])\s?([^\[\](),:|–—]{1,40})|\s(\d+ ?/ ?\d+))"
    r"[\s.!。…]*$"
)
_COUNT: Final = re.compile(
    r"(?:[^\W\d]+\s)?[~≈+-]?\d[\d.,]*(?:\s?(?:/|of|von|de|из|di|av)\s?\d[\d.,]*(?:\s[^\W\d]+){0,2}"
    r"|\s?%(?:\s[^\W\d]+)?|\s[^\W\d]+|ms|s|m|h)|(?:all|no)\s[^\W\d]+"
)
_TAGS: Final = _words(
    "todo next now later done ok passed failed failing blocked retry retrying partial partially wip pending optional "
    "erledigt fertig läuft offen terminé fait hecho listo completado pendiente готово сделано выполнено 完成 已完成 "
    "进行中 待办 完了 済 済み 완료 진행중 진행 valmis klaar klar färdig gereed concluído feito fatto completato"
)
#: Whether a text may have any of these. Most have not, and need no closer look.
_MARKED: Final = re.compile(
    rf"[\W\d]|.[.)]|正|已|ivx|{_STEP}\b|[a-z]+ [a-z]+ing\b|[ivx]{{2,5}}[.)]|.*(?:[\[\](){{}}【】:,|/–—]| -)",
    re.IGNORECASE,
)

_IDEOGRAPHS: Final = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTER: Final = rf"[^\W{_IDEOGRAPHS}{_UNSPACED}]"
_TOKEN: Final = re.compile(
    rf"{_LETTER}+(?:(?:[./\\:@#$+=&'’-]|::|--){_LETTER}+)*(?:\+\+|\#)?|[\u30a1-\u30ff]+|[{_IDEOGRAPHS}]|[{_UNSPACED}]+"
    "|[→←]"
)
_IN_SYLLABLES: Final = re.compile(f"[{_UNSPACED}]")
#: A number, a path, an identifier, an abbreviation.
_OBJECT: Final = re.compile(r"[\d_./\\:@#$+=&]|[a-z][A-Z]|^[B-HJ-Z]$|^[A-Z][A-Z0-9]+$")
_VOWEL: Final = re.compile("[aeiouy]")
_ENDINGS: Final = (("ying", "y"), ("ing", ""), ("ied", "y"), ("ies", "y"), ("ed", ""), ("es", "e"), ("s", ""))

_ARTICLES: Final = _words("the a an and this that these those its it's all our your my some any please 的 了 を")
_FAINT: Final = _words(
    "to of for in on at by with from into onto over via per as is are be been was it so up out then also using use der "
    "die das den dem und für von mit im zu ein eine einen le la les l d de du des un une et pour dans en au aux el los "
    "las del y para con por o e il lo gli di da che al och att av för på med ett i и в на для с по из к о"
)
_DIRECTIONS: Final = _words("to from into → ← before after over by vers nach zu в из")
_NEGATIONS: Final = _words("not no never don't skip without except nicht kein ne pas sin senza не без 不 没 未 别")
_NEGATING: Final = ("un", "dis", "de", "in", "non", "re", "anti")
_IRREGULAR: Final = dict(
    pair.split("=")
    for pair in _words(
        "ran=run wrote=write written=write built=build made=make sent=send found=find did=do got=get gave=give "
        "took=take went=go chose=choose chosen=choose began=begin begun=begin drew=draw drawn=draw broke=break broken=break "
        "kept=keep left=leave understood=understand taken=take"
    )
)


def _stem(word: str) -> str:
    """An English word without its ending."""
    word = stem = _IRREGULAR.get(word, word)
    for ending, instead in () if word.endswith("ss") else _ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 2 and _VOWEL.search(rest):
            stem = rest + instead
            break
    if len(stem) > 3 and stem != word and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        stem = stem[:-1]
    return stem.removesuffix("e") if len(stem) > 3 else stem


#: Words that say the same as verbs of one object, or are short for each other, by the group that they are in.
_KIN: Final = {
    _stem(word): group
    for group in _words(
        "write add create implement build make develop draft code|fix repair resolve correct patch|run execute"
        "|check verify validate confirm ensure|update modify change edit adjust revise|remove delete drop"
        "|investigate explore examine analyze analyse inspect study research understand|refactor restructure rework"
        "|publish release ship|document documentation doc|database db|authentication authenticate auth|bug issue defect"
        "|authorization authorize authz|repository repo|dependency dep|environment env|application app"
        "|configuration configure config|directory folder dir",
        "|",
    )
    for word in group.split()
}
_OPPOSITES: Final = frozenset(
    frozenset(map(_stem, pair.split("/")))
    for pair in _words(
        "enable/disable add/remove add/delete create/delete create/remove start/stop upgrade/downgrade open/close "
        "lock/unlock install/uninstall show/hide allow/deny allow/block allow/forbid accept/reject approve/reject "
        "increase/decrease raise/lower import/export encode/decode encoder/decoder encrypt/decrypt connect/disconnect "
        "attach/detach push/pull upload/download grant/revoke merge/split expand/collapse activate/deactivate "
        "subscribe/unsubscribe read/write reader/writer get/set send/receive serialize/deserialize insert/delete "
        "compress/decompress begin/end first/last min/max left/right input/output client/server frontend/backend "
        "before/after with/without old/new up/down on/off in/out up/out sync/async save/load freeze/unfreeze "
        "pause/resume join/leave publish/unpublish staging/production dev/prod source/target to/from into/from build/remove "
        "write/delete write/remove migrate/revert apply/revert deploy/rollback"
    )
)


class Text(Struct, frozen=True, gc=False):
    """A text as it is compared: its `words` in order, by their stems; the weight of each, and of all; those that name
    an `object`; the `verb` that it begins with; and the `keys` under which to look for texts like it."""

    words: tuple[str, ...]
    weights: dict[str, float] = {}
    weight: float = 0.0
    objects: frozenset[str] = frozenset()
    verb: str = ""
    keys: tuple[str, ...] = ()


@lru_cache(maxsize=8192)
def read(content: str) -> Text:
    """A text as it is compared."""
    if len(content) > READ_CHARACTERS:
        return Text((content,))
    bare = " ".join((content if content.isascii() else unicodedata.normalize("NFKC", content)).split())
    if _MARKED.match(bare):
        bare = _bare(bare)
    if bare.isupper():
        bare = bare.lower()
    words: list[str] = []
    weights: dict[str, float] = {}
    objects: set[str] = set()
    for token in _TOKEN.findall(bare):
        for word, weight, is_object in _word(token) if token != "A" or not words else (("a", 1.0, True),):
            words.append(word)
            weights[word] = weight
            if is_object:
                objects.add(word)
    if not words:
        return Text((content,))
    verb = words[0] if bare[0].isalpha() and words[0] not in objects else ""
    keys = tuple([word.rpartition("/")[2] if word in objects else word[:4] for word in weights if weights[word] >= 0.3])
    return Text(tuple(words), weights, sum(weights.values()), frozenset(objects), verb, keys)


def compare(one: Text, other: Text) -> tuple[float, Exchange]:
    """How alike two texts are, from 0 to 1 for the same words, and what they exchange."""
    both = one.weights.keys() & other.weights.keys()
    shared = sum([one.weights[word] for word in both])
    gone, come = one.weights.keys() - both, other.weights.keys() - both
    for word in sorted(gone) if come else ():
        for twin in sorted(come):
            if _is_kin(word, twin, is_object=word in one.objects or twin in other.objects):
                shared += 0.85 * min(one.weights[word], other.weights[twin])
                gone.remove(word)
                come.remove(twin)
                break
    likeness = 2 * shared / ((one.weight + other.weight) or 1.0)
    if not _NEGATIONS.isdisjoint(gone ^ come) or any(_is_opposite(word, twin) for word in gone for twin in come):
        return likeness, "object"
    if _DIRECTIONS.intersection(one.words, other.words) and _in_order(one, other) != _in_order(other, one):
        return likeness, "object"
    strong_gone = {word for word in gone if one.weights[word] >= _STRONG}
    strong_come = {word for word in come if other.weights[word] >= _STRONG}
    if not strong_gone or not strong_come:
        return likeness, "nothing"
    is_verb = one.verb in gone and other.verb in come and ({one.verb} == strong_gone or {other.verb} == strong_come)
    return likeness, "verb" if is_verb else "object"


def _in_order(text: Text, other: Text) -> list[str]:
    """The words that another text has too, but for the faint ones."""
    return [word for word in text.words if other.weights.get(word, 0.0) >= _STRONG]


def _is_kin(word: str, twin: str, *, is_object: bool) -> bool:
    """Whether two words are one: a path and its end, words of a group, the same beginning under other endings."""
    shorter, longer = sorted((word, twin), key=len)
    if is_object and _OBJECT.search(longer):
        return longer.endswith("/" + shorter) or _stem(longer.rpartition("/")[2].partition(".")[0]) == shorter
    if word in _KIN and _KIN[word] == _KIN.get(twin):
        return True
    if frozenset((word, twin)) in _OPPOSITES:
        return False
    same = next((at for at, letter in enumerate(shorter) if letter != longer[at]), len(shorter))
    if "\uac00" <= shorter[0] <= "\ud7a3":
        return same == len(shorter) >= 2
    enough = 5 if shorter.isascii() else 4
    return same >= enough and (same >= 0.6 * len(longer) or same == len(shorter) >= 0.4 * len(longer))


def _is_opposite(word: str, twin: str) -> bool:
    shorter, longer = sorted((word, twin), key=len)
    is_negated = len(shorter) > 2 and longer.endswith(shorter) and longer.removesuffix(shorter) in _NEGATING
    return is_negated or frozenset((word, twin)) in _OPPOSITES


def _bare(text: str) -> str:
    """A text without enumerators, checkboxes, signs and tags; whole if nothing else is left."""
    bare = text
    for _ in range(6):
        size = len(bare)
        for pattern in (_ENUMERATOR, _BEGUN):
            if found := pattern.match(bare):
                bare = bare[found.end() :]
        if (found := _LEADING_TAG.match(bare)) and _is_tag(found[1] or found[2]):
            bare = bare[found.end() :]
        if (found := _TRAILING_TAG.search(bare, max(0, len(bare) - 64))) and _is_tag(found[1] or found[2] or found[3]):
            bare = bare[: found.start()]
        if bare and unicodedata.category(bare[0])[0] in "SC":
            bare = bare[1:].lstrip("\ufe0f ")
        if len(bare) in (0, size):
            break
    return bare or text


def _is_tag(text: str) -> bool:
    """Whether a text says only how far a step is: statuses, counts."""
    parts = [part.strip() for part in re.split(r"[,;·|]", text)]
    return all(part.casefold() in _TAGS or folded_status(part) or _COUNT.fullmatch(part) for part in parts)


@lru_cache(maxsize=8192)
def _word(token: str) -> tuple[tuple[str, float, bool], ...]:
    """The words in a token by their stems, with the weight of each and whether it names an object."""
    token = token.replace("’", "'").removesuffix("'s")
    if _IN_SYLLABLES.match(token):
        return tuple((token[at : at + 3], 0.34, False) for at in range(max(1, len(token) - 2)))
    if _OBJECT.search(token):
        return ((token.casefold(), 1.0, True),)
    words = (_stem(part) if part.isascii() else part for part in token.casefold().split("-"))
    return tuple((word, _weight(word), False) for word in words if word and word not in _ARTICLES)


def _weight(word: str) -> float:
    """How much a word says: little if it is short, for in most languages these are no nouns and verbs."""
    if word in _FAINT or "\u3040" <= word < "\u30a0":
        return 0.15
    if word >= "\u3000":
        return 0.5 if len(word) == 1 else 1.0
    return (0.3, 0.5, 0.6, 1.0)[min(len(word), 4) - 1]
