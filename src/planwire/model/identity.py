"""Which step is which: the ids of a new list of steps, decided once by whoever writes it.

No dialect gives an entry an identity, and agents reword, number, tag, reorder, drop and bring back their entries. A
wrong link moves what a person said to a task that they never saw; a lost link only starts a step anew. So precision
comes first:

1. Texts are compared without enumerators, checkboxes, signs, tags, case, punctuation and verbs' endings.
2. Equal is the same step, against every step that the plan ever had. Doubles are told apart by their order.
3. Of the rest the best pair comes first, over the whole list, where what one text lacks the other only adds.
4. An exchanged word is another object ("Fix bug 131" is not "Fix bug 144"), unless it is the verb of a step that was
   just begun. An opposite is another step, and so is a finished step that is open again under other words.
5. An empty list retires nothing, and where all steps were finished and none is equal, nothing is linked.
"""

import re
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import Final

from msgspec import Struct

from planwire.model.kinds import Draft, drafts_of
from planwire.model.plan import Plan
from planwire.model.statuses import folded_status, status_of
from planwire.model.steps import Memory, PlanState, restate

__all__ = ["is_rephrased", "step_ids", "track"]

#: The likeness (1.0 = the same words) of one step: anywhere, and where it stands between the neighbours that it had.
ALIKE: Final = 0.6
ALIKE_IN_PLACE: Final = 0.4
#: How much better the best pair must be than the next, or it is anybody's guess.
MARGIN: Final = 0.03
#: Characters read of a text (a longer one is only equal to itself) and of a list; pairs compared in a list.
READ_CHARACTERS: Final = 500
READ_IN_ALL: Final = 200_000
COMPARED_PAIRS: Final = 6_000
#: Words that more steps than this have tell none of them apart.
COMMON: Final = 60


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_IN_STEPS: Final = (
    r"(?:step|task|phase|part|stage|item|todo|schritt|aufgabe|teil|étape|etape|tâche|paso|etapa|tarea|fase|passo|tarefa"
    r"|passaggio|stap|taak|krok|zadanie|vaihe|steg|adım|шаг|этап|задача|крок|ステップ|手順|步骤|任务|단계|bước)"
)
_NUMBER: Final = r"#?\(?\d{1,3}(?:\.\d{1,3})*\)?(?:\s*(?:/|of)\s*\d{1,3})?"
_ENUMERATOR: Final = re.compile(
    rf"\s*(?:[-*+•·–—>▪◦‣○●]+\s+|\[[ xX~*/-]\]\s*|{_IN_STEPS}\s*{_NUMBER}\s*[:.)\]、，,–—-]+\s*"
    r"|\(?\d{1,3}(?:\.\d{1,3})*\s*(?:[)\]、．:：]|\.(?=\s))\s*|\(?\d{1,3}\s*(?:/|of)\s*\d{1,3}[)\]]?\s*[:.–—-]?\s+"
    r"|\d{1,2}(?:\.\d{1,2})+\s+(?=[^\W\d])|\(?[a-z]\)\s*|[a-z]\.\s+|[ivx]{1,5}[.)]\s+|\d{1,3}\s+[-–—]\s+"
    r"|第?\s*[\d一二三四五六七八九十]+\s*(?:[步个項项章番단계]+(?:目|계)?)\s*[:：、，,.]?\s*|[一二三四五六七八九十]+\s*[、．.]\s*"
    r"|\d{1,3}단계\s*[:.]?\s*)",
    re.IGNORECASE,
)
_BEGUN: Final = re.compile(
    r"(?:(?:done|finished|finish|completed|started|start|now|currently|still|continue|continuing)\s+(?=[a-z]+ing\b)"
    r"|正在|正|已经|已完成|已)",
    re.IGNORECASE,
)
_LEADING_TAG: Final = re.compile(
    r"\s*(?:[\[(【（]([^\[\]()【】（）]{1,40})[\])】）]\s*:?|([^\W\d][\w -]{1,20}?)\s*[:：])\s*"
)
_TRAILING_TAG: Final = re.compile(
    r"\s*(?:[\[(【（]([^\[\]()【】（）]{1,60})[\])】）]|(?:\s[-–—|]+|[,:：—–])\s*([^\[\](),:|–—]{1,40})|\s(\d+\s*/\s*\d+))[\s.!。…]*$"
)
_COUNT: Final = re.compile(
    r"[~≈]?\d[\d.,]*\s*(?:/|of|von|de|из|di|av)\s*\d[\d.,]*(?:\s+[^\W\d]+){0,2}|\d[\d.,]*\s*%(?:\s+[^\W\d]+)?|[+-]?\d[\d.,]*\s+[^\W\d]+"
    r"|\d[\d.,]*\s*(?:ms|s|m|h|min|sec)"
)
_DONE_WORDS: Final = _words(
    "todo next now later done ok passed failed failing blocked retry retrying partial partially wip pending "
    "erledigt fertig läuft offen terminé fait hecho listo completado pendiente готово сделано выполнено 完成 已完成 "
    "进行中 待办 完了 済 済み 完료 완료 진행중 진행 valmis klaar klar färdig gereed concluído feito fatto completato"
)

_CJK: Final = "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_WORD: Final = rf"[^\W_{_CJK}{_UNSPACED}]"
_TOKEN: Final = re.compile(
    rf"(?:{_WORD}|_)+(?:(?:[./\\:@#$+=&'’-]|::|--)(?:{_WORD}|_)+)*(?:\+\+|\#)?|[\u30a1-\u30ff]+|[\u3040-\u30ff{_CJK}]"
    rf"|[{_UNSPACED}]+|[→←]"
)
_OBJECT: Final = re.compile(r"[\d_./\\:@#$+=&]|[a-z][A-Z]|^[A-Z][A-Z0-9]+$")
_VOWEL: Final = re.compile("[aeiouy]")

_ARTICLES: Final = _words("the a an and this that these those its it's all our your my some any please & 的 了 を")
_FAINT: Final = _words(
    "to of for in on at by with from into onto over via per as is are be been was it so up out then so also using "
    "use der die das den dem und für von mit im in zu ein eine einen le la les l d de du des un une et pour dans "
    "en au aux el los las del y para con por o e il lo gli di da che al och att av för på med en ett i и в на для "
    "с по из к о"
)
_NEGATIONS: Final = _words("not no never don't skip without except nicht kein ne pas sin non не без 不 没 未 别")
_IRREGULAR: Final = dict(
    pair.split("=")
    for pair in _words(
        "ran=run wrote=write written=write built=build made=make sent=send found=find did=do got=get "
        "gave=give took=take went=go chose=choose began=begin drew=draw broke=break broken=break kept=keep "
        "left=leave read=read understood=understand split=split cut=cut put=put set=set taken=take "
        "chosen=choose drawn=draw begun=begin "
    )
)
#: Words that say the same, where they are the verbs of two texts, or short for each other.
_KIN: Final = {
    word: group.split()[0]
    for group in (
        "writ add creat implement build mak develop draft cod",
        "fix repair resolv correct patch",
        "run execut",
        "check verifi validat confirm ensur",
        "investigat explor examin analyz analys inspect study research look understand find",
        "updat modifi chang edit adjust revis amend",
        "remov delet drop",
        "refactor restructur reorganiz rework clean",
        "publish releas ship",
        "document doc documentation docs",
        "databas db",
        "authentication auth authenticat",
        "authorization authz authoriz",
        "repository repo",
        "dependency dep deps dependenci",
        "environment env",
        "application app",
        "configuration config configur",
        "directory dir folder",
        "bug issu defect",
    )
    for word in group.split()
}
_OPPOSITES: Final = frozenset(
    frozenset(pair.split("/"))
    for pair in _words(
        "enabl/disabl add/remov add/delet creat/delet creat/remov start/stop upgrad/downgrad open/clos "
        "lock/unlock install/uninstall show/hid allow/deny allow/block allow/forbid accept/reject "
        "approv/reject increas/decreas import/export encod/decod encoder/decoder encrypt/decrypt "
        "connect/disconnect attach/detach push/pull upload/download grant/revok merg/split expand/collaps "
        "activat/deactivat subscrib/unsubscrib read/writ get/set send/receiv serializ/deserializ "
        "compress/decompress begin/end first/last min/max left/right input/output client/server "
        "frontend/backend before/after with/without old/new up/down on/off sync/async sav/load freez/unfreez "
        "paus/resum publish/unpublish stag/production dev/prod sourc/target to/from into/from rais/low "
        "build/remov writ/delet writ/remov migrat/revert apply/revert deploy/rollback reader/writer "
        "insert/delet scal/shrink join/leav "
    )
)


class Text(Struct, frozen=True, gc=False):
    """A text as it is compared: `bare` without what is no part of it, `words` by their stems, `weights` of these, and
    which of them name an object."""

    bare: str
    words: tuple[str, ...]
    weights: tuple[float, ...] = ()
    objects: frozenset[str] = frozenset()
    weight: float = 0.0


def step_ids(plan: Plan, before: PlanState | None, suffix: str = "") -> tuple[str, ...]:
    """An id for each step of a plan: those that its steps had, and new ones (`s7`, or `s7-k3` with a suffix)."""
    memory = before.memory if before else Memory()
    drafts = drafts_of(plan)
    known = {step.id for step in memory.steps}.union(*memory.owners.values())
    numbers = (f"s{number}-{suffix}" if suffix else f"s{number}" for number in count(memory.born + 1))
    fresh = (each for each in numbers if each not in known)
    return tuple(each or next(fresh) for each in _Matching(drafts, memory).ids)


def track(plan: Plan, before: PlanState | None = None) -> PlanState:
    """The state of a plan that follows `before`, where no event records the ids."""
    return restate(plan, step_ids(plan, before), before)


def is_rephrased(before: str, after: str) -> bool:
    """Whether a text only says what another one says, of the same objects: it adds words or drops them, or takes other
    forms of them, and exchanges none."""
    one, other = _read(before), _read(after)
    shared, gone, come = _compared(one, other)
    is_opposite = any(frozenset((x, y)) in _OPPOSITES or _is_negated(x, y) for x in gone for y in come)
    exchanged = gone and come and not ((gone | come) <= _FAINT)
    return shared > 0 and not (is_opposite or exchanged or (gone | come) & _NEGATIONS)


class _Matching:
    """Matches a new list against the memory of a plan. `ids` is the result, with None for a new step."""

    def __init__(self, drafts: list[Draft], memory: Memory) -> None:
        self.drafts, self.last = drafts, memory.steps
        self.ids: list[str | None] = [None] * len(drafts)
        self.taken: set[str] = set()
        if [draft.content for draft in drafts] == [step.content for step in self.last]:
            self.ids = [step.id for step in self.last]
            return
        if not self.last:
            return
        self.news = _texts(draft.content for draft in drafts)
        self.olds = _texts(step.content for step in self.last)
        wanted = _places(self.news)
        for key, olds in _places(self.olds).items():
            for new, old in self._doubles(wanted.get(key, []), olds):
                self._take(new, self.last[old].id)
        self._by_former_text(wanted, memory)
        if self.taken or any(step.is_open for step in self.last):
            self._by_likeness()

    def _take(self, new: int, step_id: str) -> None:
        self.ids[new] = step_id
        self.taken.add(step_id)

    def _doubles(self, news: list[int], olds: list[int]) -> Iterator[tuple[int, int]]:
        """Pair steps of one wording. Equally many that are written otherwise pair in order; else the same writing comes
        first, then the same status, then the order."""
        if len(news) == len(olds) == 1:
            yield news[0], olds[0]
            return
        new_texts, old_texts = [self.drafts[new].content for new in news], [self.last[old].content for old in olds]
        if len(news) == len(olds) and sorted(new_texts) != sorted(old_texts):
            yield from zip(news, olds, strict=True)
            return
        for aspect in (
            lambda step, place: (step.content, step.status, place),
            lambda step, _: (step.content, step.status),
            lambda step, _: step.content,
            lambda step, _: step.status,
            lambda step, _: None,
        ):
            free: dict[object, deque[int]] = {}
            for old in olds:
                free.setdefault(aspect(self.last[old], old), deque()).append(old)
            for new in news[:]:
                if same := free.get(aspect(self.drafts[new], new)):
                    old = same.popleft()
                    news.remove(new)
                    olds.remove(old)
                    yield new, old

    def _by_former_text(self, wanted: dict[tuple[str, ...], list[int]], memory: Memory) -> None:
        """Link texts that a step had before, steps of the last list first."""
        rest = {key: [new for new in news if self.ids[new] is None] for key, news in wanted.items()}
        if not any(rest.values()):
            return
        live = {step.id for step in self.last}
        former = [
            (text.words, owners) for text, owners in zip(_texts(memory.owners), memory.owners.values(), strict=True)
        ]
        for among_live in (True, False):
            for key, owners in former:
                for step_id in owners:
                    if step_id not in self.taken and (step_id in live) == among_live and rest.get(key):
                        self._take(rest[key].pop(0), step_id)

    def _by_likeness(self) -> None:
        old_gaps, new_gaps = _gaps([step.id if step.id in self.taken else None for step in self.last]), _gaps(self.ids)
        index: dict[str, list[int]] = {}
        for old, step in enumerate(self.last):
            if step.id not in self.taken:
                for key in _index(self.olds[old]):
                    index.setdefault(key, []).append(old)
        news = [new for new, step_id in enumerate(self.ids) if step_id is None]
        left, each = COMPARED_PAIRS, max(3, COMPARED_PAIRS // max(1, len(news)))
        pairs: list[tuple[float, int, int]] = []
        for new in news:
            lists = sorted((index[key] for key in _index(self.news[new]) if key in index), key=len)
            found = dict.fromkeys(old for places in lists if len(places) <= COMMON for old in places)
            for old in [*found][: min(each, left)]:
                left -= 1
                in_place = old_gaps[old] == new_gaps[new]
                if likeness := self._likeness(old, new, in_place=in_place):
                    pairs.append((-likeness - in_place * 0.1, old, new))
        pairs.sort()
        by_old: dict[int, list[tuple[float, int]]] = {}
        by_new: dict[int, list[tuple[float, int]]] = {}
        for likeness, old, new in pairs:
            by_old.setdefault(old, []).append((likeness, new))
            by_new.setdefault(new, []).append((likeness, old))
        gone_olds: set[int] = set()
        gone_news: set[int] = set()
        for likeness, old, new in pairs:
            if old in gone_olds or new in gone_news:
                continue
            for other_likeness, other in by_old[old]:
                if (
                    other not in gone_news
                    and other_likeness < likeness + MARGIN
                    and self.news[other].words != self.news[new].words
                ):
                    gone_olds.add(old)
            for other_likeness, other in by_new[new]:
                if (
                    other not in gone_olds
                    and other_likeness < likeness + MARGIN
                    and self.olds[other].words != self.olds[old].words
                ):
                    gone_news.add(new)
            if old not in gone_olds and new not in gone_news:
                self._take(new, self.last[old].id)
                gone_olds.add(old)
                gone_news.add(new)

    def _likeness(self, old: int, new: int, *, in_place: bool) -> float:
        """How alike two steps are, from 0 for another step to 1 for the same words."""
        step, draft = self.last[old], self.drafts[new]
        was, now = step.known, status_of(draft.status)
        if not step.is_open and (now is None or now.is_open):
            return 0.0
        begun = was is not None and now is not None and was.rank == 0 and now.rank > 0 and now.counts
        one, other = self.olds[old], self.news[new]
        shared, gone, come = _compared(one, other)
        if not shared:
            return 0.0
        likeness = 2 * shared / (one.weight + other.weight)
        if (gone | come) & _NEGATIONS or any(
            frozenset((x, y)) in _OPPOSITES or _is_negated(x, y) for x in gone for y in come
        ):
            return 0.0
        if gone & one.objects and come & other.objects:
            return 0.0
        strong_gone = {word for word, weight in zip(one.words, one.weights, strict=True) if weight >= 0.5} & gone
        strong_come = {word for word, weight in zip(other.words, other.weights, strict=True) if weight >= 0.5} & come
        if strong_gone and strong_come:
            heads = {one.words[0]}, {other.words[0]}
            if not (begun and (strong_gone == heads[0] or strong_come == heads[1])):
                return 0.0
            return likeness if likeness >= (ALIKE_IN_PLACE if in_place else ALIKE) else 0.0
        return likeness if likeness >= (ALIKE_IN_PLACE if in_place else ALIKE) else 0.0


def _compared(one: Text, other: Text) -> tuple[float, set[str], set[str]]:
    """The weight of the words that two texts share, and the words that only one of them has."""
    left, right = Counter(one.words), Counter(other.words)
    weights = dict(zip(one.words, one.weights, strict=True))
    both = left & right
    shared = sum(weights[word] * times for word, times in both.items())
    gone, come = {*(left - both)}, {*(right - both)}
    for word in sorted(gone):
        for twin in sorted(come):
            if _is_kin(word, twin, is_object=word in one.objects or twin in other.objects):
                shared += 0.85 * weights[word]
                gone.remove(word)
                come.remove(twin)
                break
    return shared, gone, come


def _is_kin(word: str, twin: str, *, is_object: bool) -> bool:
    """Whether two words are forms of one: the same path with more folders, the same beginning, or words of a group."""
    shorter, longer = sorted((word, twin), key=len)
    if is_object and _OBJECT.search(longer):
        return longer.endswith(("/" + shorter, "\\" + shorter)) or longer.removesuffix("()") == shorter
    if word in _KIN and _KIN[word] == _KIN.get(twin):
        return True
    if frozenset((word, twin)) in _OPPOSITES:
        return False
    same = next((at for at, (x, y) in enumerate(zip(word, twin, strict=False)) if x != y), len(shorter))
    if "\uac00" <= shorter[:1] <= "\ud7a3":
        return same >= 2 and same == len(shorter)
    if same == len(shorter):
        return len(shorter) >= 6 or (len(shorter) >= 4 and 2 * len(shorter) > len(longer))
    return same >= 5 and same >= 0.55 * len(longer)


def _is_negated(word: str, twin: str) -> bool:
    shorter, longer = sorted((word, twin), key=len)
    return len(shorter) > 2 and longer in {
        prefix + shorter for prefix in ("un", "dis", "de", "in", "non", "re", "anti")
    }


def _texts(contents: Iterable[str]) -> list[Text]:
    """Texts as they are compared. Beyond the budget each is only equal to itself."""
    left, texts = READ_IN_ALL, list[Text]()
    for content in contents:
        left -= len(content)
        texts.append(_read(content) if len(content) <= READ_CHARACTERS and left > 0 else Text(content, (content,)))
    return texts


@lru_cache(maxsize=8192)
def _read(content: str) -> Text:
    bare = _bare(unicodedata.normalize("NFKC", content))
    words: list[str] = []
    weights: list[float] = []
    objects: set[str] = set()
    for token in _tokens(bare):
        folded = token.casefold()
        if folded in _ARTICLES:
            continue
        is_object = _OBJECT.search(token) is not None
        if not is_object and folded.isascii():
            folded = _stem(folded)
        if is_object or (words and token[0].isupper()):
            objects.add(folded)
        words.append(folded)
        weights.append(_weight(folded, is_object=is_object))
    return Text(bare, tuple(words) or (content,), tuple(weights) or (1.0,), frozenset(objects), sum(weights) or 1.0)


def _bare(text: str) -> str:
    """A text without enumerators, checkboxes, signs and tags; whole if nothing else is left."""
    bare = text.strip()
    while bare:
        at = len(bare)
        for pattern in (_ENUMERATOR, _BEGUN):
            if found := pattern.match(bare):
                bare = bare[found.end() :]
        if (found := _LEADING_TAG.match(bare)) and _is_tag(found[1] or found[2]):
            bare = bare[found.end() :]
        if (found := _TRAILING_TAG.search(bare)) and _is_tag(found[1] or found[2] or found[3]):
            bare = bare[: found.start()]
        if bare and not bare[0].isalnum() and unicodedata.category(bare[0])[0] in "SC":
            bare = bare[1:].lstrip("\ufe0f ")
        if len(bare) == at:
            break
    return bare or text


def _is_tag(text: str) -> bool:
    """Whether a text says only how far a step is: a status, a count."""
    parts = [part.strip() for part in re.split(r"[,;·|]", text)]
    return all(
        part.casefold() in _DONE_WORDS or folded_status(part) is not None or _COUNT.fullmatch(part) for part in parts
    )


def _tokens(bare: str) -> Iterator[str]:
    for found in _TOKEN.findall(bare):
        token = found.replace("’", "'").removesuffix("'s")
        if ("\u0e00" <= token[0] <= "\u17ff" and token[0] <= "\u0eff") or "\u1000" <= token[0] <= "\u17ff":
            yield from (token[at : at + 3] for at in range(max(1, len(token) - 2)))
        elif "-" in token and not _OBJECT.search(token):
            yield from (part for part in token.split("-") if part)
        else:
            yield token


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    """An English word without its ending."""
    word = _IRREGULAR.get(word, word)
    stem = word
    for ending, instead in (("ying", "y"), ("ing", ""), ("ied", "y"), ("ies", "y"), ("ed", ""), ("es", "e"), ("s", "")):
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= 2
            and _VOWEL.search(word[: -len(ending)])
            and not word.endswith("ss")
        ):
            stem = word[: -len(ending)] + instead
            break
    if len(stem) > 3 and stem != word and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        stem = stem[:-1]
    return stem.removesuffix("e") if len(stem) > 3 else stem


def _weight(word: str, *, is_object: bool) -> float:
    if is_object:
        return 1.0
    if word in _FAINT or ("\u3040" <= word <= "\u309f" and len(word) == 1):
        return 0.15
    if "\u3400" <= word[0] <= "\u9fff":
        return 0.5
    return (0.2, 0.3, 0.6, 1.0)[min(len(word), 4) - 1] if word[0] < "\u0e00" else 0.34 if word[0] < "\u1800" else 1.0


def _index(text: Text) -> set[str]:
    return {
        word.rpartition("/")[2] if word in text.objects else word[:4]
        for word, weight in zip(text.words, text.weights, strict=False)
        if weight >= 0.3
    }


def _places(texts: Sequence[Text]) -> dict[tuple[str, ...], list[int]]:
    """The positions of each wording in a list."""
    places: dict[tuple[str, ...], list[int]] = {}
    for place, text in enumerate(texts):
        places.setdefault(text.words, []).append(place)
    return places


def _gaps(ids: Sequence[str | None]) -> list[tuple[str | None, str | None, int]]:
    """For each position the linked neighbours before and after it, and its distance from the one before."""
    before: list[tuple[str | None, int]] = []
    known: str | None = None
    at = 0
    for step_id in ids:
        at = 0 if step_id else at + 1
        known = step_id or known
        before.append((known, at))
    after: str | None = None
    gaps: list[tuple[str | None, str | None, int]] = []
    for step_id, (known, at) in zip(reversed(ids), reversed(before), strict=True):
        after = step_id or after
        gaps.append((known, after, at))
    return gaps[::-1]
