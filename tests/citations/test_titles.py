"""The titles of reference lists: every language, every kind of markup, and lines that are none."""

import pytest

from aiq.citations.entries import title_strength

STRONG = """
Sources|References|Reference List|Bibliography|Works Cited|Citations|Source List|References (3)
References and notes
Sources cited|7. References|VII. References|A. References|Appendix A: References|Appendix: Sources|Reference
Sources & References|References & Further Reading|Key Sources|Selected References|REFERENCES|Cited Sources
Sources Used
Sources used in this report|Notes and references|Literature Cited|Reference links|List of sources|Sources [12]
References — Web|References:|Sources and further reading|Web Sources|Full References
参考文献|参考文献：|参考文献:|七、参考文献|（七）参考文献|第七章 参考文献|第七部分：参考文献|7.参考文献|参考资料
参考来源|引用来源|来源
资料来源|数据来源|信息来源|参考链接|引用文献|引用的著作|參考文獻|參考資料|資料來源|参考文献与数据来源
主要参考文献|参考文献及资料来源
参考文献和注释|参考文献（3）|参考文献 (References)|References (参考文献)|参考文献 / References|附录：参考文献
附录A：参考文献|参考文献列表
参考书目|注释与参考文献|【参考文献】|《参考文献》|参考网站
参照文献|参考資料|出典|引用元|引用文献|参考リンク|参考サイト|参照元|情報源|出典一覧|引用・参考文献|主な参考文献
参考文献一覧
참고문헌|참고 문헌|참고자료|출처|참고문헌 및 출처|출처 목록|주요 출처|7. 참고문헌|인용문헌
Quellen|Quellenverzeichnis|Literatur|Literaturverzeichnis|Referenzen|Einzelnachweise|Quellen und Literatur
Quellennachweise
Verwendete Quellen|7. Quellen:|Belege
Références|Références bibliographiques|Bibliographie|Ouvrages cités|Sources et références|Notes et références
Liste des références
Sources consultées|Sitographie|Sources citées
Referencias|Referencias bibliográficas|Fuentes|Bibliografía|Obras citadas|Fuentes consultadas
Fuentes y referencias
Lista de referencias|Trabajos citados|Fuentes de información
"""
NONE = """
Sources of the Nile|Literature review|Source code|Citation analysis|Data|List of the main pages|Energy sources
Referenced standards|The sources are unclear|文献综述|数据分析|主要资料|来源国家分析|引用量排名|Quellcode
Fuentes de energía|Resourceful|1.|---
Sources said that prices rose|参考价格|出典が不明な記述|Referendum
"""


def _titles(lines: str) -> list[str]:
    return [title for line in lines.strip().splitlines() for title in line.split("|")]


@pytest.mark.parametrize("title", _titles(STRONG))
def test_titles(title: str) -> None:
    assert title_strength(title) == "strong"
    assert title_strength(f"## **{title}**") == "strong"


@pytest.mark.parametrize(
    "title",
    [
        "Notes",
        "Endnotes:",
        "## Further reading",
        "Links",
        "External links",
        "Data sources",
        "注释",
        "脚注",
        "각주",
        "Fußnoten",
    ],
)
def test_titles_under_which_other_things_stand_too(title: str) -> None:
    assert title_strength(title) == "weak"


@pytest.mark.parametrize("line", [*_titles(NONE), "References " + "x" * 100, ""])
def test_other_lines(line: str) -> None:
    assert title_strength(line) is None


# fmt: off
MARKUP = [
    "# {}", "###### {} ######", "**{}**", "__{}__", "*{}*", "***{}***", "{}:", "{}：", "**{}:**", "**{}**：",
    "> ## {}", "## 7. {}", "7. {}", "## 七、{}", "<h2>{}</h2>", "<h3 id='r'><b>{}</b></h3>", "<strong>{}</strong>",
    "{}。", "- **{}**", "<b>{}:</b><br>", "# 📚 {}", "== {} ==", "[{}]", "【{}】", "## [{}](#refs)",
    "## {} {{#refs}}", "<summary>{}</summary>", "\\section*{{{}}}", "## `{}`", "―― {} ――", "{} (12)",
    "{}（共12条）",
]
# fmt: on


@pytest.mark.parametrize("markup", MARKUP)
@pytest.mark.parametrize("title", ["References", "参考文献", "Quellen", "참고문헌"])
def test_markup_around_a_title(markup: str, title: str) -> None:
    assert title_strength(markup.format(title)) == "strong"
