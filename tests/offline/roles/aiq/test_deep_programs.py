"""Planner, researcher and orchestrator, offline: each step from the request alone, as far as the prompt asks for it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from aiq.offline.chat import ChatMessage, ChatReply, ChatRequest, call
from aiq.offline.roles.aiq import orchestrator, planner, researcher

TASK = (
    "Write a report on kite making in the Fenlow Valley: which companies there are, who founded them and where they "
    "are headquartered, in which cities their founders were born, and how the trade began."
)
OVERVIEW = (
    "The history of kite making in the Fenlow Valley began in 1902.\n\nThe companies are Arden Kites, Bellow Works and "
    "Corin Sails.\n\nPage updated 2026-05-01."
)
ARDEN = (
    "Arden Kites is headquartered in Oster. Arden Kites was founded by Mira Tolle.\nIn May 2024, Arden Kites had 310 "
    "employees.\nThe blue door of the workshop is older than the house."
)
FOUNDER = "Mira Tolle was born in Lunde. Mira Tolle collects maps."
SEARCHED = call("web_search_tool", query="x")
PLAN = {
    "title": "Kite making",
    "sections": [
        {"title": "Companies and headquarters"},
        {"title": "Founders and where they were born"},
        {"title": "How the trade began"},
    ],
    "queries": [{"query": "kite making in the Fenlow Valley history", "sections": ["How the trade began"]}],
}
FINDINGS = (
    "The companies are Arden Kites, Bellow Works and Corin Sails [1].\n"
    "The history of kite making in the Fenlow Valley began in 1902 [1].\n\n"
    "**Sources**\n[1] Kite making in the Fenlow Valley - https://almanac.test/kites"
)
Make = Callable[..., ChatRequest]


def calls(reply: ChatReply) -> list[tuple[str, dict[str, Any]]]:
    return [(c.function.name, c.function.parsed) for c in reply.tool_calls]


@pytest.fixture
def overview(page: Callable[..., str]) -> str:
    return page("https://almanac.test/kites", "Kite making in the Fenlow Valley", OVERVIEW)


class TestPlanner:
    DESCRIPTION = f"Plan a research report.\n<task>\n{TASK}\n</task>"
    TOOLS = ("web_search_tool", "think", "write_file")

    def test_searches_then_writes_the_plan_to_the_file_then_replies_with_it(
        self, request_of: Make, system: Callable[..., str], overview: str
    ) -> None:
        prompt = system("planner")
        first = planner.reply(request_of(prompt, self.DESCRIPTION, tools=self.TOOLS))
        assert {name for name, _ in calls(first)} == {"web_search_tool"}
        second = planner.reply(request_of(prompt, self.DESCRIPTION, [(SEARCHED, overview)], tools=self.TOOLS))
        ((name, arguments),) = calls(second)
        assert (name, arguments["file_path"]) == ("write_file", "/shared/plan.json")
        written = (call("write_file", **arguments), "ok")
        third = planner.reply(request_of(prompt, self.DESCRIPTION, [(SEARCHED, overview)], [written], tools=self.TOOLS))
        assert third.text == arguments["content"]
        plan = json.loads(third.text)
        assert 4 <= len(plan["queries"]) <= 6
        assert any(query["query"].startswith("Arden Kites: ") for query in plan["queries"])
        titles = [section["title"] for section in plan["sections"]]
        assert all(set(query["sections"]) <= {*titles, plan["title"]} for query in plan["queries"])

    @pytest.mark.parametrize(("least", "most"), [(2, 2), (3, 4), (6, 8)])
    def test_the_number_of_queries_is_the_prompts(
        self, request_of: Make, system: Callable[..., str], least: int, most: int
    ) -> None:
        prompt = system("planner", min_queries=least, max_queries=most)
        request = request_of(prompt, self.DESCRIPTION, [(SEARCHED, "Search returned no results")], tools=("think",))
        assert least <= len(json.loads(planner.reply(request).text)["queries"]) <= most

    def test_an_outline_that_the_user_has_seen_is_kept(self, request_of: Make, system: Callable[..., str]) -> None:
        seen = "\nPlan (approved by the user):\nKites\n1. Winds\n2. Makers\n3. Outlook"
        request = request_of(system("planner"), self.DESCRIPTION + seen, tools=())
        assert [s["title"] for s in json.loads(planner.reply(request).text)["sections"]] == [
            "Winds",
            "Makers",
            "Outlook",
        ]

    def test_no_file_where_the_prompt_names_none(self, request_of: Make) -> None:
        request = request_of("Plan a report.", self.DESCRIPTION, [(SEARCHED, "")], tools=self.TOOLS)
        assert planner.reply(request).tool_calls == ()


class TestResearcher:
    DESCRIPTION = (
        f"Research for a report.\n<task>\n{TASK}\n</task>\nSections: Companies\nQueries:\n"
        "- Arden Kites: headquarters, founder, number of employees\n- kite making in the Fenlow Valley history"
    )

    def test_runs_all_its_queries_within_the_stated_budget(self, request_of: Make, system: Callable[..., str]) -> None:
        searches = calls(researcher.reply(request_of(system("researcher"), self.DESCRIPTION)))
        assert [arguments["query"] for _, arguments in searches] == [
            "Arden Kites: headquarters, founder, number of employees",
            "kite making in the Fenlow Valley history",
        ]
        tight = system("researcher", max_searches_per_researcher=1)
        assert len(calls(researcher.reply(request_of(tight, self.DESCRIPTION)))) == 1

    def test_dates_a_search_for_what_is_old_only_where_the_prompt_says_so(
        self, request_of: Make, system: Callable[..., str], page: Callable[..., str]
    ) -> None:
        arden = page("https://atlas.test/arden", "Arden Kites", ARDEN)
        prompt = system("researcher")

        def followups(text: str) -> list[str]:
            reply = researcher.reply(request_of(text, self.DESCRIPTION, [(SEARCHED, arden)]))
            return [arguments.get("query", "") for _, arguments in calls(reply)]

        assert "Arden Kites number of employees 2026" in followups(prompt)
        without = prompt.replace("Add the current year where the newest state counts.", "")
        assert not any("2026" in query for query in followups(without))
        undated = prompt.replace("Current date and time: 2026-11-01T09:00:00+00:00", "")
        assert not any("2026" in query for query in followups(undated))

    def test_findings_are_cited_sentences_and_a_list_of_sources(
        self, request_of: Make, system: Callable[..., str], page: Callable[..., str], overview: str
    ) -> None:
        arden = page("https://atlas.test/arden", "Arden Kites", ARDEN)
        found = [(SEARCHED, arden), (SEARCHED, overview)]
        text = researcher.reply(request_of(system("researcher"), self.DESCRIPTION, found, found, tools=())).text
        assert "Arden Kites is headquartered in Oster [1]." in text
        assert "Arden Kites was founded by Mira Tolle [1]." in text
        assert "The companies are Arden Kites, Bellow Works and Corin Sails [2]." in text
        assert "blue door" not in text
        assert text.endswith("[2] Kite making in the Fenlow Valley - https://almanac.test/kites")

    def test_no_list_of_sources_where_the_prompt_asks_for_none(
        self, request_of: Make, system: Callable[..., str], overview: str
    ) -> None:
        prompt = system("researcher").replace("**Sources**", "")
        text = researcher.reply(request_of(prompt, self.DESCRIPTION, [(SEARCHED, overview)], tools=())).text
        assert "almanac.test" not in text

    def test_says_so_when_nothing_was_found(self, request_of: Make, system: Callable[..., str]) -> None:
        nothing = [(SEARCHED, "Search returned no results")]
        text = researcher.reply(request_of(system("researcher"), self.DESCRIPTION, nothing, tools=())).text
        assert text.count("Nothing was found for this query.") == 2
        assert "**Sources**" not in text


class TestOrchestrator:
    TOOLS = ("task", "think", "write_todos", "write_file")
    PLANNED = (call("task", subagent_type="planner-agent", description="Plan."), json.dumps(PLAN))
    RESEARCHED = (call("task", subagent_type="researcher-agent", description="Queries:\n- kite making"), FINDINGS)

    def test_plans_first_with_the_task_word_for_word(self, request_of: Make, system: Callable[..., str]) -> None:
        reply = orchestrator.reply(request_of(system("orchestrator"), TASK, tools=self.TOOLS))
        assert [name for name, _ in calls(reply)] == ["write_todos", "task"]
        assert calls(reply)[1][1]["subagent_type"] == "planner-agent"
        assert TASK in calls(reply)[1][1]["description"]
        silent = orchestrator.reply(request_of(system("orchestrator", enable_todos=False), TASK, tools=self.TOOLS))
        assert [name for name, _ in calls(silent)] == ["task"]

    def test_then_dispatches_the_plans_queries(self, request_of: Make, system: Callable[..., str]) -> None:
        plan = {**PLAN, "queries": [{"query": f"q{n}", "sections": []} for n in range(7)]}
        planned = (self.PLANNED[0], json.dumps(plan))
        request = request_of(system("orchestrator"), TASK, [planned], tools=self.TOOLS)
        found = [arguments["description"] for _, arguments in calls(orchestrator.reply(request))]
        assert len(found) == 3
        assert [q for text in found for q in text.partition("Queries:")[2].split()[1::2]] == [f"q{n}" for n in range(7)]
        one = request_of(system("orchestrator", max_researcher_calls=1), TASK, [planned], tools=self.TOOLS)
        assert len(calls(orchestrator.reply(one))) == 1

    def test_then_states_gaps_and_researches_what_the_findings_named(
        self, request_of: Make, system: Callable[..., str]
    ) -> None:
        done = ([self.PLANNED], [self.RESEARCHED])
        prompt = system("orchestrator", max_loops=2)
        ((name, thought),) = calls(orchestrator.reply(request_of(prompt, TASK, *done, tools=self.TOOLS)))
        assert name == "think"
        assert "Gaps:\n- Arden Kites: not looked up yet" in thought["thought"]
        noted = [(call("think", **thought), "Noted.")]
        following = calls(orchestrator.reply(request_of(prompt, TASK, *done, noted, tools=self.TOOLS)))
        assert any("- Bellow Works: " in arguments["description"] for _, arguments in following)

    def test_no_gaps_are_stated_where_the_prompt_does_not_ask(
        self, request_of: Make, system: Callable[..., str]
    ) -> None:
        prompt = system("orchestrator", max_loops=2).replace("Gaps:", "")
        reply = orchestrator.reply(request_of(prompt, TASK, [self.PLANNED], [self.RESEARCHED], tools=self.TOOLS))
        assert {name for name, _ in calls(reply)} == {"task"}

    def test_writes_when_the_rounds_are_over_or_the_tool_is_gone(
        self, request_of: Make, system: Callable[..., str]
    ) -> None:
        done = ([self.PLANNED], [self.RESEARCHED])
        for loops, tools in ((1, self.TOOLS), (3, ("think",))):
            text = orchestrator.reply(
                request_of(system("orchestrator", max_loops=loops), TASK, *done, tools=tools)
            ).text
            assert text.startswith("# Kite making\n\n")
            assert "## How the trade began" in text
            assert "began in 1902 [1]." in text
            assert text.endswith("## References\n\n[1] Kite making in the Fenlow Valley - https://almanac.test/kites")

    def test_no_reference_list_where_the_prompt_asks_for_none(
        self, request_of: Make, system: Callable[..., str]
    ) -> None:
        prompt = system("orchestrator", max_loops=1).replace("## References", "")
        text = orchestrator.reply(request_of(prompt, TASK, [self.PLANNED], [self.RESEARCHED], tools=())).text
        assert "almanac.test" not in text

    def test_says_so_when_nothing_was_found(self, request_of: Make, system: Callable[..., str]) -> None:
        empty = (self.RESEARCHED[0], "Nothing was found for this query.")
        text = orchestrator.reply(request_of(system("orchestrator"), TASK, [self.PLANNED], [empty], tools=())).text
        assert "hold nothing on this subject" in text
        assert "[1]" not in text

    def test_a_plan_that_is_no_json_is_replaced(self, request_of: Make, system: Callable[..., str]) -> None:
        broken = (self.PLANNED[0], "I could not plan.")
        reply = orchestrator.reply(request_of(system("orchestrator"), TASK, [broken], tools=self.TOOLS))
        assert calls(reply)[0][1]["subagent_type"] == "researcher-agent"

    def test_seeds_change_the_wording_and_nothing_else(self, request_of: Make, system: Callable[..., str]) -> None:
        def written(seed: int) -> str:
            request = request_of(system("orchestrator"), TASK, [self.PLANNED], [self.RESEARCHED], tools=(), seed=seed)
            return orchestrator.reply(request).text

        assert written(1) == written(1)
        texts = {written(seed) for seed in range(8)}
        assert len(texts) > 1
        assert all("began in 1902 [1]." in text for text in texts)


def test_in_a_conversation_the_task_is_the_last_question_before_any_work(
    request_of: Make, system: Callable[..., str]
) -> None:
    def asked(*messages: ChatMessage) -> str:
        request = request_of(system("orchestrator"), TASK, tools=("task",))
        request = ChatRequest(
            **{**request.model_dump(), "messages": (request.messages[0], *messages)},
        )
        ((_, arguments),) = calls(orchestrator.reply(request))
        return str(arguments["description"])

    user = ChatMessage(role="user", content=TASK)
    earlier = (ChatMessage(role="user", content="Hello!"), ChatMessage(role="assistant", content="Hi."))
    assert asked(*earlier, user) == asked(user)
    assert "Hello!" not in asked(*earlier, user)
