"""A handful of pages, as tools show them."""

import pytest

from aiq.offline.reading import documents
from aiq.offline.reading.documents import Document

PAGES = {
    "tessmark": (
        "Tessmark",
        "Tessmark is a city on the river Alda in Averland. It was founded in 1423. As of March 2026, the mayor of "
        "Tessmark is Ilan Corvey. He succeeded Bo Dant as mayor in 2024. Tessmark has a population of 412,300.\n"
        "Page updated 2026-03-14.",
    ),
    "guide-2019": (
        "Tessmark (2019 guide)",
        "Who is the mayor of Tessmark? The mayor of Tessmark is Bo Dant (May 2019). The population of Tessmark is "
        "380,100 (May 2019).\nPage updated 2019-05-04.",
    ),
    "halden": (
        "Halden Works",
        "Halden Works is a maker of turbines. Halden Works has its headquarters in Tessmark. It was founded in 1987 by "
        "Mira Tessel. In June 2026, Halden Works had 4,210 employees.\nPage updated 2026-06-20.",
    ),
    "tessel": (
        "Mira Tessel",
        "Mira Tessel is an engineer. Mira Tessel was born in 1951 in Orlune and studied at the Velmora Institute.",
    ),
    "huo": (
        "霍尔登工业公司",
        "霍尔登工业公司总部位于特斯马克。该公司由米拉·泰塞尔于1987年创办。现任首席执行官是乌戈·佩尔。",
    ),
}


def block(key: str) -> str:
    title, text = PAGES[key]
    return f'<Document href="https://atlas.test/{key}">\n<title>\n{title}\n</title>\n{text}\n</Document>'


@pytest.fixture(scope="session")
def pages() -> list[Document]:
    return documents.parse("\n\n---\n\n".join(block(key) for key in PAGES))
