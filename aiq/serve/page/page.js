// Sends a question, follows the events of its task, shows plans for approval, and the report. Whatever comes from agents
// is shown as text; only the report is HTML, which the server has made safe, on a page whose policy runs no other script.
const at = (id) => document.getElementById(id);
let task = null;
let approval = null;

async function call(path, options = {}) {
  const headers = { ...options.headers };
  if (at("key").value) headers["X-API-Key"] = at("key").value;
  if (options.body) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { ...options, headers });
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => null);
  throw Object.assign(new Error(said?.error?.message ?? answer.statusText), { status: answer.status });
}

const json = async (path, options) => (await call(path, options)).json();
const post = (path, body) => json(path, { method: "POST", body: JSON.stringify(body) });
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function add(list, text, kind) {
  const item = document.createElement("li");
  item.textContent = text;
  if (kind) item.className = kind;
  list.append(item);
}

// EventSource sends no key, and a key in an address ends up in logs, so the stream is read with fetch.
async function follow(id) {
  let last = 0;
  while (task === id) {
    try {
      const headers = last ? { "Last-Event-ID": String(last) } : {};
      const answer = await call(`api/v1/stream/sse?workflow_id=${encodeURIComponent(id)}`, { headers });
      if (answer.status === 204) return;
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ; ) {
        const { value, done } = await reader.read();
        if (done || task !== id) break;
        const blocks = (rest + value).split("\n\n");
        rest = blocks.pop();
        for (const block of blocks) {
          const data = block.split("\n").find((line) => line.startsWith("data: "));
          if (!data) continue;
          const event = JSON.parse(data.slice(6));
          last = event.seq;
          show(event);
          if (event.type === "STREAM_END") return;
        }
      }
    } catch (error) {
      if (error.status && error.status < 500 && error.status !== 429) throw error;
    }
    await sleep(2000);
  }
}

function show(event) {
  const { type, message, payload } = event;
  if (type === "LLM_PARTIAL") return;
  const shown = {
    TOOL_INVOKED: () => `${message} ${JSON.stringify(payload.arguments)}`,
    TOOL_OBSERVATION: () => `${message}: ${payload.success ? `${payload.sources.length} sources` : payload.error}`,
    DATA_PROCESSING: () => `round ${payload.number}: ${payload.queries.join("; ")}`,
    AGENT_THINKING: () => `${payload.name}: ${JSON.stringify(payload.value)} ${message}`,
    AGENT_STARTED: () => `${event.agent_id} begins`,
    AGENT_COMPLETED: () => `${event.agent_id} ends`,
    LLM_OUTPUT: () => (event.agent_id === "synthesis" ? "report" : message),
    APPROVAL_REQUESTED: () => `${payload.kind} for you`,
    STREAM_END: () => "end",
  };
  add(at("events"), (shown[type] ?? (() => message))(), type.toLowerCase());
  const known = new Set([...at("sources").children].map((item) => item.textContent));
  for (const source of payload.sources ?? []) if (!known.has(source)) add(at("sources"), source);
  if (type === "APPROVAL_REQUESTED") ask(payload, message);
  if (type === "APPROVAL_DECISION" || type === "STREAM_END" || payload.what === "restart") ask(null);
  at("status").textContent = type === "WORKFLOW_COMPLETED" ? payload.status : approval ? "waiting for you" : "running";
}

function ask(asked, prompt) {
  approval = asked;
  at("approval").hidden = !asked;
  if (!asked) return;
  at("asked").textContent = asked.kind === "plan" ? "Approve this plan?" : "A question for you";
  at("approve").hidden = asked.kind === "question";
  at("reject").textContent = asked.kind === "question" ? "Skip" : "Reject";
  at("prompt").textContent = prompt;
  at("feedback").value = "";
}

async function decide(approved) {
  const decision = { workflow_id: task, approval_id: approval.approval_id, approved, feedback: at("feedback").value };
  await post("api/v1/approvals/decision", decision).catch(fail);
}

function row(...cells) {
  const line = at("audit").insertRow();
  for (const text of cells) line.insertCell().textContent = text;
}

async function finish(id) {
  const found = await json(`api/v1/tasks/${encodeURIComponent(id)}`);
  at("status").textContent = found.error ? `${found.status}: ${found.error.message}` : found.status;
  if (found.result === null) return;
  at("text").innerHTML = await (await call(`api/v1/tasks/${encodeURIComponent(id)}/report`)).text();
  at("audit").replaceChildren();
  for (const cited of found.audit?.valid_citations ?? []) row("kept", `[${cited.number}]`, cited.source, cited.level);
  for (const lost of found.audit?.removed_citations ?? []) row("removed", lost.number ?? "", lost.target, lost.reason);
  const { calls, total_tokens: tokens, estimated_cost: cost } = found.usage;
  at("usage").textContent = `citations ${found.citation_status ?? "none"}; ${calls} model calls, ${tokens} tokens, ` +
    (cost === null ? "cost not known" : `$${cost.toFixed(4)}`);
  at("report").hidden = false;
}

function fail(error) {
  at("status").textContent = error.message;
  if (error.status === 401) at("keyed").hidden = false;
}

async function watch(id) {
  task = id;
  location.hash = id;
  for (const list of ["events", "sources"]) at(list).replaceChildren();
  at("report").hidden = true;
  at("cancel").hidden = false;
  ask(null);
  try {
    await follow(id);
    if (task === id) await finish(id);
  } catch (error) {
    fail(error);
  }
  if (task === id) at("cancel").hidden = true;
}

at("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  at("status").textContent = "asking";
  const body = { query: at("query").value, agent: at("agent").value };
  await post("api/v1/tasks", body).then((made) => watch(made.task_id), fail);
});
at("cancel").addEventListener("click", () => call(`api/v1/tasks/${task}`, { method: "DELETE" }).catch(fail));
at("approve").addEventListener("click", () => decide(true));
at("reject").addEventListener("click", () => {
  at("feedback").value = "";
  decide(false);
});
// What to change in a plan, or the answer to a question.
at("change").addEventListener("click", () => at("feedback").value.trim() && decide(approval.kind === "question"));

const described = await (await fetch("openapi.json")).json();
const { schema } = described.paths["/api/v1/tasks"].post.requestBody.content["application/json"];
for (const { $ref } of schema.oneOf ?? [schema]) {
  const { const: name } = described.components.schemas[$ref.split("/").pop()].properties.agent;
  at("agent").append(new Option(name, name));
}
at("send").disabled = false;
at("keyed").hidden = !described.components.securitySchemes;
if (location.hash.length > 1) watch(location.hash.slice(1));
