"""What a question asks: the expected kind of answer, its words and names, and the descriptions to be looked up first."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from aiq.offline.engine.analysis import PARTICLES, analyse
from aiq.offline.engine.lexicon import kind_of, stem, vocabulary
from aiq.offline.engine.text import is_chinese, name_spans

_FUNCTION_WORDS = """
    a an the of in on at by for from to with into onto through about as is are was were be been being am do does did done has have had will would
    can could should may might must and or but not no nor so than then that this these those there here it its he she his her him they their them we our
    us you your i my me who whom whose what which when where why how now today ever also just only both any some all such please tell know according
    one ones currently current latest newest recent recently most more still yet already these days nowadays right name give say exactly actually
    much many long far s t did didn doesn don wasn isn whether if while during after before until since up out over off again too very really get got
    find me
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
_BE = frozenset(
    "is are was were be been being am has have had do does did can could will would should may might must".split()
)
_LINKS = frozenset("that which who whom whose where when".split())
_PREPOSITIONS = frozenset(
    "in on at by for from to with under near behind about into after before during of among between".split()
)
_IRREGULAR = re.compile(r"(?:ed|ing|wn|en|ought|aught|ept|elt|uilt|ade|eld|et|un|ung|old|ent)$")
_PAST = re.compile(
    r"\b(?:former(?:ly)?|previous(?:ly)?|used to|once|originally|before|until|first)\b|以前|曾|之前|原|前任|当初|最初"
)
_NOW = re.compile(
    r"\b(?:current(?:ly)?|now|today|these days|at present|latest|newest|most recent(?:ly)?|still|reigning|nowadays)\b|现任|现在|目前|如今|最新|最近"
)
_CHATTER = re.compile(
    r"^(?:(?:please|hi|hello|hey|so|and|well|ok|okay|then|also)[,!]?\s+|(?:can|could|would|do) you (?:please )?(?:tell me|say|know|find out|explain)\s+(?:if\s+)?"
    r"|(?:i(?:'d| would) (?:like|love) to know|i(?:'m| am) (?:wondering|curious)|i wonder|tell me|let me know|find out|do you know|any idea)[,:]?\s+(?:about\s+)?"
    r"|(?:请问|请告诉我|告诉我|我想知道|你知道|那么))+",
    re.IGNORECASE,
)
_MEASURES = {  # adjective of "how ...": the words of its property and its kind
    "tall": ("height", "number"), "high": ("height", "number"), "long": ("length", "number"), "wide": ("width", "number"), "broad": ("width", "number"),
    "deep": ("depth", "number"), "heavy": ("weight", "number"), "big": ("size", "number"), "large": ("size", "number"), "old": ("age", "age"),
    "populous": ("population", "number"), "far": ("distance", "number"), "fast": ("speed", "number"), "often": ("", "phrase"), "expensive": ("cost", "number"),
    "many": ("", "number"), "much": ("", "number"), "small": ("size", "number"), "hot": ("temperature", "number"), "cold": ("temperature", "number"),
}  # fmt: skip
_UNITS = {
    "height": "metre|foot|feet|kilometre|mile|inch|centimetre|storey|米|公里|千米|厘米", "width": "metre|foot|feet|kilometre|mile|inch|centimetre|millimetre|米|公里|厘米",
    "depth": "metre|foot|feet|kilometre|centimetre|fathom|米", "weight": "gram|kilogram|tonne|ton|pound|ounce|stone|公斤|千克|克|吨",
    "population": "people|inhabitant|resident|person|soul|人", "distance": "metre|foot|feet|kilometre|mile|minute|hour|light|公里|千米|米",
    "speed": "kilometre|mile|knot|metre|公里|米", "temperature": "°|°c|°f|degree|度", "size": "square|hectare|acre|centimetre|metre|平方公里|平方米|公顷",
    "length": "metre|foot|feet|kilometre|mile|inch|centimetre|year|month|week|day|hour|minute|second|米|公里|千米|年|个月|天|小时|分钟",
}  # fmt: skip
_WORD = re.compile(r"⟦\d+⟧|[^\W_]+(?:['’-][^\W_]+)*|['’]s\b|[,;:?]")


_BESIDES = re.compile(
    r"\b(?:besides|apart from|other than|except(?: for)?|in addition to|instead of|rather than)\b(?: (?:\w+ing|the|a|an))* \w+"
)
"""What is not wanted."""


@dataclass(frozen=True)
class Ask:
    """One thing asked. `kind`: person, place, organisation, work, thing, name, date, number, age, reason, colour, material, phrase, yes.

    `head`: the noun that the answer is one of ("city"), or ""; `units`: a pattern of the units that a number may have; `names`: the entities spoken of;
    `words`: the other words that matter; `current`, `past`: whether the newest or an earlier state is asked for.
    """

    text: str
    kind: str
    head: str = ""
    units: str = ""
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    current: bool = False
    past: bool = False


@dataclass(frozen=True)
class Description:
    """A part of a question that stands for something to be found ("the city where X is held"): its place and what it asks."""

    start: int
    end: int
    ask: Ask


@lru_cache(maxsize=2048)
def tidy(question: str) -> str:
    """The question without politeness, on one line."""
    text = " ".join(question.split())
    text = re.sub(r"\bwhat(?: is|'s| was) the (?:number|total) of\b", "How many", text, flags=re.IGNORECASE)
    text = re.sub(
        r"\b(?:what|which)(?: is|'s| was) the names? of (the|its|their)\b", r"Which is \1", text, flags=re.IGNORECASE
    )
    return _one_sentence(_CHATTER.sub("", text).strip() or text)


def _one_sentence(text: str) -> str:
    """A question in two parts as one: "X's club - where is it?", "X has a mayor. Where was that mayor born?"."""
    if match := re.match(
        r"(?P<what>(?:(?!who|what|when|where|which|how|is|are|did|does)\w)[^.?!:]*?)(?:\s[-–—]\s|:\s|[.;,]\s)(?P<rest>(?:and )?(?:who|what|where|when|which|how)\b.*)",
        text,
        re.IGNORECASE,
    ):
        what, rest = match["what"], match["rest"]
        if has := re.match(r"(?P<who>.+?) (?:has|have|had) (?:a|an) (?P<noun>[\w ]+)$", what):
            return re.sub(
                rf"\b(?:that|this|its|the) {re.escape(has['noun'])}\b|\bit\b",
                f"the {has['noun']} of {has['who']}",
                rest,
                count=1,
            )
        if not re.search(r"\b(?:of|among|between|in|at|on)\b", what[:8], re.IGNORECASE):
            what = what[0].lower() + what[1:] if re.match(r"(?:The|A|An)\b", what) else what
            rest = re.sub(r"\b(?:its|his|her|their)\s+(\w+)", rf"the \1 of {what}", rest, count=1)
            return re.sub(r"\b(?:it|he|she|they|that one)\b", what, rest, count=1)
    return text


@lru_cache(maxsize=4096)
def parse(question: str) -> Ask:
    """What a question asks, its descriptions taken as words."""
    text = tidy(question)
    whole, text = text, _BESIDES.sub(lambda m: "instead" if m.group().lower().startswith("instead") else " ", text)
    kind, head, units, used = _chinese_kind(text) if is_chinese(text) else _kind(text)
    found = _entities(text)
    words = tuple(w for w in _words(text, found) if w.lower() not in used)
    extra = tuple(w for w in (_MEASURES.get(u, ("",))[0] for u in used) if w)
    if (
        head
        and kind != "person"
        and head not in ("year", "years", "date")
        and head.lower() not in FUNCTION_WORDS
        and not any(head in n for n in found)
    ):
        words = (*words, head) if head not in words else words
    return Ask(
        whole,
        kind,
        head,
        units,
        found,
        (*dict.fromkeys((*extra, *words)),),
        bool(_NOW.search(text)),
        bool(_PAST.search(text)),
    )


def _kind(text: str) -> tuple[str, str, str, frozenset[str]]:
    """Kind, head noun, units and the words used up, of an English question."""
    low = text.lower()
    if match := re.search(r"\bhow (?!come\b)(\w+)(?: (\w+))?(?!.*\b(?:what|which) year\b)", low):
        return _how(match[1], match[2] or "", low)
    if re.search(
        r"\b(?:what|which|whose) (?:year|month|day|date|century|decade|time)s?\b|\bwhen\b(?! was the last time)", low
    ):
        head = re.search(r"\b(?:year|month|day|date|century|decade|time)s?\b", low)
        return "date", head.group() if head else "", "", frozenset({"year", "date", "years", "time"})
    if re.search(
        r"\bwhy\b|\bwhat(?: (?:was|is) the)? reason\b|\bwhat (?:caused|made|led|drove|prompted)\b|\bhow come\b", low
    ):
        return "reason", "", "", frozenset({"reason", "come", "made", "caused", "led", "prompted", "drove"})
    if re.search(r"\bwho(?:m|se|'s)?\b", low) and not re.search(r"\b(?:what|which|where)\b.*\bwho", low):
        return "person", "", "", frozenset()
    if re.search(
        r"^(?:from |in |to |at )?where\b|, where\b|\bwhere(?:'s)? (?:is|was|did|do|does|are|were|can|has|in)\b", low
    ):
        return "place", "", "", frozenset()
    if re.search(
        r"\bfor a living\b|\bwhat (?:is|was|are|were) (?:he|she|they)\b|\bwhat (?:job|profession|occupation)\b", low
    ):
        return "occupation", "", "", frozenset({"living"})
    if re.search(r"\bwhat (?:do|does|did|has|have|had)\b|^what\b.*\b(?:for|as|about|with|to be)\?*$", low):
        return "phrase", "", "", frozenset()
    if match := re.search(
        r"\b(?:what|which)(?:'s)?\s+(?:(?:is|was|are|were)\s+)?(?:of\s+)?(?:all\s+)?(?:the\s+|its\s+|a\s+|an\s+)?(?:two\s+|three\s+|four\s+)?((?:[^\W\d_]|[-'’])+(?:\s+(?:[^\W\d_]|[-'’])+){0,4})",
        text,
        re.IGNORECASE,
    ):
        kind = _by_noun(_head(match[1]))
        return (
            ("phrase", "", "", frozenset())
            if kind[0] == "person" and re.search(r"\bwhat (?:is|was|are|were)\b", low)
            else kind
        )
    if re.match(r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", low):
        return "yes", "", "", frozenset()
    if match := re.search(r"\b(?:the|a)\s+((?:[^\W\d_]|[-'’])+(?:\s+(?:[^\W\d_]|[-'’])+){0,5})", text):
        return _by_noun(_head(match[1]))
    return "phrase", "", "", frozenset()


def _how(word: str, after: str, low: str) -> tuple[str, str, str, frozenset[str]]:
    if word not in _MEASURES:
        return ("number", "", "", frozenset()) if kind_of(word) == "number" else ("phrase", "", "", frozenset())
    measure, kind = _MEASURES[word]
    used = frozenset({word})
    if word in ("many", "much"):
        head = after if after not in FUNCTION_WORDS else ""
        if word == "much" and re.search(r"\bweigh", low):
            return "number", "", _UNITS["weight"], used
        return "number", head if word == "many" else "", stem(head) if word == "many" else "", used
    if word == "long" and re.search(
        r"\b(?:last|take|took|lasted|live|ago|stay|serve|work|been|before|until|did|has|have)\b", low
    ):
        return (
            "number",
            "",
            r"year|month|week|day|hour|minute|second|decade|century|年|个月|天|小时|分钟",
            frozenset({"long"}),
        )
    return kind, "", _UNITS.get(measure, ""), used


def _by_noun(head: str) -> tuple[str, str, str, frozenset[str]]:
    """Kind by the noun that "what" or "which" asks for."""
    kind = kind_of(head)
    if kind == "time":
        return "date", head, "", frozenset({head})
    if kind == "number":
        return "number", head, _UNITS.get(head.lower(), ""), frozenset()
    if head.lower() in ("colour", "color", "colours"):
        return "colour", head, "", frozenset()
    if head.lower() in ("material", "materials", "stone", "wood", "metal"):
        return "material", head, "", frozenset()
    if head.lower() in ("job", "profession", "occupation", "trade", "living"):
        return "occupation", head, "", frozenset()
    if head.lower() in ("name", "nickname", "title"):
        return "name", head, "", frozenset()
    return kind or "phrase", head, "", frozenset()


def _head(run: str) -> str:
    """The head noun of a run of words: the last before a verb, preposition or link."""
    noun = ""
    for word in run.split():
        low = re.sub(r"['’]s$", "", word.lower())
        if not noun and (low in ("most", "recent", "latest", "current", "newest", "right") or word[0].isupper()):
            continue
        if (
            (noun and (word[0].isupper() or low in vocabulary().bases))
            or low in FUNCTION_WORDS
            or low in _PREPOSITIONS
            or (noun and re.search(r"(?:ed|s)$", low) and not kind_of(low) and kind_of(noun))
        ):
            break
        noun = re.sub(r"['’]s$", "", word)
    return noun


_CHINESE_KINDS = (
    (r"谁|哪位|哪个人|什么人|何人|哪一位", "person"), (r"为什么|为何|什么原因|何以", "reason"), (r"哪(?:一)?年|何时|什么时候|哪天|几月|哪个?月|几号|哪一天|什么时间|何年", "date"),
    (r"多少|几[个座位名次所家条只种岁米年天]|多[高长大远深宽重久快]|有几", "number"), (r"什么颜色|何色|哪种颜色", "colour"), (r"什么材料|何种材料|什么建|什么做|什么制", "material"),
    (r"什么工作|什么职业|哪种职业|做什么|干什么|当什么|从事什么", "occupation"), (r"哪里|哪儿|何处|何地|哪个(?:城市|国家|市|县|镇|村|省|地方|地区)|什么地方|哪国|哪座城市|哪(?:座|个)?城", "place"),
    (r"哪(?:所|家|间)|哪个(?:公司|大学|学校|机构|俱乐部|学院|球队)", "organisation"), (r"哪|什么名字|叫什么|名称", "name"), (r"吗|是否|是不是|有没有|能不能|会不会", "yes"), (r"什么|何|如何|怎", "phrase"),
)  # fmt: skip
_CHINESE_UNITS = {"高": "米|厘米|公里", "长": "米|公里|千米|年|天|分钟|小时|字", "大": "平方|公顷|岁|亩", "远": "公里|米|千米", "深": "米", "宽": "米", "重": "公斤|千克|克|吨", "久": "年|天|月|小时|分钟", "人": "人", "岁": "岁", "钱": "元", "年": "年"}  # fmt: skip


def _chinese_kind(text: str) -> tuple[str, str, str, frozenset[str]]:
    for pattern, kind in _CHINESE_KINDS:
        if match := re.search(pattern, text):
            units = ""
            if kind == "number":
                near = re.search(
                    r"多([高长大远深宽重久])|(?:多少|几)(?:[个位名]?)(人|岁|钱|年|米|公里|[^\W]?)|(人)口", text
                )
                sign = next((g for g in near.groups() if g), "") if near else ""
                units = _CHINESE_UNITS.get(sign, sign if sign not in PARTICLES else "")
                units = "人" if re.search(r"人口|居民", text) else units
            head = (
                re.search(r"哪(?:一)?[个所家座条种项]?([^\W\d]{1,3})", text)
                if kind in ("place", "organisation", "name")
                else None
            )
            noun = next((head[1][:n] for n in (3, 2, 1) if kind_of(head[1][:n])), "") if head else ""
            return kind, noun, units, frozenset()
    return ("yes" if text.rstrip("？?").endswith("吗") else "phrase"), "", "", frozenset()


def _entities(text: str) -> tuple[str, ...]:
    """The names in a question; in Chinese also what is neither a word of the vocabulary nor a particle."""
    found = [span.text for span in name_spans(text)]
    if is_chinese(text):
        rest = re.sub(r"[《「『“\"][^》」』”\"]+[》」』”\"]", "|", text)
        found += [
            part
            for part in _segments(rest)
            if (len(part) > 2 or (len(part) == 2 and kind_of(part)))
            and part not in vocabulary().groups
            and not kind_of(part) == "time"
        ]
    return tuple(dict.fromkeys(n for n in found if n.lower() not in FUNCTION_WORDS))


_CHINESE_STOP = re.compile(
    r"什么时候|为什么|最近一次|最近|最新|上一次|一次|今年|去年|当时|后来|什么|多少|现在|目前|如今|如何|怎么|怎样|是否|哪(?:一)?[个条座家所位种项本部只]?|以前|曾经|之前|以后|现任|哪里|哪儿|哪个|哪位|哪家|哪所|哪年|哪一|位于|建?得?(?:更|最|较)[早晚大小高长多少]|多[高长大远深宽重久]|有没有|一共|总共|[\W_]+|\d+年?"
)


def _segments(text: str) -> list[str]:
    """Pieces of Chinese text between particles, question words and longer words of the vocabulary."""
    text = _CHINESE_STOP.sub("|", text)
    words = [m.span() for m in vocabulary().chinese.finditer(text) if m.end() - m.start() > 1]
    for start, end in reversed(words):
        before = text[start - 1] if start else "|"
        joined = (
            kind_of(text[start:end]) in ("place", "organisation", "thing", "work")
            and before != "|"
            and before not in PARTICLES
        )
        text = text[:start] + (text[start:end] + "|" if joined else "|" * (end - start)) + text[end:]
    return [part for part in re.split(r"[|" + re.escape(_PARTS) + r"]+", text) if part]


_PARTS = "".join(sorted(PARTICLES))


def _words(text: str, found: tuple[str, ...]) -> list[str]:
    """The words of a question that matter and belong to no name."""
    for name in sorted(found, key=len, reverse=True):
        text = text.replace(name, " ⟦ ")
    if is_chinese(text):
        text = _CHINESE_STOP.sub(" ", text)
        return _apart(text)
    return [t.text for t in analyse(text).tokens if t.text.lower() not in FUNCTION_WORDS and len(t.text) > 1]


def _apart(text: str) -> list[str]:
    """Chinese words of the vocabulary, longest first, and pairs of characters of what is left."""
    known = [m.group() for m in vocabulary().chinese.finditer(text)]
    rest = vocabulary().chinese.sub(" ", text)
    return [*known, *(t.text for t in analyse(rest).tokens if len(t.text) > 1)]


def descriptions(question: str) -> list[Description]:
    """The innermost descriptions that could be looked up first, likeliest first; none where the question is plain."""
    text = tidy(question)
    if is_chinese(text):
        return _chinese_descriptions(text)
    text = _plain_possessives(text)
    names = name_spans(text)
    masked, marks = text, []
    for number, span in reversed(list(enumerate(names))):
        masked = masked[: span.start] + f"⟦{number}⟧" + masked[span.end :]
    tokens = [(m.group(), m.start(), m.end()) for m in _WORD.finditer(masked)]
    for i in range(len(tokens) - 2, -1, -1):
        if len(marks) == 2:
            break
        if tokens[i][0].lower() not in ("the", "a", "an", "its", "their", "his", "her") and not (
            i and tokens[i - 1][0].lower() in ("which", "what")
        ):
            continue
        if found := _description(tokens, i, masked, [n.text for n in names]):
            marks.append(found)
    return marks


def rewritten(question: str) -> str:
    """The question with possessives as "the ... of", as the places of `descriptions` count in it."""
    text = tidy(question)
    return text if is_chinese(text) else _plain_possessives(text)


def _plain_possessives(text: str) -> str:
    """ "X's founder's birthplace" as "the birthplace of the founder of X"."""
    names = name_spans(text)
    for span in reversed(names):
        rest = text[span.end :]
        match = (
            re.match(r"(?:['’]s?)((?:\s+[a-z][\w-]*)+)((?:['’]s\s+[a-z][\w-]*)*)", rest) if rest[:1] in "'’" else None
        )
        if not match:
            continue
        run: list[str] = []
        for word in match[1].split():
            if word in FUNCTION_WORDS or (run and (kind_of(run[-1]) and not kind_of(word))):
                break
            run.append(word)
        if not run:
            continue
        chain = [" ".join(run)]
        end = re.match(r"['’]s?\s+" + r"\s+".join(run), rest)
        stop = end.end() if end else 0
        while more := re.match(r"['’]s\s+([a-z][\w-]*)", rest[stop:]):
            chain.insert(0, more[1])
            stop += more.end()
        article = "" if text[: span.start].rstrip().lower().endswith((" the", " a")) else "the "
        start = span.start if article else text.lower().rfind("the", 0, span.start)
        text = (
            text[:start]
            + "the "
            + " of the ".join(chain)
            + " of "
            + ("" if article else "the ")
            + span.text
            + rest[stop:]
        )
    return text


def _description(tokens: list[tuple[str, int, int]], i: int, masked: str, names: list[str]) -> Description | None:
    """The description that begins at token i, if there is one to look up."""
    j = i + 1
    while j < len(tokens) and j - i <= 5 and _is_content(tokens[j][0]) and not (j > i + 1 and _participle(tokens, j)):
        j += 1
    if j == i + 1 or j >= len(tokens):
        return None
    head = tokens[j - 1][0].lower()
    link = tokens[j][0].lower()
    if not (link in _LINKS or link in _PREPOSITIONS or _participle(tokens, j)):
        return None
    clause = link in _LINKS or _participle(tokens, j) or (j + 1 < len(tokens) and tokens[j + 1][0].lower() in _LINKS)
    kind = kind_of(head)
    if tokens[i][0].lower() in ("a", "an") and link not in _LINKS:
        return None
    if not clause and kind not in ("person", "place", "organisation", "work", "thing"):
        return None
    end = _end(tokens, j, clause)
    inside = masked[tokens[i][1] : tokens[end - 1][2]]
    if end <= j + 1 or not re.search(r"⟦|[a-z]{4}", masked[tokens[j][2] : tokens[end - 1][2]]):
        return None
    before = masked[: tokens[i][1]].strip().lower()
    after = [
        t[0].lower()
        for t in tokens[end:]
        if t[0] not in "?,;:"
        and t[0].lower()
        not in ("now", "today", "currently", "called", "named", "these", "days", "right", "at", "present")
    ]
    copular = r"(?:.*\bwhich of|(?:who|what|which)(?:'s| is| are| was| were| has been)?(?: currently| now)?|name|which)"
    if before.endswith("which of") or (not after and (re.fullmatch(copular, before) or not before)):
        return None
    if not after and re.fullmatch(r"(?:is|are|was|were|did|does|do|has|have|had)(?: \w+)*", before) and not clause:
        pass
    restore = re.sub(r"⟦(\d+)⟧", lambda m: names[int(m[1])], inside)
    start = len(_unmask(masked[: tokens[i][1]], names))
    asked = parse("Which " + re.sub(r"^(?:the|an?|its|their|his|her)\s+", "", restore))
    asked = replace(asked, kind=kind or "name", head=head, units="", current=asked.current or kind == "person")
    return Description(start, start + len(restore), asked)


def _unmask(text: str, names: list[str]) -> str:
    return re.sub(r"⟦(\d+)⟧", lambda m: names[int(m[1])], text)


def _is_content(word: str) -> bool:
    return (
        word[0].isalnum()
        and word.lower() not in FUNCTION_WORDS - {"current", "latest", "newest", "recent"}
        and word.lower() not in _PREPOSITIONS
    )


def _participle(tokens: list[tuple[str, int, int]], j: int) -> bool:
    """Whether the word opens a shortened clause: "founded by ...", "headquartered in ...", "making ..."."""
    word = tokens[j][0].lower()
    if (
        not word.isalpha()
        or not _IRREGULAR.search(word)
        or j + 1 >= len(tokens)
        or (kind_of(word) and not word.endswith(("ed", "ing")))
    ):
        return False
    after = tokens[j + 1][0].lower()
    if after in _PREPOSITIONS - {"of"}:
        return True
    return word.endswith("ing") and (after[0] == "⟦" or after in ("the", "a"))


def _end(tokens: list[tuple[str, int, int]], j: int, clause: bool) -> int:
    """The token after the last of a description whose connecting word is token j."""
    k = j + 1
    seen = False
    while k < len(tokens):
        word = tokens[k][0].lower()
        if word[0] in ",;:?":
            break
        if word[0] == "⟦":
            if seen and tokens[k - 1][0].lower() not in _PREPOSITIONS | {"the", "and", "a"} and not clause:
                break
            seen = True
            k += 1
            if (
                k < len(tokens)
                and tokens[k][0].lower() in _PREPOSITIONS
                and k + 1 < len(tokens)
                and tokens[k + 1][0][0] == "⟦"
            ):
                continue
            while (
                k < len(tokens)
                and _is_content(tokens[k][0])
                and (
                    kind_of(tokens[k][0]) in ("place", "organisation", "thing", "person")
                    or tokens[k][0].endswith(("'s", "’s"))
                    or tokens[k - 1][0].endswith(("'s", "’s"))
                )
            ):
                k += 1
            if not (clause and _subject_clause(tokens, j, k)):
                return _with_place(tokens, k)
            return _verb_group(tokens, k)
        if not clause and word in _BE:
            break
        k += 1
    return k


def _subject_clause(tokens: list[tuple[str, int, int]], j: int, k: int) -> bool:
    """Whether the name before k is the subject of the clause opened at j, its verb still to come."""
    link = tokens[j][0].lower()
    opens = link in ("where", "whose", "when", "whom") or (j + 1 < len(tokens) and tokens[j + 1][0].lower() in _LINKS)
    direct = (
        link in ("that", "which")
        and tokens[j + 1][0].lower() in ("⟦", "the")
        or (link in ("that", "which", "who") and tokens[j + 1][0][0] == "⟦")
    )
    return (opens or direct) and k < len(tokens) and (tokens[k][0].lower() in _BE or tokens[k][0].isalpha())


def _verb_group(tokens: list[tuple[str, int, int]], k: int) -> int:
    """The end of the verb that begins at token k: auxiliaries, one verb, and a place or time behind it."""
    while k < len(tokens) and tokens[k][0].lower() in _BE | {"not", "still", "currently", "now", "first"}:
        k += 1
    if k < len(tokens) and tokens[k][0].lower() in ("its", "their", "his", "her", "a", "an", "the"):
        k += 1
        while k < len(tokens) and _is_content(tokens[k][0]) and tokens[k][0][0] != "⟦":
            k += 1
    elif k < len(tokens) and tokens[k][0].isalpha():
        k += 1
        if k + 1 < len(tokens) and tokens[k][0].lower() in ("its", "their", "his", "her"):
            k += 2
            while k < len(tokens) and _is_content(tokens[k][0]) and tokens[k][0][0] != "⟦":
                k += 1
    return _with_place(tokens, k)


def _with_place(tokens: list[tuple[str, int, int]], k: int) -> int:
    if k + 1 < len(tokens) and tokens[k][0].lower() in _PREPOSITIONS:
        if tokens[k + 1][0][0] == "⟦" or tokens[k + 1][0].isdigit():
            return k + 2
        if k + 2 == len(tokens) or tokens[k + 1][0][0] in "?,":
            return k + 1
    return k


_HAN_HEAD = re.compile(r"(?P<of>[^，。？、,?]{2,40}?)的(?P<head>[^，。？、,?的是]{1,6})")


def _chinese_descriptions(text: str) -> list[Description]:
    """The first link of a chain "X的A的B": what "X的A" stands for, when something is asked of it."""
    for match in _HAN_HEAD.finditer(text):
        first = re.split(r"[有多少几哪什谁，]|" + "|".join(_PARTS), match["head"])[0]
        noun = next((first[:n] for n in range(len(first), 0, -1) if kind_of(first[:n])), "")
        if not noun or kind_of(noun) in ("number", "time"):
            continue
        end = match.start("head") + len(noun)
        rest = re.sub(r"[？?。\s]", "", text[end:])
        if re.fullmatch(r"(?:是|叫|为|在)?(?:谁|什么|哪里|哪.{0,4}|什么名字|何人|何处)(?:呢|啊)?", rest) or re.search(
            r"哪|谁|什么", match["of"]
        ):
            continue
        ask = replace(parse(text[match.start() : end]), kind=kind_of(noun), head=noun, units="")
        return [Description(match.start(), end, replace(ask, current=ask.current or ask.kind == "person"))]
    return []
