"""What a user's short reply decides, in English and Chinese, the languages of the benchmarks.

A reply decides only if it says nothing else: apart from fillers, all its words express assent, or all refusal. Words of
both kinds, ambiguous words and a question mark leave it open, so that the user is asked again; with any other word it
is a remark.
"""

import re
import unicodedata
from typing import Literal

Reading = Literal["yes", "no", "open", "remark"]


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


YES = _words(
    "approve approved approves yes y yeah yep yup ok okay sure fine good great perfect nice excellent agree agreed",
    "accept accepted confirm confirmed correct right exactly absolutely definitely lgtm works happy keep use",
    "continue proceed go start begin run do 👍 ✅ ✔ 批准 同意 好 好的 可以 行 是 是的 对 對 确认 確認 没问题 沒問題",
    "不错 不錯 继续 繼續 开始 開始 接受 赞成 贊成",
)
NO = _words(
    "reject rejected rejects no n nope nah cancel cancelled canceled stop abort quit end refuse decline disagree",
    "discard drop forget 👎 ❌ ✖ 拒绝 拒絕 取消 不 不行 不要 不同意 不可以 不好 否 停 停止 终止 終止 算了 放弃 放棄",
)
SKIP = _words("skip pass done next continue proceed go 跳过 跳過 略过 略過 继续 繼續")
"""Words that end the clarifying questions; `no` does not, since it may be the answer to a yes-or-no question."""
OPEN = _words(
    "not dont never mind leave hm hmm um maybe perhaps unsure wait later whatever problem problems objection",
    "objections changes 等等 也许 也許 不确定 不確定",
)
"""Words that leave a decision open; in a reply to a plan, so do the words of SKIP that are not in YES."""
FILLERS = _words(
    "a an the this that thats it its is i im me we us you lets let to for with by of and on all ahead very so as then",
    "now here just please thanks thank plan research report outline looks look looking sounds sound seems seem think",
    "吧 了 的 啊 呢 请 請 谢谢 謝謝 这个 這個 计划 計劃 研究 看起来 看起來 很 就 先 我",
)

_HAN = r"\u2e80-\u9fff"
_KNOWN = YES | NO | SKIP | OPEN | FILLERS
_UNSPACED = sorted((word for word in _KNOWN if not word.isascii()), key=lambda word: (-len(word), word))
_TOKEN = re.compile("|".join(_UNSPACED) + rf"|[^\W{_HAN}]+|(?=\w)[{_HAN}]")

_ASKS = re.compile(
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have"
    r"|write|compare|explain|describe|summari[sz]e|analy[sz]e|investigate|research|find out|tell me)\b"
    r"|.*[?？][\W_]*$|.*(?:谁|誰|什么|什麼|哪|多少|为什么|為什麼|怎么|怎麼|如何|吗|嗎)|(?:写|寫|比较|比較|分析|介绍|介紹|解释|解釋)",
    re.DOTALL,
)
_ABOUT_THE_PLAN = re.compile(
    r"(?:can|could|would|will|should|may|might|shall|please|what about|how about|what if|why not|why is there"
    r"|do not)\b"
    r"|.*\b(?:plan|sections?|chapters?|outline|titles?|headings?|parts?|points?)\b|.*(?:章|节|節|部分|大纲|大綱|计划|計劃|标题|標題)",
    re.DOTALL,
)


def read_decision(reply: str) -> Reading:
    """What a reply to "approve or reject?" decides. A blank one decides nothing."""
    words = _tokens(reply)
    if not words <= _KNOWN:
        return "remark"
    kinds = {"yes": words & YES, "no": words & NO, "open": words & (SKIP - YES | OPEN)}
    decisions: list[Reading] = [kind for kind in ("yes", "no", "open") if kinds[kind]]
    return decisions[0] if len(decisions) == 1 and "?" not in _plain(reply) else "open"


def is_skip(reply: str) -> bool:
    """Whether a reply to a clarifying question leaves it unanswered and ends the questions."""
    words = _tokens(reply)
    return not reply.strip() or (bool(words & SKIP) and words <= SKIP | FILLERS)


def may_be_a_question(reply: str) -> bool:
    """Whether a reply to a plan reads like a new question or task; only the user can say whether it is one."""
    text = _plain(reply).strip()
    return bool(_ASKS.match(text)) and not _ABOUT_THE_PLAN.match(text)


def _plain(reply: str) -> str:
    """Half width, lower case, no apostrophes."""
    return re.sub("['’]", "", unicodedata.normalize("NFKC", reply).casefold())


def _tokens(reply: str) -> frozenset[str]:
    """The words; in a script without spaces, the known words and otherwise single characters."""
    return frozenset(_TOKEN.findall(_plain(reply).replace("_", " ")))
