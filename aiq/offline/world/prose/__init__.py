"""How facts are said: sentence templates per relation, in English and in Chinese.

Templates know `{s}` subject, `{v}` value, `{before}` the value before it, `{date}` the month of the page,
`{since}` the month in which the value began to hold, `{day}` the day of that change, `{year}` the page's year.
"""

from aiq.offline.world.prose import chinese, english
from aiq.offline.world.prose.base import Prose

LANGUAGES: dict[str, Prose] = {"en": english.PROSE, "zh": chinese.PROSE}
