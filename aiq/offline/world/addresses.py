"""Where a page stands, and which page says how a fact stands today."""

from datetime import date, timedelta

from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import CLOCK, Dated, Entity, Fact, World

ATLAS = "https://atlas.offline.example"
ALMANAC = "https://almanac.offline.example"
YEARBOOK = "https://yearbook.offline.example"
NEWS = "https://news.offline.example"
ESTIMATES = "https://estimates.offline.example"


def entry_url(entity: Entity) -> str:
    """The entity's own page."""
    return f"{ALMANAC if entity.kind == 'scene' else ATLAS}/{entity.id}"


def missed(world: World, held: Dated, subject: Entity) -> bool:
    """Whether the change came after the subject's own page was written."""
    return held.since > world.page_dates[subject.id]


def news_day(world: World, fact: Fact, held: Dated) -> date:
    """The day of the article about a change: one to six days after it."""
    delay = Draw(world.seed, "news", fact.subject.id, fact.relation, held.since).between(1, 6)
    return min(held.since + timedelta(days=delay), CLOCK - timedelta(days=1))


def news_url(world: World, fact: Fact, held: Dated) -> str:
    day = news_day(world, fact, held)
    slug = f"{fact.subject.id}-{fact.relation}".replace("_", "-")
    return f"{NEWS}/{day.year}/{day.month:02d}/{slug}"


def source_url(world: World, fact: Fact) -> str:
    """The page that says how the fact stands today: the subject's own, or the news where that is too old."""
    newest = fact.history[-1]
    return news_url(world, fact, newest) if missed(world, newest, fact.subject) else entry_url(fact.subject)
