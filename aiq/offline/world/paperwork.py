"""What the world's documents say, page by page: title, prose that does not help, and each fact on a page of its own."""

from collections.abc import Iterator
from dataclasses import dataclass

from aiq.offline.world.archive import Archive
from aiq.offline.world.draw import Draw
from aiq.offline.world.entities import Entity, Value
from aiq.offline.world.pdf import pdf


@dataclass(frozen=True, slots=True)
class PaperDocument:
    """A document before it is a PDF; `pages` hold paragraphs. `about`: whose facts it states."""

    file_name: str
    title: str
    about: Entity
    pages: tuple[tuple[str, ...], ...]

    def as_pdf(self) -> bytes:
        return pdf(self.title, self.pages)


_REPORT_FILLERS = (
    "The board met eleven times. It thanks all members of staff for their patience during the repair of the main hall.",
    "The price of power rose until May and then fell. Long contracts with two suppliers kept the effect small.",
    "The yearly report on the use of water is published apart from this one and can be had from the office.",
    "Sick leave stayed at the level of the year before. Nine apprentices passed their examination.",
    "No event after the end of the business year is known that would change what is said here.",
    "Risks are reviewed twice a year. The most important are the supply of spare parts and the loss of experience.",
    "The general meeting was held in the old workshop. The board's proposals were accepted with few votes against.",
    "The canteen was rebuilt. The archive of drawings was copied and is now kept in two places.",
)
_MINUTES_FILLERS = (
    "The chair opened the meeting at six in the evening and found that a quorum was present.",
    "The minutes of the meeting before were approved without changes.",
    "A letter from the rowing club about the landing stage was passed on to the committee for the harbour.",
    "The council heard a report on the trees in the old quarter. Forty limes will be planted in the autumn.",
    "Questions from the public concerned the tram's timetable, the noise of the market and the lamps on the quay.",
    "The item on the swimming hall was put off to the next meeting because a drawing was missing.",
    "The committee for schools reported that two classrooms have been repaired.",
    "There being no other business, the chair closed the meeting shortly before nine.",
)


def render_documents(archive: Archive) -> list[PaperDocument]:
    """All documents by file name."""
    found = [*_reports(archive), *_minutes(archive)]
    return sorted(found, key=lambda document: document.file_name)


def _reports(archive: Archive) -> Iterator[PaperDocument]:
    for company in archive.companies:
        draw = Draw(archive.world.seed, "report text", company.id)
        name = company.name.en
        before, now = _values(archive, company, "turnover")
        (auditor,), (plant,) = _values(archive, company, "auditor"), _values(archive, company, "plant")
        (partner,) = _values(archive, company, "partner")
        fillers = draw.shuffled(_REPORT_FILLERS)
        pages = (
            (
                f"{name}: Annual Report 2025",
                f"This report of {name} covers the business year 2025. It tells of turnover, of the new plant, of "
                "research and of the audit.",
                fillers[0],
            ),
            (
                "The year in figures",
                f"In 2025, the turnover of {name} was {now} crowns, after {before} crowns in 2024.",
                *fillers[1:3],
            ),
            (
                "Buildings",
                draw.pick(
                    (
                        f"{name} is building its new plant in {plant}. It is to open in 2028.",
                        f"The new plant of {name} is being built in {plant} and is to open in 2028.",
                    )
                ),
                *fillers[3:5],
            ),
            (
                "Research",
                draw.pick(
                    (
                        f"The research partner of {name} is {partner}.",
                        f"Since 2024, {partner} has been the research partner of {name}.",
                    )
                ),
                *fillers[5:7],
            ),
            ("Audit", f"The auditor of {name} is {auditor}. The accounts were found to be in order.", fillers[7]),
        )
        title = f"{name}: Annual Report 2025"
        yield PaperDocument(f"{company.id}-annual-report-2025.pdf", title, company, _numbered(title, pages))


def _minutes(archive: Archive) -> Iterator[PaperDocument]:
    for city in archive.cities:
        draw = Draw(archive.world.seed, "minutes text", city.id)
        name = city.name.en
        before, now = _values(archive, city, "budget")
        former, treasurer = _values(archive, city, "treasurer")
        fillers = draw.shuffled(_MINUTES_FILLERS[1:-1])
        title = f"City Council of {name}: Minutes of September 2026"
        pages = (
            (
                title,
                f"These minutes of the city council of {name} record the budget for 2027 and the election of the "
                "treasurer.",
                _MINUTES_FILLERS[0],
                fillers[0],
            ),
            (
                "Item 3: Budget",
                f"The council set the budget of {name} for 2027 at {now} crowns. The budget for 2026 had been "
                f"{before} crowns.",
                *fillers[1:3],
            ),
            (
                "Item 4: Elections",
                f"The treasurer of {name} is {treasurer}, elected in September 2026, succeeding {former}.",
                *fillers[3:5],
            ),
            ("Item 5: Other business", fillers[5], _MINUTES_FILLERS[-1]),
        )
        yield PaperDocument(f"{city.id}-council-minutes-2026-09.pdf", title, city, _numbered(title, pages))


def _values(archive: Archive, subject: Entity, relation: str) -> tuple[str, ...]:
    return tuple(_text(held.value) for held in archive.fact(subject, relation).history)


def _text(value: Value) -> str:
    return str(value) if isinstance(value, int) else value.name.en if isinstance(value, Entity) else value.en


def _numbered(title: str, pages: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """With a line at each page's foot that names document and page."""
    return tuple((*page, f"{title} - page {number} of {len(pages)}") for number, page in enumerate(pages, start=1))
