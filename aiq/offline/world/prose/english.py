"""The world's English."""

from aiq.offline.world.prose.base import Prose
from aiq.offline.world.vocabulary import MONTHS

_STATED = {
    ("company", "headquarters"): (
        "{s} is headquartered in {v}.",
        "The headquarters of {s} are in {v}, where most of its offices stand.",
        "{s} has its headquarters in {v}.",
        "The main offices of {s} stand in {v}.",
    ),
    ("company", "founder"): (
        "{s} was founded by {v}.",
        "The founder of {s} is {v}, who had led a small workshop before.",
        "It was {v} who founded {s} with three colleagues.",
        "{s} goes back to a workshop that {v} opened.",
    ),
    ("company", "founded"): (
        "{s} was founded in {v}.",
        "The founding of {s} dates to {v}.",
        "{s} began business in {v}, the year in which it was founded.",
        "{s} has been in business since {v}.",
    ),
    ("company", "chief_executive"): (
        "As of {date}, the chief executive of {s} is {v}, in office since {since}.",
        "{v} has been the chief executive of {s} since {since}.",
        "Since {since}, {s} has been led by {v} as chief executive.",
        "{v} took the helm of {s} in {since}.",
    ),
    ("company", "employees"): (
        "As of {date}, {s} employs {v} people.",
        "In {date}, {s} had {v} employees.",
        "The workforce of {s} stood at {v} people in {date}.",
        "Some {v} people were on the payroll of {s} in {date}.",
    ),
    ("person", "born_in"): (
        "{s} was born in {v}.",
        "{s} comes from {v}, the city of their birth.",
        "{s} was born and raised in {v}.",
        "The birthplace of {s} is {v}.",
    ),
    ("person", "birth_year"): ("{s} was born in {v}.", "The year of birth of {s} is {v}."),
    ("person", "studied_at"): (
        "{s} studied at {v}.",
        "After school, {s} studied at {v} and took a degree there.",
        "{s} is a graduate of {v}.",
        "{s} holds a degree from {v}.",
    ),
    ("city", "country"): ("{s} lies in {v}.", "{s} is a city in {v}.", "{s} belongs to {v}."),
    ("city", "mayor"): (
        "As of {date}, the mayor of {s} is {v}.",
        "{v} has been the mayor of {s} since {since}.",
        "Since {since}, the mayor of {s} has been {v}.",
        "The town hall of {s} has been led by {v} since {since}.",
    ),
    ("city", "population"): (
        "As of {date}, {s} has a population of {v}.",
        "The count of {date} gives {s} {v} inhabitants.",
        "{s} had {v} inhabitants in {date}.",
        "Some {v} people lived in {s} in {date}.",
    ),
    ("city", "founded"): (
        "{s} was founded in {v}.",
        "The city of {s} was founded in {v} as a market place.",
        "The founding charter of {s} dates from {v}.",
    ),
    ("city", "river"): (
        "The river {v} flows through {s}.",
        "{s} lies on the river {v}, which flows through its old quarter.",
    ),
    ("institute", "city"): (
        "{s} is located in {v}.",
        "The campus of {s} is in {v}.",
        "{s} has its buildings in {v}.",
        "Students come to {v} to attend {s}.",
    ),
    ("institute", "director"): (
        "As of {date}, the director of {s} is {v}.",
        "{v} has been the director of {s} since {since}.",
        "Since {since}, {s} has been headed by {v} as director.",
        "At the head of {s} stands {v}, appointed in {since}.",
    ),
    ("institute", "founded"): (
        "{s} was founded in {v}.",
        "The founding of {s} dates to {v}.",
        "{s} opened in {v}, the year in which it was founded.",
        "{s} took in its first students in {v}.",
    ),
    ("festival", "city"): (
        "{s} is held in {v}.",
        "The host city of {s} is {v}.",
        "{s} takes place in {v} every year.",
        "Every year, {v} is host to {s}.",
    ),
    ("festival", "winner"): (
        "The winner of the {edition} edition of {s} is {v}.",
        "{v} won {s} in {since}.",
        "In {since}, {s} was won by {v}.",
        "The prize of {s} went to {v} in {since}.",
    ),
    ("festival", "month"): ("{s} is held every {v}.", "Each {v}, {s} fills the streets.", "The month of {s} is {v}."),
    ("club", "city"): (
        "{s} plays in {v}.",
        "The home city of {s} is {v}.",
        "{s} is a football club from {v}.",
        "{v} is where {s} is at home.",
    ),
    ("club", "coach"): (
        "As of {date}, the head coach of {s} is {v}.",
        "{v} has been the head coach of {s} since {since}.",
        "Since {since}, {s} has been trained by {v} as head coach.",
        "{v} has trained the first team of {s} since {since}.",
    ),
    ("club", "stadium"): ("{s} plays its home matches at {v}.", "The home stadium of {s} is {v}."),
    ("book", "author"): (
        "{s} was written by {v}.",
        "The author of {s} is {v}.",
        "{s} is a novel by {v}.",
        "{v} wrote {s} in two winters.",
    ),
    ("book", "published"): (
        "{s} was published in {v}.",
        "The first edition of {s} appeared in {v}.",
        "{s} was first published in {v}.",
        "Readers first held {s} in their hands in {v}.",
    ),
    ("scene", "begun"): (
        "The history of {s} began in {v}.",
        "The beginnings of {s} date to {v}.",
    ),
    ("scene", "turned"): (
        "In {v}, a new law changed {s} for good.",
        "A reform of {v} changed {s} for good.",
    ),
    ("scene", "volume"): (
        "As of {date}, {v} people earn their living in {s}.",
        "In {date}, {s} gave work to {v} people.",
    ),
}

_YEARBOOK = {
    ("company", "headquarters"): ("In which city is {s} headquartered? {s} is headquartered in {v} ({year}).",),
    ("company", "chief_executive"): ("Who is the chief executive of {s}? The chief executive of {s} is {v} ({date}).",),
    ("company", "employees"): ("How many people work at {s}? {v} people work at {s} ({date}).",),
    ("city", "mayor"): ("Who is the mayor of {s}? The mayor of {s} is {v} ({date}).",),
    ("city", "population"): ("What is the population of {s}? The population of {s} is {v} ({date}).",),
    ("institute", "director"): ("Who is the director of {s}? The director of {s} is {v} ({date}).",),
    ("festival", "winner"): ("Who is the latest winner of {s}? The latest winner of {s} is {v} ({since}).",),
    ("club", "coach"): ("Who is the head coach of {s}? The head coach of {s} is {v} ({date}).",),
    ("scene", "volume"): ("As of {date}, {v} people earned their living in {s}.",),
}

_NEWS = {
    ("company", "headquarters"): (
        ("{s} opens new headquarters", "On {day}, {s} moved its headquarters from {before} to {v}."),
    ),
    ("company", "chief_executive"): (
        ("{s} appoints {v}", "On {day}, {v} became the chief executive of {s}, succeeding {before}."),
        ("Change at the top of {s}", "{v} took over from {before} as chief executive of {s} on {day}."),
    ),
    ("company", "employees"): (
        ("{s} counts its staff", "As of {day}, {s} employs {v} people, after {before} in the count before."),
        ("New staff figures for {s}", "{s} said on {day} that it now employs {v} people; it had been {before}."),
    ),
    ("city", "mayor"): (
        ("{v} takes office in {s}", "On {day}, {v} became the mayor of {s}, succeeding {before}."),
        ("{s} has a new mayor", "The new mayor of {s} is {v}, who took over from {before} on {day}."),
    ),
    ("city", "population"): (
        ("Census figures for {s}", "As of {day}, {s} has a population of {v}, after {before} in the count before."),
    ),
    ("institute", "director"): (
        ("{s} welcomes {v}", "On {day}, {v} became the director of {s}, succeeding {before}."),
    ),
    ("festival", "winner"): (
        ("{v} wins {s}", "{v} won {s} on {day}; the winner of the year before was {before}."),
        ("Prize night at {s}", "The jury of {s} named {v} the winner on {day}, a year after {before}."),
    ),
    ("club", "coach"): (("{s} hires {v}", "On {day}, {v} became the head coach of {s}, succeeding {before}."),),
    ("scene", "volume"): (
        ("A count of jobs", "As of {day}, {v} people earn their living in {s}, after {before} in the count before."),
    ),
}

_OPENINGS = {
    "company": (
        "{s} is a company in the {industry} business{place}.",
        "{s} is a maker and supplier in {industry}{place}.",
    ),
    "person": ("{s} is a {role}.", "{s} is known as a {role}."),
    "city": ("{s} is a city {preposition} the {region}.", "{s} is one of the cities {preposition} the {region}."),
    "institute": (
        "{s} is a place of higher education{place}.",
        "{s} is an institute of higher education and research{place}.",
    ),
    "festival": (
        "{s} is a yearly festival{place}, with a prize for {prize}.",
        "{s} is a festival{place} that awards a prize for {prize}.",
    ),
    "club": ("{s} is a football club{place}.", "{s} is a football club with some thousand members{place}."),
    "book": ("{s} is a novel.", "{s} is a novel in three parts."),
}

_FILLERS = {
    "company": (
        "{t} sells through dealers and directly to public bodies.",
        "Visitors may see the old workshop of {t} on the first Sunday of each month.",
        "{t} publishes a yearly report on its use of water and power.",
        "A strike in the packing hall of {t} ended after nine days with an agreement.",
        "{t} trains apprentices in a school of its own.",
        "The blue gable in the sign of {t} goes back to its first building.",
    ),
    "person": (
        "{t} collects maps and plays the cello.",
        "In interviews, {t} likes to speak about patience and good tools.",
        "{t} has given lectures in several countries.",
        "A portrait of {t} hangs in the town hall.",
        "{t} rises early and answers letters by hand.",
        "Friends describe {t} as calm, exact and fond of long walks.",
    ),
    "city": (
        "{t} is known for its covered market and its tram.",
        "The old quarter of {t} is built of pale stone.",
        "A funicular connects the two halves of {t}.",
        "The harbour festival and the book fair draw visitors to {t}.",
        "Several stages of {t}'s ring road are still being built.",
        "{t} keeps one of the oldest botanical gardens of the region.",
    ),
    "institute": (
        "{t} has four faculties and a library open at night.",
        "Students of {t} run a radio station and a rowing club.",
        "{t} is known for its school of surveying.",
        "The observatory of {t} may be visited on clear evenings.",
        "A new laboratory wing of {t} was paid for by a lottery.",
    ),
    "festival": (
        "{t} began as a fair of the guilds.",
        "Tickets for {t} are sold at the tram stops.",
        "{t} closes with a procession by candlelight.",
        "Rain has interrupted {t} only twice.",
    ),
    "club": (
        "{t} plays in green and white.",
        "The youth teams of {t} train on the river meadows.",
        "{t} has won the regional cup several times.",
        "Supporters of {t} sing before the match, whatever the weather.",
    ),
    "book": (
        "{t} tells of two sisters who keep a ferry.",
        "Critics praised {t} for its slow, exact sentences.",
        "{t} has been translated into eleven languages.",
        "A stage version of {t} ran for two winters.",
        "{t} is set in a port that is never named.",
    ),
    "scene": (
        "Observers expect further growth of {t}, but also warn of rising costs.",
        "Those who know {t} speak of long apprenticeships and short winters.",
        "Money for {t} comes from fees, from the district and from two foundations.",
    ),
}

_SHORT = {
    "company": "the company",
    "city": "the city",
    "institute": "the institute",
    "festival": "the festival",
    "club": "the club",
    "book": "the novel",
    "scene": "the field",
}

_ASIDES = (
    "Opinions on this differ.",
    "The details are kept in the district archive.",
    "A longer account is in preparation.",
    "Readers may send corrections to the editors.",
)

PROSE = Prose(
    language="en",
    openings=_OPENINGS,
    stated=_STATED,
    yearbook=_YEARBOOK,
    news=_NEWS,
    fillers=_FILLERS,
    belongs="{s} is often named when people speak of {scene}.",
    unchanged={("company", "headquarters"): "{s} has never moved its headquarters since it was founded."},
    short=_SHORT,
    asides=_ASIDES,
    footer="Page updated {iso}.",
    dateline="Published {iso}.",
    space=" ",
    months=tuple(month.en for month in MONTHS),
)
