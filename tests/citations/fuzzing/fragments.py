"""What generated reports are made of: data only.

`RIGHT_*` are pieces that a good report has and that no repair may touch; the others may be anything.
"""

HEADINGS = (
    "## References", "# Sources", "#### Bibliography", "### Works Cited", "**References**", "**Sources:**", "Sources:",
    "## 参考文献", "参考文献：", "**引用的著作**", "### 参考资料", "## 참고문헌", "출처:", "## 引用元", "**出典**",
    "## Quellen", "Literaturverzeichnis:", "## Références", "**Bibliographie**", "## Referencias", "Fuentes:",
)  # fmt: skip
"""Titles of reference lists in seven languages and various spellings."""

NUMBERINGS = ("[{}] {} - {}", "[{}]: {} {}", "{}. {} {}", "{}) {}: {}", "- [{}] {}: {}", "**[{}]** {}. {}")
"""Entries of a list: number, title, URL."""

ODD_NUMBERINGS = (
    "[^{}]: {} {}", "({}) {} {}", "【{}】{} {}", "• [{}] {} {}", "| {} | {} | {} |", "[{}] {}\n    {}", "[{}] {}\n{}",
    "[{}] [{}]({})", "{}. **{}** <{}>", "[{}] {} ({})", "[{}]{} `{}`", "{}、{}：{}。", "- {} {} {}", "[{}] {} **{}**",
    "\\[{}\\] {} {}", "<sup>{}</sup> {} {}", "[{}] {}.\nAccessed 2026-01-01. {}", "1. {} {} {}", "[[{}]] {} {}",
)  # fmt: skip

MARKS = (
    "[{0}]", "[{0}][{1}]", "[{0}, {1}]", "[{0}; {1}]", "[^{0}]", "【{0}】", "【{0}†L2-L4】", "[{0}] [{1}]", "[[{0}]]",
)  # fmt: skip
"""Inline marks for one or two numbers."""

RIGHT_PROSE = (
    "In `arr[0]` and `x = y[12]` nothing is cited.", "The year [2024] and [sic] are text.", "Let $a[1] + b[2]$ hold.",
    "```python\nvalues[1] = other[2]  # https://nowhere.org/x\n```", "| a | b |\n|---|---|\n| 1 | 2 |",
    "    indented[3]\n        more[4]", "- one\n  - two\n    - three", "中文段落，没有引用。", "یک متن راست به چپ",
    "Emoji 👩‍🔬 and  two  blanks stay.", "> A quotation\n> in two lines", "### A section", "Prices: $5 and $6 (2026).",
    "See https://unrelated.org/page (no source) for more.", "A [link](https://unrelated.org/other) in words.",
    "main() returns <b>bold</b> text.", "1. first\n2. second", "$$\nx_{[1]} = 3\n$$", "Ünïcödé — “quoted”…",
    "The function `f` has a `<parameter name>` tag.", "日本語の段落です。", "한국어 문단입니다.", "a\tb  c\u3000d",
)  # fmt: skip
"""Paragraphs without a citation, which must not change."""

PIECES = (
    "[1]", "[2]", "[9]", "[1, 3]", "[1-3]", "[3-1]", "[1-99999]", "[^1]", "[^2]: ", "【1†L2】", "[1](", "[1]: ",
    "[1](javascript:x)", "[2](https://v.com/1)",
    "[[1]]", "<sup>1</sup>", "\\[1\\]", "[2024]", "arr[0]", "[sic]", "[0]", "[1;2]", "[citation:1]", "So it is.1 ",
    "[1", "# ", "## ", "- ", "1. ", "2) ", "* ", "> ", "`", "``", "```\n", "~~~\n", "```markdown\n", "$", "$$", "\\(",
    "\\)", "\\[", "\\]", "(", ")", "[", "]", "{", "}", "<", ">", "<b>", "<code>", "</code>", "<!--", "-->", "<pre>",
    "</pre>", "![", "](", "![x](", "'", '"', "*", "**", "_", "，", "。", "：", "、", "（", "）", "text ", "Fact ",
    "\r\n", "\r", "\x00", "\x07", "\x1b", "\x7f", "\x85", "\u2028", "\u200b", "\u202e", "\ufeff", "\ud800", "\udfff",
    "\ufffd", "\u3000", "...", "…", "---\n", "===\n", "Accessed ", "URL: ", "中文", "日本", "한글", "نص", "👍🏽", "é",
    "e\u0301", "&amp;", "&#91;1&#93;", "&lt;", "\\", "    ", "\t", "(see ", " - ", ": ", "1) ", "• [2] ", "(1) ", " ",
    "\n", "\n\n", "|", "|---|---|\n", "[a]: ", "<div>\n", '<a href="javascript:x">', "<img src=", "<script>",
    "</script>", "<svg>", "</svg>", 'title="<" href="javascript:x">', "<parameter name=",
    "<function_calls>", "†", "^", "~", "doi:10.1/x", "arXiv:1706.03762",
    "report.pdf, p.3", "第3页", "a.md", "Annual Report", "pp. 3-5", "#page=4", "https://", "http://[", "www.", "://",
    "%", "%2e%2e", "::",
)  # fmt: skip
"""Fragments from which the hostile parts are put together."""

UNSAFE_URLS = (
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "&#106;avascript:alert(1)", "vbscript:x",
    "data:text/html;base64,PHg+", "file:///etc/passwd", "%6aavascript:alert(1)", "https://bit.ly/x", "HTTP://foo.bit.ly.",
    "http://user@t.co/x", "http://10.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://[::1]/", "http://017700000001",
    "http://[::ffff:10.0.0.1]/a", "http://localhost:80/", "http://printer.local", "http://[::1", "http://[host]/v1", "http://",
    "https://e.com/a...", "https://e.com/a…", "https://e.com/\ufffd", "ftp://v.com/1", "view-source:https://v.com/1",
    "https://v.com/x y", "https://v.com:99999/", "https://v..com/", "https://аpple.com/", "http://1.2.3.4.example.com/",
    "https://v.com/" + "long/" * 1000, "https://v.com/?" + "a=1&" * 900, "https://v.com/" + "(" * 300,
)  # fmt: skip
"""URLs that are unsafe, malformed or unusual."""

SCHEMES = ("https://", "http://", "HTTPS://")
HOSTS = (
    "v.com", "www.v.com", "nvidia.com", "nvidia.co", "github.com", "api.v.com", "arxiv.org", "doi.org", "müller.de",
    "en.wikipedia.org", "v.com:8080", "例え.jp", "gitlab.firm.org",
)  # fmt: skip
SEGMENTS = (
    "a", "b", "1", "12", "112", "pull", "page1", "page10", "2026", "news", "us", "benefits", "Mercury_(planet)", "é",
    "%C3%A9", "a%2Fb", "a%20b", "x.html", "abs", "pdf", "1706.03762", "1706.03762v2", "A", "v1;x=2", "a.b",
    "v1_2", "a\\b", "10.1000", "abc",
)  # fmt: skip
QUERIES = (
    "id=1", "id=12", "id=123", "id=1&id=2", "mode=view", "a=b%26c", "section=2", "copy=1", "ref=main", "source=x",
    "utm_source=y", "q=%E4%B8%AD", "b=2", "a=1", "flag", "flag=", "q=a+b",
)  # fmt: skip
INSERTED = "a1/.-_?&=#%:@;,()é中 \u200b"
CUTS = ("...", "…", "....", "...)")
EXTENSIONS = (
    "/x", "/a/b", "/FAKE.md", "?id=1", "?utm_source=m", "&b=2", "/", "//", "#part", "#/one", ";v=1", "/../b", "/./",
    "?",
)  # fmt: skip
"""What mutations insert into a URL or append to it."""

FRAGMENTS = ("#part", "#/one", "#/two", "#!three", "#:~:text=x", "#/b c", "#/b%20c", "#/b%2Fc")

DOCUMENTS = (
    "report.pdf, p.3", "report.pdf, p.15", "report.pdf", "a.md", "step1.pdf", "step2.pdf, page 2", "Annual Report",
    "数据.pdf 第3页",
)  # fmt: skip

SOURCE_TEXTS = (
    "", "Fact-1 of this report grew by 12 percent in 2026. It did not fall.", "事实：增长了 12%。", "\ud800 \x00 [1] (",
    "Prices were $5.50 and 1,200 kg; see the table.\n\n| a | b |\n", "No.",
)  # fmt: skip
"""What sources say, for the closest passages."""

UNITS = (
    "![", "[", "]", "[1", "[1](", "[1]", "[1]: ", "[^1]: ", "(", "`", "``` ", "$", "$$", "\\(", "\\[", "<", "<a ",
    "<!--", "<b>", "<code>", "*a", "**", "_a_", "> ", "> > ", "- ", "1. ", "|", "| a ", "|\n|-", "https://v.com/",
    "https://", "http://[", "www.v", "https://v.com/a?a=1&", "javascript:", "&amp;", "\\", "【", "【1†", "[1, ",
    "1, ", "1-", "References\n", "## References\n", "[1] a\n", "1. a\n", "- a\n", "x\n", "\n", " ", "a", "中",
    "👩‍🔬", "\ud800", "\x00", "[1] https://v.com/1 ", "[1]\n", "```\n", "    a\n", "<div>\n", "a [1]. ",
    "<sup>1</sup>", "[[", "[a](b) ", "<https://v.com/1>", "[1]: https://v.com/1\n",
    "## 参考文献\n[1] a https://v.com/1\n", "Sources: [1] T - https://v.com/1 ",
    "](", "*", ">", "&", "[[[[", "]]]]", "http://", "http://a](", "http://a，", "[a](", "[a](b ", "[a](<", '[a](b "',
    "[a](b (", "![a](", "[1,", "[1] ", "<a b='", "<pre>", "<?", "<![CDATA[", "$a ", "$1 ", "a+", "）", "- - ", "# ",
    "a\n", "a\n\n", "|a|\n", "| a\\|b ", "## References\n[1] a https://v.com/1\n", "Notes\n1. a\n", "[^1]: a\n",
    "[^1]: https://v.com\n", "[1] a [2] b ", "[1] a - https://v.com/1 ", "(a\n", "Accessed\n", "So it is.1 ", "a**",
    "<sup>", 'href="', " - \n  - \n", "> - a\n", "- ```\n", "[citation:", "x/http://v.com/-\n", "a.1,", "①", "a¹",
    "[1]-", "=", "[1, 2, ", "<a> ", "<li>a https://v.com ", "1. https://v.com 2. ", "[2]x https://v.com ",
    "[1] a https://v.com\n---\n", "[1,\n", "```\n[1] https://v.com/1\n```\n",
    "```\n## References\n[1] https://v.com/1\n```\n", "```markdown\n", "[see ",
)  # fmt: skip
"""Units that a hostile text repeats thousands of times."""
