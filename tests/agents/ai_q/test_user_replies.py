"""Short replies of a user, as people type them."""

import pytest

from aiq.agents.ai_q.user_replies import is_skip, may_be_a_question, read_decision
from tests.cases import table

each = table(__file__)

READ = {
    "yes": (
        "approve|Approve.|yes|y|“approve”|`ok`|ＯＫ|**Approved**|_ok_|looks good|Looks good to me!|accept|continue"
        "|go ahead|okay, go|yes please|I approve|lgtm|sounds great, thanks|that's fine|let’s go|do it|👍|✔️"
        "|The plan looks good, please proceed.|批准|好的！|「同意」|可以，开始吧|看起来不错|没问题"
    ),
    "no": "reject|No|n|cancel!|ｎｏ|abort|stop|quit|no, thank you|forget it|❌|取消|不行。|拒絕|不同意|取消吧|算了",
    "open": "|  |?|...|skip|pass|done|hm|ok?|not good|don't do it|no problem|never mind|the|yes and no|不要继续|跳过",
    "remark": "yes, but shorter|add prices|ok but drop the second section|start over|continue with trade|增加价格",
}


@pytest.mark.parametrize(("reading", "reply"), [(kind, one) for kind, all_ in READ.items() for one in all_.split("|")])
def test_a_decision_is_read_however_it_is_written(reading: str, reply: str) -> None:
    assert read_decision(reply) == reading


@pytest.mark.parametrize(
    "reply", ["skip", "Skip.", "", "  ", "done", "just go ahead", "please continue", "继续", "跳過。"]
)
def test_words_that_end_the_questions(reply: str) -> None:
    assert is_skip(reply)


@pytest.mark.parametrize("reply", ["no", "yes", "ok", "all of it", "go with the first", "不"])
def test_words_that_do_not_end_the_questions(reply: str) -> None:
    assert not is_skip(reply)


@each("reply")
def test_a_reply_that_reads_like_a_question_of_its_own(reply: str, may_be: bool) -> None:
    assert may_be_a_question(reply) is may_be
