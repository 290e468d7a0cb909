"""The words the world is furnished with: landscapes, industries, kinds of institute, festival and club, months."""

from dataclasses import dataclass

from aiq.offline.world.names import Name


@dataclass(frozen=True, slots=True)
class Landscape:
    name: Name
    preposition: str


@dataclass(frozen=True, slots=True)
class Industry:
    name: Name
    suffixes: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class FestivalKind:
    """`person`: the key of `ROLES` that its winners have; `winner`: what they win it with."""

    name: Name
    person: str
    winner: Name


def _names(text: str) -> tuple[Name, ...]:
    """`Works/工业公司, Rail/铁路公司` as names."""
    return tuple(Name(*(part.strip() for part in pair.split("/"))) for pair in text.split(","))


LANDSCAPES = tuple(
    Landscape(Name(en, zh), preposition)
    for en, zh, preposition in (
        ("Coast", "海岸", "on"),
        ("Valley", "河谷", "in"),
        ("Highlands", "高地", "in"),
        ("Basin", "盆地", "in"),
        ("Islands", "群岛", "on"),
        ("Delta", "三角洲", "in"),
        ("Peninsula", "半岛", "on"),
        ("Plain", "平原", "on"),
    )
)

INDUSTRIES = tuple(
    Industry(Name(en, zh), _names(suffixes))
    for en, zh, suffixes in (
        ("tidal energy", "潮汐能产业", "Works/工业公司, Marine/海洋公司, Power/电力公司, Turbines/涡轮公司"),
        ("railway engineering", "铁路工程业", "Works/工业公司, Rail/铁路公司, Carriage/客车公司, Signals/信号公司"),
        ("precision optics", "精密光学业", "Optics/光学公司, Instruments/仪器公司, Works/工业公司, Lens/镜片公司"),
        ("seed breeding", "种子培育业", "Seeds/种子公司, Farms/农业公司, Growers/种植公司, Botanics/植物公司"),
        ("boat building", "造船业", "Marine/海洋公司, Yards/船厂, Hulls/船体公司, Works/工业公司"),
        ("ceramics", "陶瓷业", "Ceramics/陶瓷公司, Kilns/窑业公司, Works/工业公司, Glazes/釉料公司"),
        ("battery recycling", "电池回收业", "Cells/电池公司, Recovery/回收公司, Power/电力公司, Works/工业公司"),
        ("textile machinery", "纺织机械业", "Looms/织机公司, Textiles/纺织公司, Works/工业公司, Mills/磨坊公司"),
        ("geothermal heating", "地热供暖业", "Heat/热力公司, Wells/钻井公司, Power/电力公司, Works/工业公司"),
        (
            "satellite ground stations",
            "卫星地面站业",
            "Systems/系统公司, Signals/信号公司, Orbit/轨道公司, Works/工业公司",
        ),
        ("food canning", "罐头食品业", "Foods/食品公司, Cannery/罐头公司, Farms/农业公司, Provisions/食材公司"),
        ("medical imaging", "医学影像业", "Imaging/影像公司, Instruments/仪器公司, Systems/系统公司, Medical/医疗公司"),
    )
)

INSTITUTES = _names("Institute/学院, Polytechnic/理工学院, University/大学, Academy/研究院, College/书院")
CLUBS = _names("Rovers/流浪者队, Athletic/竞技队, United/联队, Wanderers/漫游者队, Albion/阿尔比恩队")

FESTIVALS = (
    FestivalKind(Name("Lantern Festival", "灯笼节"), "artist", Name("lantern design", "灯笼设计")),
    FestivalKind(Name("Song Contest", "歌唱大赛"), "singer", Name("song", "歌曲")),
    FestivalKind(Name("Chess Open", "国际象棋公开赛"), "chess", Name("chess", "国际象棋")),
    FestivalKind(Name("Film Festival", "电影节"), "filmmaker", Name("film", "电影")),
    FestivalKind(Name("Poetry Festival", "诗歌节"), "poet", Name("poem", "诗歌")),
    FestivalKind(Name("Regatta", "帆船赛"), "sailor", Name("sailing", "帆船")),
)

ROLES = {
    "founder": Name("engineer and entrepreneur", "工程师和企业家"),
    "manager": Name("business executive", "企业高管"),
    "politician": Name("politician", "政治人物"),
    "scientist": Name("scientist", "科学家"),
    "coach": Name("football coach", "足球教练"),
    "novelist": Name("novelist", "小说家"),
    "artist": Name("visual artist", "视觉艺术家"),
    "singer": Name("singer", "歌手"),
    "chess": Name("chess player", "国际象棋棋手"),
    "filmmaker": Name("film director", "电影导演"),
    "poet": Name("poet", "诗人"),
    "sailor": Name("sailor", "帆船运动员"),
}

SCENES = {
    "sector": Name("industry", "产业"),
    "learning": Name("higher education", "高等教育"),
    "letters": Name("literature", "文学"),
    "culture": Name("festivals and sport", "节庆与体育"),
}

_ENGLISH_MONTHS = "January/February/March/April/May/June/July/August/September/October/November/December"

MONTHS = tuple(Name(en, f"{number}月") for number, en in enumerate(_ENGLISH_MONTHS.split("/"), start=1))
