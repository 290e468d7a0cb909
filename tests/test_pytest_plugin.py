"""The pytest plugin as a user has it: the tests of a separate project, each run in a child process."""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from aiq.cassettes.exchange import Exchange
from aiq.cassettes.store import Store
from tests.echo import Endpoint, running
from tests.forked import Forked

pytest_plugins = ["pytester"]

AGENT = """
from openai import AsyncOpenAI

async def answer(client: AsyncOpenAI, question: str, *, prompt: str = "Be brief.") -> str:
    messages = [{"role": "system", "content": prompt}, {"role": "user", "content": question}]
    completion = await client.chat.completions.create(model="m", messages=messages)
    return completion.choices[0].message.content
"""

HEAD = """
import asyncio, urllib.request
import httpx2
import pytest
from my_agent import answer
HERE = "{base_url}"
"""

ASYNCIO = "pytest_asyncio.plugin"
KEY = "sk-proj-THE1own2KEY3of4the5user6"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with running() as endpoint:
        yield endpoint


class Project:
    """A user's agent and its tests, run as the user would."""

    def __init__(self, pytester: pytest.Pytester, endpoint: Endpoint) -> None:
        self.pytester, self.endpoint = pytester, endpoint
        pytester.makepyfile(my_agent=AGENT)
        pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")

    def write(self, tests: str) -> None:
        self.pytester.makepyfile(test_mine=HEAD.format(base_url=self.endpoint.base_url) + textwrap.dedent(tests))

    def run(self, *options: str, plugins: Sequence[str] = (ASYNCIO,), key: str | None = None, **outcomes: int) -> str:
        """Run the tests, check that they end as `outcomes` says, and return what pytest prints."""
        patch = pytest.MonkeyPatch()
        with patch.context() as environment:
            environment.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # every child would import each plugin
            environment.delenv("OPENAI_API_KEY", raising=False)
            if key is not None:
                environment.setenv("OPENAI_API_KEY", key)
            flags = [f"-p{name}" for name in ("aiq.pytest_plugin", "no:cacheprovider", *plugins)]
            with Forked("pytest", *flags, *options, cwd=self.pytester.path) as child:
                code = child.wait(300)
                result = pytest.RunResult(code, child.out.splitlines(), child.err.splitlines(), 0)
        result.assert_outcomes(**outcomes)
        return result.stdout.str()


def exchanges(file: Path) -> list[Exchange]:
    with Store(file, writes=False) as store:
        return [exchange for name in store.names() for exchange in store.exchanges(name)]


@pytest.fixture
def project(pytester: pytest.Pytester, endpoint: Endpoint) -> Project:
    return Project(pytester, endpoint)


def files(project: Project) -> dict[str, bytes]:
    folder = project.pytester.path / "cassettes"
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_recorded_exchanges_answer_later_runs(project: Project) -> None:
    project.write(
        """
        async def test_one(aiq_cassette):
            assert "You asked: one" in await answer(aiq_cassette.openai(base_url=HERE), "one")

        @pytest.fixture
        async def remembered(aiq_cassette):
            client = aiq_cassette.openai(base_url=HERE)
            yield await answer(client, "before")
            await answer(client, "after")

        class TestMany:
            @pytest.mark.parametrize("name", ["a/../b?", "A/../b?"])
            async def test_at_once(self, aiq_cassette, remembered, name):
                async with aiq_cassette.openai(base_url=HERE) as client:
                    answers = await asyncio.gather(*(answer(client, f"{name} {i}") for i in range(5)))
                assert [f"You asked: {name} {i}," in text for i, text in enumerate(answers)] == [True] * 5

        def test_in_loops_of_its_own(aiq_cassette):
            client = aiq_cassette.openai(base_url=HERE)
            for question in ("same", "same"):
                assert question in asyncio.run(answer(client, question))

        async def test_own_client(aiq_cassette):
            key = aiq_cassette.key("OPENAI_API_KEY")
            async with httpx2.AsyncClient(transport=aiq_cassette.transport, headers={"authorization": key}) as client:
                body = {"messages": [{"content": "own"}], "key": key}
                found = (await client.post(f"{HERE}?key={key}", json=body)).json()
            assert found["choices"][0]["message"]["content"].startswith("You asked: own")

        async def test_that_asks_for_nothing(aiq_cassette):
            pass
        """
    )
    project.run("--aiq-cassette=record", "-n1", plugins=["asyncio", "xdist"], key=KEY, passed=6)
    questions = [f"{letter}/../b? {number}" for letter in "aA" for number in range(5)]
    assert project.endpoint.new() == sorted([*questions, *["before", "after"] * 2, "one", "own", "same", "same"])
    recorded = files(project)
    assert {Path(name).name for name in recorded} == {"agent.sqlite"}
    stored = [exchange for name in recorded for exchange in exchanges(project.pytester.path / "cassettes" / name)]
    assert (len(recorded), len(stored)) == (6, 18)
    assert not [exchange for exchange in stored if KEY in repr(exchange)]
    project.endpoint.shutdown()
    project.endpoint.server_close()
    project.run(passed=6)
    assert files(project) == recorded


def test_the_fixture_works_under_anyio(project: Project) -> None:
    """Three warnings: anyio knows neither of two asyncio settings, and `tests.forked` had loaded it before."""
    project.write(
        """
        pytestmark = pytest.mark.anyio

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        @pytest.fixture
        async def first(aiq_cassette, anyio_backend):
            return await answer(aiq_cassette.openai(base_url=HERE), "first")

        async def test_second(aiq_cassette, first):
            assert "first" in first
            assert "second" in await answer(aiq_cassette.openai(base_url=HERE), "second")
        """
    )
    project.run("--aiq-cassette=auto", plugins=["anyio"], key=KEY, passed=1, warnings=3)
    assert project.endpoint.new() == ["first", "second"]
    project.run("--aiq-cassette=auto", plugins=["anyio"], key=KEY, passed=1, warnings=3)
    assert project.endpoint.new() == []


def test_an_unrecorded_request_fails_the_test_even_if_its_error_is_caught(project: Project) -> None:
    text = """
        PROMPT = "Be {how}, and say who told you."

        async def test_raised(aiq_cassette):
            await answer(aiq_cassette.openai(base_url=HERE), "one", prompt=PROMPT)

        async def test_caught(aiq_cassette):
            try:
                await answer(aiq_cassette.openai(base_url=HERE), "one", prompt=PROMPT)
            except Exception:
                pytest.skip("no answer")

        @pytest.fixture
        async def prepared(aiq_cassette):
            try:
                return await answer(aiq_cassette.openai(base_url=HERE), "one", prompt=PROMPT)
            except Exception:
                return None

        async def test_prepared(prepared):
            pass

        @pytest.fixture
        async def ending(aiq_cassette):
            yield
            try:
                await answer(aiq_cassette.openai(base_url=HERE), "one", prompt=PROMPT)
            except Exception:
                pass

        async def test_ended(ending):
            pass

        async def test_by_itself(aiq_cassette):
            import urllib.request
            try:
                urllib.request.urlopen(HERE.replace("v1", "other"), data=b'{{"messages": [{{"content": "other"}}]}}')
            except OSError:
                pass
    """
    project.write(text.format(how="brief"))
    out = project.run("--aiq-cassette=record", key=KEY, passed=5, warnings=1)
    connections = f"127.0.0.1:{project.endpoint.server_port} (1)"
    assert f"these connections did not go through aiq_cassette and are not recorded: {connections}" in out
    assert project.endpoint.new() == ["one"] * 4 + ["other"]
    project.write(text.format(how="short"))
    out = project.run(failed=3, errors=2, passed=1)
    assert project.endpoint.new() == []
    misses = [line for line in out.splitlines() if "messages[0].content: recorded" in line]
    assert len(misses) >= 4
    difference = 'recorded "Be brief, and say who told you.", now "Be short, and say who told you." (at character 3)'
    assert all(difference in line for line in misses)
    name = "cassette of test_mine.py::test_caught: not recorded: POST"
    assert f"{name} {project.endpoint.base_url}/chat/completions\n  the closest of 1 recorded requests differs" in out
    assert "record it with pytest --aiq-cassette=auto, or with pytest --aiq-cassette=refresh if prompts" in out
    assert "test_by_itself: a connection (" in out


def test_mistakes_are_reported_in_one_line(project: Project) -> None:
    project.write(
        """
        @pytest.mark.aiq_cassette("cassettes")
        def test_placed(aiq_cassette): pass

        @pytest.mark.aiq_cassette(folder="cassettes")
        def test_unknown(aiq_cassette): pass

        @pytest.mark.aiq_cassette(mode="once")
        def test_mode(aiq_cassette): pass

        @pytest.mark.aiq_cassette(dir=5)
        def test_dir(aiq_cassette): pass

        @pytest.mark.aiq_cassette(ignored=5)
        def test_ignored(aiq_cassette): pass

        def test_recorded_by_nobody(aiq_cassette): pass
        """
    )
    lines = project.run(errors=6).splitlines()
    folder = project.pytester.path / "cassettes" / "test_mine" / "test_recorded_by_nobody"
    for line, count in {
        "test_mine.py::test_placed: the marker aiq_cassette takes only dir, mode, ignored, by name": 1,
        "test_mine.py::test_unknown: the marker aiq_cassette takes only dir, mode, ignored, by name": 1,
        **{
            f"test_mine.py::test_{name}: aiq_cassette: dir must be a path, mode one of off, record, replay, auto, "
            "refresh, ignored a list of names": 1
            for name in ("mode", "dir", "ignored")
        },
        f"nothing is recorded in {folder}; record it with pytest --aiq-cassette=record": 1,
    }.items():
        assert lines.count(line) == count
    assert not [line for line in lines if "aiq/testing.py" in line]


def test_an_unused_plugin_imports_nothing_else(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile("""
        import pathlib, sys
        def test_nothing():
            pathlib.Path("loaded.txt").write_text("\\n".join(sys.modules))
    """)
    modules = []
    for plugin in ("no:aiq.pytest_plugin", "aiq.pytest_plugin"):
        pytester.runpytest_subprocess("-p", plugin).assert_outcomes(passed=1)
        modules.append(set((pytester.path / "loaded.txt").read_text().split()))
    assert modules[1] - modules[0] == {"aiq", "aiq.pytest_plugin"}
