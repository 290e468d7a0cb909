"""Golden output: whether a code change alters what agents answer, what is sent to models, or any score.

Runs the shipped experiments on the offline stack (every mini dataset, agent option, route and judge) and the 100 real
reports of ../shared/data (left out with a message if they are not beside the checkout), through the command line in
child processes. `scripts/golden.py` writes tests/golden/PART.jsonl: a line per sample and epoch, with the first 16 hex
digits of the SHA-256 of its report, raw report, audit, each judge's scores, and the model requests of agent and judges.
`--check` compares with these files instead, lists each sample and field that differs and exits with 1 if any does;
`--out DIR` also writes the digested texts, so that two versions of the code can be compared with `diff -r`;
`--only PART` (repeatable) selects parts. None of this depends on aiq's internals: rows, scores and events are read from
the run folder (`read_run`; adapt it if the format changes), and the bodies of requests come from the HTTP library,
matched with events by `request_sha256`, the digest of role and body. Requests are in the order of the agent's steps;
those of parallel calls, of concurrent agents and of judges are sorted, so that the order of arrival does not matter.

Samples run one at a time (`runner.concurrency=1`), so that a question that judges ask once per run always falls to the
same sample.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
SHARED = ROOT.parent / "shared" / "data" / "deep_research_bench"
RAW_REPORTS = SHARED / "raw_data" / "claude-3-7-sonnet-latest.jsonl.gz"
RECORD = "--record"
"""First argument of a child process that runs an experiment and records its requests."""

PERTURBED_IDS = (
    "1.none.0,1.sections.50,1.facts.25,1.roles.25,1.numbers.25,1.fabricated.25,1.shuffled.25,1.nonsense.25,"
    "1.padding.100,1.instructions.67,1.remarks.67,1.order.67"
)
META = ("dataset=conversation_mini", "dataset.name=meta", f"dataset.path={GOLDEN / 'input' / 'meta.jsonl'}")

RUNS: Mapping[str, Sequence[str]] = {
    "freshqa_mini": ("experiment=full_freshqa",),
    "deep_drb": ("experiment=deep_drb",),
    "drb_chat": ("experiment=deep_drb", "agent=ai_q", "judge=[race_absolute,citation_audit]", "limit=3"),
    "drb_shallow": ("experiment=deep_drb", "agent=ai_q_shallow", "judge=[race_absolute,world,citation_audit]"),
    "drb_simulated": (
        *("experiment=deep_drb", "agent=ai_q_chat", "dataset.ids=[4,5]", "user.kind=simulated"),
        *("judge=[race,citation_audit]", "judge.race.order=both"),
    ),
    "drb_rejected": ("experiment=deep_drb", "agent=ai_q_chat", "limit=2", "user.kind=reject", "judge=[citation_audit]"),
    "escalation": ("experiment=escalation_freshqa", "agent.escalation.policy=assessed", "limit=24", "epochs=2"),
    "shallow_freshqa": ("experiment=shallow_freshqa", "limit=24", "judge.fresheval.mode=both"),
    "hostile_mini": ("experiment=hostile_pages",),
    "documents_mini": ("experiment=documents_qa",),
    "conversation_mini": ("experiment=full_freshqa", "dataset=conversation_mini"),
    "turns_mini": ("experiment=full_freshqa", "dataset=turns_mini"),
    "meta": (
        "experiment=full_freshqa",
        "agent=ai_q_chat",
        *META,
        "judge=[citation_audit]",
        "user.kind=feedback",
        "user.feedback=[Shorter]",
    ),
    "shannon_freshqa": ("experiment=shannon_freshqa", "limit=6"),
    "shannon_drb": ("experiment=shannon_drb", "limit=2"),
    "planner_events": ("experiment=planner_events", "limit=6"),
    "planner_turns": ("experiment=planner_freshqa", "dataset=turns_mini", "limit=4"),
    "perturbed": ("experiment=judge_calibration", f"dataset.ids=[{PERTURBED_IDS}]", "epochs=1"),
}
"""Overrides by part."""
SIDE_BY_SIDE = ("shannon_freshqa", "shannon_drb", "planner_events", "planner_turns")
"""Parts whose agent has concurrent sub-agents."""

REAL_RUNS: Mapping[str, Sequence[str]] = {
    "real_reports": (
        *("experiment=deep_drb", "agent=reports", f"agent.path={RAW_REPORTS}", "judge=[citation_audit]"),
        *("dataset=drb", f"dataset.path={SHARED}"),
    ),
    "real_audited": (
        *("experiment=judge_calibration", f"agent.path={RAW_REPORTS}", "judge=[citation_audit]", "epochs=1"),
        *(f"dataset.path={SHARED}", f"dataset.ids=[{','.join(f'{n}.none.0,{n}.shuffled.25' for n in range(1, 101))}]"),
        *("web=corpus", "search=corpus", "search.corpus={temporary}/pages.jsonl"),
    ),
}
"""The real reports alone, and against most of the pages that they cite."""

REAL_AUDIT, REPAIRED_EACH = "real_audit_command", 10
"""`aiq audit` of the 100 reports; every tenth also separately, with sources and repair."""

PARTS = (*RUNS, *REAL_RUNS, REAL_AUDIT)


@dataclass(frozen=True)
class Item:
    """One sample and epoch of a part: `about` is written as it is, `texts` as digests."""

    about: Mapping[str, Any]
    texts: Mapping[str, str]

    @property
    def name(self) -> str:
        return f"{self.about['sample']}.{self.about['epoch']}"

    @property
    def line(self) -> dict[str, Any]:
        return {**self.about, **{name: digest(text) for name, text in self.texts.items()}}


def main() -> int:
    if sys.argv[1:2] == [RECORD]:
        return record(Path(sys.argv[2]), sys.argv[3:])
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, metavar="DIR", help="also write the full texts to this folder")
    parser.add_argument("--check", action="store_true", help="compare with tests/golden; write nothing there")
    parser.add_argument("--only", action="append", choices=PARTS, metavar="PART", help=f"any of {', '.join(PARTS)}")
    parser.add_argument("--jobs", type=int, default=3, metavar="N", help="parts to run at the same time (3)")
    args = parser.parse_args()
    parts = [part for part in args.only or PARTS if part in RUNS or RAW_REPORTS.is_file()]
    for left_out in sorted(set(args.only or PARTS) - set(parts)):
        print(f"{left_out}: left out, because ../shared/data is missing")
    with ThreadPoolExecutor(args.jobs) as pool:
        differences = list(pool.map(lambda part: one_part(part, args.out, check=args.check), parts))
    messages = [line for lines in differences for line in lines]
    print(*messages, sep="\n", end="\n" if messages else "")
    if args.check:
        print(f"{len(messages)} samples differ" if messages else "all as committed")
    return 1 if messages else 0


def one_part(part: str, out: Path | None, *, check: bool) -> list[str]:
    """Run a part and write or compare its lines; returns the differences."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="golden-") as name:
        temporary = Path(name)
        items = audit_command(temporary) if part == REAL_AUDIT else run_experiment(part, temporary)
    items.sort(key=lambda item: natural(item.name))
    for item in items if out is not None else ():
        write_texts(out / part / quote(item.name, safe=""), item)  # type: ignore[operator]
    print(f"{part}: {len(items)} samples, {time.monotonic() - start:.0f} s", flush=True)
    path = GOLDEN / f"{part}.jsonl"
    if check:
        committed = read_lines(path) if path.is_file() else []
        return compare(part, committed, [item.line for item in items])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(item.line) + "\n" for item in items), encoding="utf-8")
    return []


def compare(part: str, committed: Iterable[Mapping[str, Any]], now: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each sample that differs, with the fields that do."""
    before, after = ({f"{line['sample']}.{line['epoch']}": line for line in lines} for lines in (committed, now))
    messages = []
    for name in sorted(before.keys() | after.keys(), key=natural):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            messages.append(f"{part} {name}: {'not committed' if old is None else 'missing'}")
            continue
        fields = [field for field in {**old, **new} if old.get(field) != new.get(field)]
        if fields:
            messages.append(f"{part} {name}: {', '.join(fields)}")
    return messages


# Running


def run_experiment(part: str, temporary: Path) -> list[Item]:
    """One experiment, run in a child process that records the requests. Raises SystemExit if it fails."""
    overrides = RUNS.get(part) or [text.format(temporary=temporary) for text in REAL_RUNS[part]]
    if part in REAL_RUNS:
        write_pages(temporary / "pages.jsonl", [url for row in real_reports() for url in cited(row["article"])])
    requests, results = temporary / "requests.jsonl", temporary / "results"
    settings = [f"output_dir={results}", f"knowledge.dir={temporary / 'knowledge'}", "runner.concurrency=1"]
    child([__file__, RECORD, str(requests), *overrides, *settings, "runner.progress=false"], allowed=(0, 3))
    (folder,) = (path.parent for path in results.rglob("manifest.json"))
    return read_run(folder, {row["sha256"]: row for row in read_lines(requests)}, in_order=part not in SIDE_BY_SIDE)


def audit_command(temporary: Path) -> list[Item]:
    """The real reports, through `aiq audit`."""
    result, repaired, pages = (temporary / name for name in ("audit.json", "repaired.md", "pages.jsonl"))
    child(["-m", "aiq", "audit", str(RAW_REPORTS), "--json", str(result)], allowed=(0, 1))
    texts = {}
    for number, report in enumerate(json.loads(result.read_text(encoding="utf-8"))["reports"]):
        texts[report["sample_id"]] = {"audit": canonical(report)}
        if number % REPAIRED_EACH == 0:
            (row,) = (row for row in real_reports() if str(row["id"]) == report["sample_id"])
            write_pages(pages, cited(row["article"]))
            selection = ["--sample", report["sample_id"], "--sources", str(pages)]
            outputs = ["--json", str(temporary / "one.json"), "--repaired", str(repaired)]
            child(["-m", "aiq", "audit", str(RAW_REPORTS), *selection, *outputs], allowed=(0, 1))
            texts[report["sample_id"]] |= {
                "audit_with_sources": canonical(json.loads((temporary / "one.json").read_text(encoding="utf-8"))),
                "repaired": repaired.read_text(encoding="utf-8"),
            }
    return [Item({"sample": name, "epoch": 1}, fields) for name, fields in texts.items()]


def child(arguments: Sequence[str], allowed: Sequence[int]) -> None:
    """Run Python in the checkout. Raises SystemExit with its output for any exit code that is not allowed."""
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    proc = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    if proc.returncode not in allowed:
        raise SystemExit(f"golden: {' '.join(arguments)} ended with {proc.returncode}:\n{proc.stderr or proc.stdout}")


def record(path: Path, overrides: Sequence[str]) -> int:
    """Run `python -m aiq.run` in this process, and write each distinct request to a model to `path`."""
    import httpx2

    from aiq.llm.network import ModelTransport

    send = ModelTransport.handle_async_request
    seen: set[str] = set()
    file = path.open("w", encoding="utf-8")

    async def recording(self: ModelTransport, request: httpx2.Request) -> httpx2.Response:
        if request.method == "POST" and request.url.path.endswith("/chat/completions"):
            role, body = request.headers.get("x-aiq-role", ""), json.loads(await request.aread())
            sha256 = hashlib.sha256(f"{role}\n{canonical(body, indent=None)}".encode()).hexdigest()
            if sha256 not in seen:
                seen.add(sha256)
                file.write(json.dumps({"sha256": sha256, "role": role, "body": body}) + "\n")
        return await send(self, request)

    ModelTransport.handle_async_request = recording  # type: ignore[method-assign]
    sys.argv = ["aiq.run", *overrides]
    with file:
        runpy.run_module("aiq.run", run_name="__main__", alter_sys=True)
    return 0


# Reading a run folder


def read_run(folder: Path, requests: Mapping[str, Mapping[str, Any]], *, in_order: bool) -> list[Item]:
    """Every sample and epoch of a run; the last line of a key counts. `in_order`: keep the order of agents' calls."""
    rows = {(row["sample_id"], row["epoch"]): row for row in read_all(folder, "samples*.jsonl")}
    scores: dict[tuple[str, int], dict[str, dict[str, Any]]] = {key: {} for key in rows}
    for row in read_all(folder, "scores*.jsonl"):
        values = {name: rounded(row[name]) for name in ("value", "numerator", "denominator")}
        judge_scores = scores[row["sample_id"], row["epoch"]].setdefault(row["judge"], {})
        judge_scores[row["metric"]] = {"status": row["status"], **values}
    events = read_events(folder)
    return [
        Item(
            {"sample": sample, "epoch": epoch, "status": row["status"], "route": row["route"]},
            {
                "report": row["report"] or "",
                "raw_report": row["raw_report"] or "",
                "audit": canonical(row["audit"]),
                **{f"scores.{judge}": canonical(values) for judge, values in sorted(scores[sample, epoch].items())},
                "requests.agent": sent(events[sample, epoch, "agent"], requests, in_order=in_order),
                "requests.judges": sent(events[sample, epoch, "judge"], requests, in_order=False),
            },
        )
        for (sample, epoch), row in rows.items()
    ]


def read_events(folder: Path) -> dict[tuple[str, int, str], list[dict[str, Any]]]:
    """The events of each (sample, epoch, account); the index says where each session's events begin."""
    events: dict[tuple[str, int, str], list[dict[str, Any]]] = defaultdict(list)
    index = read_all(folder, "event_index.jsonl")
    for path in sorted(folder.glob("events-*.jsonl")):
        data, sessions = path.read_bytes(), [session for session in index if session["file"] == path.name]
        ends = [*(session["start"] for session in sessions[1:]), len(data)]
        for session, end in zip(sessions, ends, strict=True):
            lines = data[session["start"] : end].decode().split("\n")[:-1]
            events[session["sample_id"], session["epoch"], session["account"]] += map(json.loads, lines)
    return events


def sent(events: Iterable[dict[str, Any]], requests: Mapping[str, Mapping[str, Any]], *, in_order: bool) -> str:
    """The requests among events, as canonical JSON of role and body.

    With `in_order`, requests made within one tool call (or outside of any) keep their order, and these groups are
    sorted; without it, all requests are sorted.
    """
    groups: dict[str, list[str]] = {}
    for number, event in enumerate(events):
        if event["type"] == "model_called":
            request = requests[event["request_sha256"]]
            group = str(event["parent_id"]) if in_order else str(number)
            groups.setdefault(group, []).append(canonical({"role": request["role"], "body": request["body"]}))
    return "\n".join("\n".join(group) for group in sorted(groups.values()))


def read_all(folder: Path, pattern: str) -> list[dict[str, Any]]:
    return [row for path in sorted(folder.glob(pattern)) for row in read_lines(path)]


def read_lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:  # not str.splitlines: texts may contain other line separators
        return [json.loads(line) for line in lines]


# The real reports


def real_reports() -> list[dict[str, Any]]:
    with gzip.open(RAW_REPORTS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def cited(report: str) -> list[str]:
    """The URLs of a report except every fourth, which counts as never retrieved."""
    urls = dict.fromkeys(re.findall(r"https?://[^\s)\]>，。；）]+", report))
    return [url for number, url in enumerate(urls, start=1) if number % 4]


def write_pages(path: Path, urls: Iterable[str]) -> None:
    rows = [{"url": url, "title": "A page", "text": f"The page {url} says so."} for url in dict.fromkeys(urls)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


# Text


def canonical(value: object, indent: int | None = 1) -> str:
    """JSON with sorted keys; if `indent` is None, on one line without spaces."""
    separators = (",", ":") if indent is None else None
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=indent, separators=separators)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def rounded(value: float | None) -> float | None:
    """Rounded to 12 digits, because the last ones may differ between machines."""
    return None if value is None else float(f"{value:.12g}")


def natural(name: str) -> list[tuple[int, str]]:
    """A sort key in which 2 comes before 10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", name)]


def write_texts(folder: Path, item: Item) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in item.texts.items():
        suffix = "md" if name in ("report", "raw_report", "repaired") else "json"
        (folder / f"{name}.{suffix}").write_bytes(f"{text}\n".encode("utf-8", "surrogatepass"))


if __name__ == "__main__":
    sys.exit(main())
