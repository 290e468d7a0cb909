"""The world's Chinese."""

from aiq.offline.world.prose.base import Prose
from aiq.offline.world.vocabulary import MONTHS

_STATED = {
    ("company", "headquarters"): ("{s}的总部位于{v}。", "{s}总部设在{v}，大部分办公室也在那里。"),
    ("company", "founder"): ("{s}由{v}创办。", "{s}的创始人是{v}，此前经营一家小作坊。", "{s}的前身是{v}开办的作坊。"),
    ("company", "founded"): ("{s}成立于{v}年。", "{s}于{v}年创立并开始营业。"),
    ("company", "chief_executive"): (
        "截至{date}，{s}的首席执行官是{v}，自{since}起任职。",
        "自{since}起，{v}担任{s}的首席执行官。",
        "{v}于{since}开始执掌{s}。",
    ),
    ("company", "employees"): (
        "截至{date}，{s}共有员工{v}人。",
        "{date}，{s}的员工人数为{v}人。",
        "{date}，约有{v}人在{s}领取工资。",
    ),
    ("person", "born_in"): ("{s}出生于{v}。", "{s}在{v}出生并长大。", "{s}的出生地是{v}。"),
    ("person", "birth_year"): ("{s}生于{v}年。", "{s}的出生年份是{v}年。"),
    ("person", "studied_at"): ("{s}曾就读于{v}。", "{s}毕业于{v}，并在那里取得学位。", "{s}拥有{v}的学位。"),
    ("city", "country"): ("{s}位于{v}境内。", "{s}是{v}的一座城市。"),
    ("city", "mayor"): (
        "截至{date}，{s}市长是{v}。",
        "自{since}起，{v}担任{s}市长。",
        "{since}以来，{s}市政厅由{v}领导。",
    ),
    ("city", "population"): (
        "截至{date}，{s}的人口为{v}人。",
        "{date}的统计显示，{s}有居民{v}人。",
        "{date}，约有{v}人居住在{s}。",
    ),
    ("city", "founded"): ("{s}始建于{v}年。", "{s}于{v}年作为集市建立。"),
    ("city", "river"): ("{v}河流经{s}。", "{s}坐落在{v}河畔，河水穿过老城区。"),
    ("institute", "city"): ("{s}位于{v}。", "{s}的校园在{v}。", "学生们来到{v}，在{s}求学。"),
    ("institute", "director"): (
        "截至{date}，{s}院长是{v}。",
        "自{since}起，{v}担任{s}院长。",
        "{v}于{since}受命领导{s}。",
    ),
    ("institute", "founded"): ("{s}成立于{v}年。", "{s}创办于{v}年。"),
    ("festival", "city"): ("{s}在{v}举办。", "{s}的举办城市是{v}。", "每年，{v}都是{s}的东道主。"),
    ("festival", "winner"): ("{since}举行的{s}由{v}获胜。", "{v}在{since}的{s}中夺冠。"),
    ("festival", "month"): ("{s}每年{v}举行。", "每年{v}，{s}让街道热闹起来。"),
    ("club", "city"): ("{s}的主场城市是{v}。", "{s}是来自{v}的足球俱乐部。"),
    ("club", "coach"): (
        "截至{date}，{s}的主教练是{v}。",
        "自{since}起，{v}担任{s}的主教练。",
        "{since}以来，{s}一线队由{v}执教。",
    ),
    ("club", "stadium"): ("{s}的主场是{v}。", "{s}在{v}进行主场比赛。"),
    ("book", "author"): ("{s}的作者是{v}。", "{s}由{v}创作。", "{v}用两个冬天写成了{s}。"),
    ("book", "published"): ("{s}出版于{v}年。", "{s}的初版于{v}年面世。"),
    ("scene", "begun"): ("{s}始于{v}年。", "{s}的起点可以追溯到{v}年。"),
    ("scene", "turned"): ("{v}年的一部新法律彻底改变了{s}。", "{v}年的改革彻底改变了{s}。"),
    ("scene", "volume"): ("截至{date}，{s}的从业人员为{v}人。", "{date}，{s}提供了{v}个工作岗位。"),
}

_YEARBOOK = {
    ("company", "headquarters"): ("{s}的总部位于哪座城市？{s}的总部位于{v}（{year}年）。",),
    ("company", "chief_executive"): ("{s}的首席执行官是谁？{s}的首席执行官是{v}（{date}）。",),
    ("company", "employees"): ("{s}有多少员工？{s}共有员工{v}人（{date}）。",),
    ("city", "mayor"): ("{s}市长是谁？{s}市长是{v}（{date}）。",),
    ("city", "population"): ("{s}的人口是多少？{s}的人口为{v}人（{date}）。",),
    ("institute", "director"): ("{s}院长是谁？{s}院长是{v}（{date}）。",),
    ("festival", "winner"): ("{s}的最新获胜者是谁？{s}的最新获胜者是{v}（{since}）。",),
    ("club", "coach"): ("{s}的主教练是谁？{s}的主教练是{v}（{date}）。",),
    ("scene", "volume"): ("截至{date}，{s}的从业人员为{v}人。",),
}

_NEWS = {
    ("company", "headquarters"): (("{s}启用新总部", "{day}，{s}的总部从{before}迁至{v}。"),),
    ("company", "chief_executive"): (("{s}任命{v}", "{day}，{v}接替{before}出任{s}的首席执行官。"),),
    ("company", "employees"): (("{s}公布员工人数", "截至{day}，{s}共有员工{v}人，上一次统计为{before}人。"),),
    ("city", "mayor"): (("{v}就任{s}市长", "{day}，{v}接替{before}就任{s}市长。"),),
    ("city", "population"): (("{s}人口统计公布", "截至{day}，{s}的人口为{v}人，上一次统计为{before}人。"),),
    ("institute", "director"): (("{s}迎来新院长", "{day}，{v}接替{before}出任{s}院长。"),),
    ("festival", "winner"): (("{v}赢得{s}", "{day}，{v}赢得{s}；上一届的获胜者是{before}。"),),
    ("club", "coach"): (("{s}聘请{v}", "{day}，{v}接替{before}出任{s}的主教练。"),),
    ("scene", "volume"): (("就业人数统计", "截至{day}，{s}的从业人员为{v}人，上一次统计为{before}人。"),),
}

_OPENINGS = {
    "company": ("{s}（{en}）是{place}一家从事{industry}的公司。", "{s}（{en}）是{place}{industry}的一家供应商。"),
    "person": ("{s}（{en}）是一位{role}。", "{s}（{en}）以{role}的身份为人所知。"),
    "city": ("{s}（{en}）是{region}的一座城市。", "{s}（{en}）是{region}的城市之一。"),
    "institute": ("{s}（{en}）是{place}一所高等院校。", "{s}（{en}）是{place}一所从事教学与研究的高等院校。"),
    "festival": ("{s}（{en}）是{place}一年一度的节庆，设有{prize}奖。",),
    "club": ("{s}（{en}）是{place}一家足球俱乐部。",),
    "book": ("{s}（{en}）是一部长篇小说。", "{s}（{en}）是一部分为三卷的长篇小说。"),
}

_FILLERS = {
    "company": (
        "{t}通过经销商销售产品，也直接供应公共机构。",
        "每月第一个星期日，参观者可以走进{t}的旧车间。",
        "{t}每年发布一份用水和用电报告。",
        "{t}开办了自己的学徒学校。",
        "{t}标志上的蓝色山墙来自它的第一座厂房。",
    ),
    "person": (
        "{t}收藏地图，也演奏大提琴。",
        "接受采访时，{t}喜欢谈论耐心和好工具。",
        "{t}曾在多个国家讲学。",
        "市政厅里挂着{t}的肖像。",
        "朋友们形容{t}沉着、严谨，喜欢长途散步。",
    ),
    "city": (
        "{t}以有顶市场和有轨电车闻名。",
        "{t}的老城区用浅色石头建成。",
        "一条缆索铁路连接{t}的两半城区。",
        "{t}保存着该地区最古老的植物园之一。",
    ),
    "institute": (
        "{t}设有四个学院和一座夜间开放的图书馆。",
        "{t}的学生经营着一家电台和一个赛艇俱乐部。",
        "{t}以测绘专业闻名。",
        "天气晴朗的晚上可以参观{t}的天文台。",
    ),
    "festival": ("{t}起源于行会集市。", "{t}的门票在电车站出售。", "{t}以烛光游行结束。"),
    "club": ("{t}的队服是绿白两色。", "{t}的青年队在河边草地训练。", "{t}多次赢得地区杯。"),
    "book": (
        "{t}讲述一对经营渡船的姐妹。",
        "评论家称赞{t}的文字缓慢而精确。",
        "{t}已被译成十一种语言。",
        "{t}的故事发生在一座从未点名的港口。",
    ),
    "scene": (
        "观察者预计{t}会继续增长，但也提醒成本正在上升。",
        "熟悉{t}的人常说，学徒期很长，冬天很短。",
        "{t}的资金来自收费、地方财政和两家基金会。",
    ),
}

_SHORT = {
    "company": "该公司",
    "city": "该市",
    "institute": "该校",
    "festival": "该活动",
    "club": "该俱乐部",
    "book": "该书",
    "scene": "该领域",
}

_ASIDES = ("对此看法不一。", "详细资料保存在地区档案馆。", "更完整的介绍正在编写中。", "读者可以向编辑部提出更正。")

PROSE = Prose(
    language="zh",
    openings=_OPENINGS,
    stated=_STATED,
    yearbook=_YEARBOOK,
    news=_NEWS,
    fillers=_FILLERS,
    belongs="谈到{scene}时，人们常会提起{s}。",
    unchanged={("company", "headquarters"): "{s}自成立以来从未迁移过总部。"},
    short=_SHORT,
    asides=_ASIDES,
    footer="页面更新于{iso}。",
    dateline="发布于{iso}。",
    space="",
    months=tuple(month.zh for month in MONTHS),
)
