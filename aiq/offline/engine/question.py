"""What a question asks: the expected kind of answer, the names and words that matter, and the descriptions of things
that must be found first ("the city where X is held")."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from aiq.offline.engine.analysis import PARTICLES, analyse
from aiq.offline.engine.lexicon import groups, kind_of, listed, parts_of_speech, stem, table, vocabulary
from aiq.offline.engine.text import is_chinese, name_spans

FUNCTION_WORDS = listed("function")
PARTICLES_PATTERN = f"[{''.join(sorted(PARTICLES))}]"
PREPOSITIONS = listed("prepositions")

_PAST = re.compile(
    r"\b(?:former(?:ly)?|previous(?:ly)?|used to|once|originally|before|until|first)\b|以前|曾|之前|原|前任|当初|最初"
)
_NOW = re.compile(
    r"\b(?:current(?:ly)?|now|today|these days|at present|latest|newest|most recent(?:ly)?|still|nowadays)\b"
    r"|现任|现在|目前|如今|最新|最近"
)
_CHATTER = re.compile(
    r"^(?:(?:please|hi|hello|hey|so|and|well|ok|okay|then|also)[,!]?\s+"
    r"|(?:can|could|would|do) you (?:please )?(?:tell|say|know|find|explain|give|pin|look|check|help|remind|name)"
    r"(?: (?:me|us|for|out|down|up|remember|with))*\s+(?:if\s+)?"
    r"|(?:i(?:'d| would) (?:like|love) to know|i(?:'m| am) (?:wondering|curious)|i wonder|tell me|let me know|find out"
    r"|do you know|any idea)[,:]?\s+(?:about\s+)?"
    r"|(?:请问|请告诉我|告诉我|我想知道|你知道|那么))+",
    re.IGNORECASE,
)
_BESIDES = re.compile(
    r"\b(?:besides|apart from|other than|except(?: for)?|in addition to|(?P<instead>instead) of|rather than)\b"
    r"(?: (?:\w+ing|the|a|an))* \w+"
)
"""What is excluded."""

_BEFORE_NOUNS = frozenset(("most", "recent", "latest", "current", "newest", "right"))
_AFTER_NOUNS = listed("auxiliaries") | {"of"}
"""After these words, one that may be a verb or a noun is a noun."""

_RUN = r"((?:[^\W\d_]|[-'’])+(?:\s+(?:[^\W\d_]|[-'’])+){0,5})"
_OF_WHAT = re.compile(
    rf"\b(?:what|which)(?:'s)?\s+(?:(?:is|was|are|were)\s+)?(?:of\s+)?(?:all\s+)?(?:(?:the|its|an?|two|three|four)\s+)*{_RUN}",
    re.IGNORECASE,
)
_KINDS = (  # the first that matches the question in lower case; "" leaves it to the noun
    (r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b(?!.*\bknow)", "yes"),
    (r"\bhow (?!come\b)(\w+)(?!.*\b(?:what|which) year\b)", "how"),
    (r"\b(?:what|which) (?:year|month|day|date|century|decade|time)s?\b|\bwhen\b", "date"),
    (r"\bwhy\b|\bwhat(?: (?:was|is) the)? reason\b|\bwhat (?:caused|made|led|drove|prompted)\b|\bhow come\b", "reason"),
    (r"^(?!.*\b(?:what|which|where)\b.*\bwho).*\bwho(?:m|se|'s)?\b", "person"),
    (r"(?:^(?:from |in |to |at )?|, )where\b|\bwhere(?:'s)? (?:is|was|did|do|does|are|were|can|has|in)\b", "place"),
    (r"\bfor a living\b|\bwhat (?:is|was) (?:he|she)\b|\bwhat (?:job|profession|occupation)\b", "occupation"),
    (r"\bwhat (?:do|does|did|has|have|had)\b|^what\b.*\b(?:for|as|about|with|to be)\?*$", "phrase"),
    (r"\b(?:what|which)\b", ""),
    (r"哪位|谁|哪个人|什么人|何人|哪一位", "person"),
    (r"为什么|为何|什么原因|何以", "reason"),
    (r"哪(?:一)?年|何时|什么时候|哪天|几月|哪个?月|几号|哪一天|什么时间|何年", "date"),
    (r"多少|几[个座位名次所家条只种岁米年天]|多[高长大远深宽重久快]|有几", "number"),
    (r"什么颜色|何色|哪种颜色", "colour"),
    (r"什么材料|何种材料|什么建|什么做|什么制", "material"),
    (r"什么工作|什么职业|哪种职业|[做干当]什么|从事什么", "occupation"),
    (r"哪里|哪儿|何处|何地|哪个?(?:城市|国家?|市|县|镇|村|省|地方|地区)|什么地方|哪座?城", "place"),
    (r"哪(?:所|家|间)|哪个(?:公司|大学|学校|机构|俱乐部|学院|球队)", "organisation"),
    (r"哪|什么名字|叫什么|名称", "name"),
    (r"吗|是否|是不是|有没有|能不能|会不会", "yes"),
)
_ASKING = re.compile(
    r"(?:^|[.!?:;,]\s+)(?=(?:(?:in|at|on|from|to|for|by|with|since|until|of|under) )?(?:what|which|who|whom|whose|where"
    r"|when|why|how)\b)"
)
"""Where a clause that asks begins; what comes before it is a statement."""
THINGS = ("person", "place", "organisation", "work", "thing")
_UNSETTLED = ("", "phrase", "name", "age", "number")
_DOING = re.compile(r"\bwhat (?:do|does|did|was|were|is|are|would|will|has|had|kind|sort)\b")
_KIND_OF_NOUN = {"time": "date", "color": "colour", "colour": "colour", "material": "material", "stone": "material"}
_KIND_OF_NOUN |= {"wood": "material", "metal": "material"} | dict.fromkeys(("name", "nickname", "title"), "name")
_KIND_OF_NOUN |= dict.fromkeys(("job", "profession", "occupation", "trade", "living"), "occupation")
_KIND_WORDS = {"date": "year years date time", "reason": "reason come made caused led prompted drove"}
_KIND_WORDS |= {"occupation": "living"}
"""Words that only state the kind of the answer."""


@dataclass(frozen=True)
class Ask:
    """One thing asked.

    `kind`: person, place, organisation, work, thing, name, date, number, age, reason, colour, material, occupation,
    yes or phrase; `head`: the noun that the answer is an instance of ("city"), or ""; `units`: a pattern of the units
    that a number may have; `names`: the entities mentioned; `words`: the other words that matter; `current`, `past`:
    whether the newest or an earlier state is asked for.
    """

    text: str
    kind: str
    head: str = ""
    units: str = ""
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    current: bool = False
    past: bool = False


@lru_cache(maxsize=2048)
def tidy(question: str) -> str:
    """The question without polite phrases, on one line."""
    text = " ".join(question.split())
    text = re.sub(r"\bwhat(?: is|'s| was) the (?:number|total) of\b", "How many", text, flags=re.IGNORECASE)
    pattern = r"\b(?:what|which)(?: is|'s| was) the (?:name|title)s? of (?=the|its|their)"
    return _CHATTER.sub("", re.sub(pattern, "Which is ", text, flags=re.IGNORECASE)).strip() or text


@lru_cache(maxsize=4096)
def parse(question: str) -> Ask:
    """What a question asks; its descriptions are treated as words."""
    text = tidy(question)
    core = _BESIDES.sub(lambda m: m["instead"] or " ", text)
    low, names = core.lower(), _entities(core)
    clause = low[next((match.start() for match in _ASKING.finditer(low)), 0) :]
    kind, match = next(((k, m) for pattern, k in _KINDS if (m := re.search(pattern, clause))), ("", None))
    measure = match[1] if match and kind == "how" else ""
    if is_chinese(text):
        kind, head, units = _from_chinese(text, kind)
    else:
        kind, head, units = _from_how(measure, low) if measure else _from_noun(core) if not kind else (kind, "", "")
    content = _words(core, names)
    if kind in _UNSETTLED and not is_chinese(text):
        kind, head, units = _from_words(low, content, kind, head, units)
    if kind == "date" and (unit := re.search(r"\b(?:year|month|day|date|century|decade)s?\b", low)):
        head = unit.group()
    kind_words = {measure, *_KIND_WORDS.get(kind, "").split()}
    words = [table("measures").get(measure), *(w for w in content if w.lower() not in kind_words)]
    current, past = _NOW.search(core) is not None, _PAST.search(core) is not None
    return Ask(text, kind, head, units, names, tuple(dict.fromkeys(filter(None, words))), current, past)


def _from_words(low: str, words: Sequence[str], *default: str) -> tuple[str, str, str]:
    """Kind, head and units from the nouns of a question whose question word tells nothing ("its headcount, please")."""
    if re.search(r"\byear\b", low) and "how many years" not in low:
        return "date", "year", ""
    if default[0] == "number" or _DOING.search(low):
        return default[0], default[1], default[2]
    if re.search(r"\bwhere\b", low):
        return "place", "", ""
    kinds = {word: kind for word in words if (kind := kind_of(word)) in (*THINGS, "number")}
    head = next((word for word, kind in kinds.items() if kind == "number"), next(iter(kinds), ""))
    kind = kinds.get(head, default[0])
    return kind, head or default[1], table("units").get(head.lower(), "") if kind == "number" else ""


def _from_how(word: str, low: str) -> tuple[str, str, str]:
    """Kind, head and units that "how tall", "how many ..." or "how often" ask for."""
    measure, units = table("measures").get(word, ""), table("units")
    if word in ("many", "much") and (noun := re.search(r"\bhow (?:many|much) (\w+)", low)):
        head = noun[1] if noun[1] not in FUNCTION_WORDS else ""
        return "number", head, units["weight"] if "weigh" in low else stem(head)
    if re.search(r"\bhow long\b.*\b(?:last|take|took|lasted|live|ago|stay|serve|work|been|until|did|has)\b", low):
        return "number", "", units["duration"]
    amount = re.search(rf"\bhow {word} (?:is|was|are|were) (?:\w+ ){{0,3}}?(\w+)(?= of| that|\?|$)", low)
    if amount and kind_of(amount[1]) == "number":  # "how large is the budget" does not ask for a size
        return "number", amount[1], units.get(amount[1], "")
    kind = "age" if word == "old" else "number" if measure or kind_of(word) == "number" else "phrase"
    return kind, "", units.get(measure, "")


def _from_noun(text: str) -> tuple[str, str, str]:
    """Kind, head and units that "what" or "which" asks for, by its noun."""
    phrase = re.sub(r"\b(?:kind|type|sort)s? of ", "", text)
    run = _OF_WHAT.search(phrase) or re.search(rf"\b(?:the|an?)\s+{_RUN}", text)
    head = _head(run[1]) if run else ""
    noun, kind = head.lower().removesuffix("s"), kind_of(head)
    kind = _KIND_OF_NOUN.get(noun, "date" if kind == "time" else kind)
    if kind == "person" and re.search(r"\bwhat (?:is|was|are|were)\b", text, re.IGNORECASE):
        return "phrase", "", ""  # what someone is
    return kind or "phrase", head, table("units").get(head.lower(), "") if kind == "number" else ""


def _head(run: str) -> str:
    """The head noun of a run of words: the last before a verb, preposition or name."""
    noun, words = "", run.split()
    for word, following in pairwise([*words, "of"]):
        low = re.sub(r"['’]s$", "", word.lower())
        if not noun and (low in _BEFORE_NOUNS or word[0].isupper()):
            continue
        parts = parts_of_speech(low)
        inflected = low[-1] == "s" or noun[-1:] == "s"  # "hosts" is a verb after "city", "host" after "cities"
        is_verb = "NOUN" not in parts or ("VERB" in parts and inflected and following not in _AFTER_NOUNS)
        if word[0].isupper() or low in FUNCTION_WORDS | PREPOSITIONS or (noun and parts and is_verb):
            break
        noun = word.removesuffix("'s")
        if noun in ("colour", "color"):  # "colour shirts"
            break
    return noun


def _from_chinese(text: str, kind: str) -> tuple[str, str, str]:
    """Kind, head and units that a Chinese question asks for."""
    if kind == "number":
        pattern = r"(人)口|居民|多([高长大远深宽重久])|(?:多少|几)(?:[个位名]?)(人|岁|钱|年|米|公里|[^\W]?)"
        match = re.search(pattern, text)
        sign = next((group for group in match.groups() if group), "人") if match else ""
        units = str(table("units").get(table("measures").get(sign, ""), ""))
        return kind, "", units or (sign if sign not in PARTICLES else "")
    run = re.search(r"哪(?:一)?[个所家座条种项]?([^\W\d]{1,3})", text)
    nouns = [run[1][:n] for n in (3, 2, 1) if kind_of(run[1][:n])] if run and kind in _NAMED_KINDS else []
    return kind or "phrase", (*nouns, "")[0], ""


_NAMED_KINDS = ("place", "organisation", "name")


def _entities(text: str) -> tuple[str, ...]:
    """The names in a question; in Chinese also anything that is neither in the vocabulary nor a particle."""
    names = [span.text for span in name_spans(text)]
    if is_chinese(text):
        rest = re.sub(r"[《「『“\"][^》」』”\"]+[》」』”\"]", "|", text)
        segments = (part for part in _segments(rest) if len(part) > 2 or (len(part) == 2 and kind_of(part)))
        names += [part for part in segments if part not in vocabulary().groups and kind_of(part) != "time"]
    excluded = [n for n in names if n[1:2] in ("'", "’") or (n.isupper() and groups(stem(n)))]  # "I'd", "CEO"
    return tuple(name for name in dict.fromkeys(names) if name not in excluded and name.lower() not in FUNCTION_WORDS)


_CHINESE_STOP = re.compile(
    r"什么时候|为什么|最近一次|最近|最新|上一次|一次|今年|去年|当时|后来|什么|多少|现在|目前|如今|如何|怎么|怎样|是否"
    r"|哪(?:一)?[个条座家所位种项本部只]?|以前|曾经|之前|以后|现任|哪[里儿年]|位于|建?得?(?:更|最|较)[早晚大小高长多少]"
    r"|多[高长大远深宽重久]|有没有|一共|总共|[\W_]+|\d+年?"
)


def _segments(text: str) -> list[str]:
    """Pieces of Chinese text between particles, question words and longer vocabulary words."""
    text = _CHINESE_STOP.sub("|", text)
    for match in reversed([m for m in vocabulary().chinese.finditer(text) if len(m.group()) > 1]):
        start, end = match.span()
        before = text[start - 1] if start else "|"
        ends_name = kind_of(match.group()) in ("place", "organisation", "thing", "work")  # it may end a name
        replacement = f"{match.group()}|" if ends_name and before != "|" and before not in PARTICLES else "|"
        text = text[:start] + replacement + text[end:]
    return [part for part in re.split(rf"\||{PARTICLES_PATTERN}", text) if part]


def _words(text: str, names: tuple[str, ...]) -> list[str]:
    """The words of a question that matter and are not part of a name."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, " ⟦ ")
    if not is_chinese(text):
        tokens = (t.text for t in analyse(text).tokens if len(t.text) > 1)
        return [word for word in tokens if word.lower() not in FUNCTION_WORDS | PREPOSITIONS]
    text = _CHINESE_STOP.sub(" ", text)
    known = [match.group() for match in vocabulary().chinese.finditer(text)]
    rest = vocabulary().chinese.sub(" ", text)
    return [*known, *(t.text for t in analyse(rest).tokens if len(t.text) > 1)]


_AUXILIARIES, _AFTERTHOUGHTS = listed("auxiliaries"), listed("afterthoughts")
_TAGS = {"the": "t", "a": "i", "an": "i", "that": "h", "which": "h", "who": "h", ",": "c", ";": "c", ":": "c", "?": "c"}
_TAGS |= dict.fromkeys(("its", "their", "his", "her"), "o") | dict.fromkeys(("where", "whose", "when", "whom"), "w")
_PARTICIPLE = re.compile(r"(?:ed|ing|wn|en|ought|aught|ept|elt|uilt|ade|eld|et|un|ung|old|ent)$")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,;:?]")
_DESCRIPTION = re.compile(
    r"(?P<head>[kns][knsdv]{0,4}?)"
    r"(?:(?:w|p[wh]|h(?=[Nt]))[^Nc]*(?:N(?:pN)*[kn]*[xf]*(?:[tio][knsv]*|[knsv](?:o[knsv]+)?)?)?"  # its subject first
    r"|[hv][^Nc]*(?:N(?:pN)*[kn]*)?"
    r"|(?<=k)p[^Nxc]*(?:N(?:pN)*[kn]*)?)"
    r"(?:p[Nd]|p(?=c|$))?"
)
"""A noun with a clause or preposition, up to a verb outside it, as tags of words (see `_tag_words`)."""

_ASKED_ITSELF = re.compile(
    r"(?:(?:who|what|which)(?:'s| is| are| was| were| has been)?(?: currently| now)?|name)?|.*\bwhich of"
)


@dataclass(frozen=True)
class Description:
    """A description in a question: its position in `rewritten(question)`, and what it asks."""

    start: int
    end: int
    ask: Ask


def rewritten(question: str) -> str:
    """The question with possessives as "the ... of"; the positions of `description` refer to this text."""
    text = tidy(question)
    if is_chinese(text):
        return text
    for span in reversed(name_spans(text)):
        stop, chain = span.end, ""
        while possessive := re.match(r"['’]s?((?:\s+[a-z][\w-]*)+)", text[stop:]):
            nouns = _nouns(possessive[1].split())
            if not nouns:
                break
            chain = f"the {' '.join(nouns)} of {chain}"
            stop += re.match(r"\W*s?\s*" + r"\s+".join(nouns), text[stop:]).end()  # type: ignore[union-attr]
        if chain:
            article = re.search(r"\b(?:the|an?)\s+$", text[: span.start], re.IGNORECASE)
            start = article.start() if article else span.start
            text = f"{text[:start]}{chain}{'the ' if article else ''}{span.text}{text[stop:]}"
    return text


def _nouns(words: list[str]) -> list[str]:
    """The words for what is owned, up to a function word or a verb."""
    for n, word in enumerate(words):
        is_verb = n and "NOUN" in parts_of_speech(words[n - 1]) and "NOUN" not in (parts_of_speech(word) or ("NOUN",))
        if is_verb or word in FUNCTION_WORDS | PREPOSITIONS:
            return words[:n]
    return words


def description(question: str) -> Description | None:
    """The innermost description; None if the question has none."""
    text = rewritten(question)
    if is_chinese(text):
        return _chinese_description(text)
    tags, places = _tag_words(text)
    for i in range(len(tags) - 2, -1, -1):
        match = _DESCRIPTION.match(tags, i + 1) if tags[i] in "tio" else None
        is_definite = match and (tags[i] != "i" or tags[match.end("head")] in "wh")
        if match and is_definite and (found := _description(text, tags, places, match)):
            return found
    return None


def _tag_words(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A tag for each word, and its position.

    N: name, d: number, t, i, o: "the", "a", "its", p: preposition, h: "that", w: "where", x: auxiliary, f: other
    function word, c: punctuation, v: participle that opens a clause, k: noun of a known kind, n: other noun,
    s: other word.
    """
    names = {(span.start, span.end): "N" for span in name_spans(text)}
    name_positions = {i for a, b in names for i in range(a, b)}
    words = [m for m in _WORD.finditer(text) if m.start() not in name_positions]
    places = sorted([*names, *(m.span() for m in words)])
    tags = ""
    for place, next_place in zip(places, [*places[1:], (0, 0)], strict=False):
        word, following = (text[a:b].lower() for a, b in (place, next_place))
        has_object = word.endswith("ing") and (next_place in names or following in ("the", "a"))
        opens_clause = has_object or following in PREPOSITIONS - {"of"}
        if place in names or word in _TAGS:
            tags += names.get(place) or _TAGS[word]
        elif word in PREPOSITIONS | _AUXILIARIES:
            tags += "p" if word in PREPOSITIONS else "x"
        elif word in FUNCTION_WORDS - {"current", "latest", "newest", "recent"} or word.isdigit():
            tags += "d" if word.isdigit() else "f"
        elif opens_clause and _PARTICIPLE.search(word) and (word.endswith(("ed", "ing")) or not kind_of(word)):
            tags += "v"
        else:
            is_noun = (parts_of_speech(word) or {"NOUN"}) & {"NOUN", "VERB", "ADV"} == {"NOUN"}
            tags += "k" if kind_of(word) in THINGS else "n" if is_noun else "s"
    return tags, places


def _description(text: str, tags: str, places: list[tuple[int, int]], match: re.Match[str]) -> Description | None:
    """The description that matched, unless it says nothing or is what the question itself asks for."""
    start, link, end = match.start(), match.end("head"), match.end()
    content = [n for n in range(link + 1, end) if tags[n] == "N" or places[n][1] - places[n][0] > 3]
    before = text[: places[start - 1][0]].strip().lower()
    rest = {text[a:b].lower() for a, b in places[end:]} - _AFTERTHOUGHTS
    if not content or before.endswith("which of") or (not rest and _ASKED_ITSELF.fullmatch(before)):
        return None
    noun = text[slice(*places[link - 1])].lower()
    kind = kind_of(noun)
    ask = parse("Which " + text[places[start][0] : places[end - 1][1]])
    ask = replace(ask, kind=kind or "name", head=noun, units="", current=ask.current or kind == "person")
    return Description(places[start - 1][0], places[end - 1][1], ask)


_CHINESE_OF = re.compile(r"(?P<of>[^，。？、,?]{2,40}?)的(?P<head>[^，。？、,?的是]{1,6})")
_ASKED_IN_CHINESE = re.compile(r"(?:是|叫|为|在)?(?:谁|什么|哪里|哪.{0,4}|什么名字|何人|何处)(?:呢|啊)?")


def _chinese_description(text: str) -> Description | None:
    """The first link of a chain "X的A的B": what "X的A" refers to, if something is asked about it."""
    for match in _CHINESE_OF.finditer(text):
        first = re.split(r"[有多少几哪什谁，]|" + PARTICLES_PATTERN, match["head"])[0]
        noun = next((first[:n] for n in range(len(first), 0, -1) if kind_of(first[:n])), "")
        end = match.start("head") + len(noun)
        kind, rest = kind_of(noun), re.sub(r"[？?。\s]", "", text[end:])
        is_asked = _ASKED_IN_CHINESE.fullmatch(rest) or re.search(r"哪|谁|什么", match["of"])
        if kind not in ("", "number", "time") and not is_asked:
            ask = parse(text[match.start() : end])
            ask = replace(ask, kind=kind, head=noun, units="", current=ask.current or kind == "person")
            return Description(match.start(), end, ask)
    return None
