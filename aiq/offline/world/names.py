"""Invented names: pronounceable in English, with a Chinese transliteration, each given out only once.

Companies, institutes and festivals share stems on purpose ("Halden Works", "Halden Institute"), so that
a search for one also finds the other.
"""

import re
from dataclasses import dataclass

from aiq.offline.world.draw import Draw


def _sounds(text: str) -> tuple[tuple[str, str], ...]:
    """`hal/哈尔 vel/韦尔` as pairs of spelling and transliteration."""
    return tuple((en, zh) for en, zh in (pair.split("/") for pair in text.split()))


_FIRST = _sounds(
    "hal/哈尔 vel/韦尔 tes/泰斯 or/奥尔 kes/凯斯 il/伊尔 mar/马尔 bren/布伦 cor/科尔 dan/丹 el/埃尔 fen/芬 gor/戈尔 "
    "har/哈 ist/伊斯特 jor/约尔 kal/卡尔 lin/林 mor/莫尔 nar/纳尔 ol/奥尔 pel/佩尔 quin/昆 ros/罗斯 sel/塞尔 tal/塔尔 "
    "ul/乌尔 var/瓦尔 wes/韦斯 yar/亚尔 zan/赞 ash/阿什 bal/巴尔 cal/卡尔 der/德尔 er/埃尔 fal/法尔 gal/加尔 hol/霍尔 "
    "in/因 jes/杰斯 kor/科尔 lor/洛尔 mel/梅尔 nev/内夫 os/奥斯 par/帕尔 ran/兰 sor/索尔 tor/托尔 ver/维尔 wil/威尔 "
    "tren/特伦 stel/斯特尔 bran/布兰 crel/克雷尔 dros/德罗斯 gren/格伦 kren/克伦 thal/萨尔"
)
_MIDDLE = _sounds(
    "a/阿 e/埃 i/伊 o/奥 la/拉 le/莱 li/利 lo/洛 ma/马 me/梅 mi/米 na/纳 ne/内 ni/尼 ra/拉 re/雷 ri/里 ro/罗 "
    "sa/萨 se/塞 ta/塔 te/特 ti/蒂 va/瓦 ve/维 vi/维 do/多 da/达 ka/卡 go/戈"
)
_LAST = _sounds(
    "den/登 mora/莫拉 mark/马克 lune/伦 tral/特拉尔 vey/维 wick/威克 ton/顿 dale/代尔 ford/福德 holm/霍尔姆 berg/贝里 "
    "stad/斯塔德 mere/米尔 wyn/温 nard/纳德 leth/莱思 mond/蒙德 rick/里克 sby/斯比 thorn/索恩 vane/瓦恩 quist/奎斯特 "
    "gard/加德 lin/林 nor/诺尔 pole/波尔 rane/兰恩 sen/森 tova/托瓦 vik/维克 dor/多尔 fell/费尔 gate/盖特 heim/海姆 "
    "kirk/柯克 land/兰 minster/明斯特 nes/内斯 ridge/里奇 shaw/肖 vale/韦尔 wold/沃尔德 bury/伯里 combe/库姆 drin/德林 "
    "ena/埃纳 issa/伊萨 otti/奥蒂 una/乌娜 aro/阿罗 essa/埃萨 iko/伊科 andra/安德拉"
)


@dataclass(frozen=True, slots=True)
class Name:
    """What something is called in English and in Chinese."""

    en: str
    zh: str

    def text(self, language: str) -> str:
        return self.zh if language == "zh" else self.en


def _names(text: str) -> tuple[Name, ...]:
    return tuple(Name(en, zh) for en, zh in _sounds(text))


class Names:
    """Gives out names; no two are equal in either language."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._used: set[str] = set()
        self._brands: list[tuple[Name, int]] = []
        self._given: list[Name] = []

    def stem(self, syllables: int = 2) -> Name:
        """A new word such as `Halden`; it grows by a syllable where the short ones are used up."""
        for attempt in range(10_000):
            name = self._word(syllables + (attempt > 60) + self._draw.chance(25))
            if self._take(name):
                return name
        raise AssertionError("names ran out")

    def person(self) -> Name:
        """Given name and surname; given names repeat among people, surnames do not."""
        if len(self._given) < 60 or self._draw.chance(15):
            self._given.append(self.stem())
        given, family = self._draw.pick(self._given), self.stem()
        return Name(f"{given.en} {family.en}", f"{given.zh}·{family.zh}")

    def brand(self, suffixes: tuple[Name, ...], place: int) -> Name:
        """A stem with one of the suffixes; half of the time the stem is in use in another place already."""
        for _ in range(20):
            stem, home = self._draw.pick(self._brands) if self._brands and self._draw.chance(50) else (None, place)
            if stem is None:
                stem = self.stem()
                self._brands.append((stem, place))
            elif home == place:
                continue
            suffix = self._draw.pick(suffixes)
            name = Name(f"{stem.en} {suffix.en}", f"{stem.zh}{suffix.zh}")
            if self._take(name):
                return name
        return self._joined(self.stem(3), self._draw.pick(suffixes))

    def _joined(self, stem: Name, suffix: Name) -> Name:
        name = Name(f"{stem.en} {suffix.en}", f"{stem.zh}{suffix.zh}")
        self._take(name)
        return name

    def title(self) -> Name:
        """A book's title such as `The Glass Meridian`."""
        for _ in range(30):
            quality, thing = self._draw.pick(_QUALITIES), self._draw.pick(_THINGS)
            name = Name(f"The {quality.en} {thing.en}", f"《{quality.zh}{thing.zh}》")
            if self._take(name):
                return name
        place = self.stem()
        thing = self._draw.pick(_THINGS)
        name = Name(f"The {thing.en} of {place.en}", f"《{place.zh}的{thing.zh}》")
        self._take(name)
        return name

    def _word(self, syllables: int) -> Name:
        draw = self._draw
        sounds = [draw.pick(_FIRST), *(draw.pick(_MIDDLE) for _ in range(syllables - 2)), draw.pick(_LAST)]
        english = "".join(en for en, _ in sounds)
        return Name(re.sub(r"(.)\1\1+", r"\1\1", english).capitalize(), "".join(zh for _, zh in sounds))

    def _take(self, name: Name) -> bool:
        if name.en in self._used or name.zh in self._used or name.en in _REAL:
            return False
        self._used.update((name.en, name.zh))
        return True


_REAL = frozenset({"Holland", "Marlin", "Mordor", "Harford", "Stockholm"})
"""Real or famous names that the syllables could happen to form."""

_QUALITIES = _names(
    "Glass/玻璃 Silent/寂静 Copper/铜色 Winter/冬日 Hollow/空心 Paper/纸上 Amber/琥珀 Distant/远方 Broken/破碎 Salt/盐 "
    "Crimson/绯红 Patient/耐心 Northern/北方 Drowned/沉没 Second/第二 Borrowed/借来的 Iron/铁 Wandering/流浪 "
    "Pale/苍白 Burning/燃烧 Quiet/安静 Lost/失落 Velvet/天鹅绒 "
    "Midnight/午夜 Stone/石头 Golden/金色 Frozen/冰封 Hidden/隐秘"
)
_THINGS = _names(
    "Meridian/子午线 Orchard/果园 Lighthouse/灯塔 Archive/档案 Ferry/渡船 Mirror/镜子 Harvest/收获 Staircase/楼梯 "
    "Compass/罗盘 Garden/花园 Letter/书信 Bridge/桥 Cartographer/制图师 Tide/潮汐 Clock/钟 Harbour/港湾 "
    "Library/图书馆 Season/季节 Window/窗 Road/道路 Choir/合唱团 Mountain/山 Kitchen/厨房 Passenger/乘客 Island/岛 "
    "Theatre/剧院 Bell/铃"
)
