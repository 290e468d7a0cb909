// Sends a question, follows the events of its task, shows plans for approval, and the report. Whatever comes from agents
// is shown as text; only the report is HTML, which the server has made safe, on a page whose policy runs no other script.
const byId = (id) => document.getElementById(id);
let task = null;
let approval = null;

async function call(path, options = {}) {
  const headers = { ...options.headers };
  if (byId("key").value) headers["X-API-Key"] = byId("key").value;
  if (options.body) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { ...options, headers });
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  throw Object.assign(new Error(body?.error?.message ?? response.statusText), { status: response.status });
}

const json = async (path, options) => (await call(path, options)).json();
const post = (path, body) => json(path, { method: "POST", body: JSON.stringify(body) });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function add(list, text, kind) {
  const item = document.createElement("li");
  item.textContent = text;
  if (kind) item.className = kind;
  list.append(item);
}

// EventSource sends no key, and a key in an address ends up in logs, so the stream is read with fetch.
async function follow(id) {
  let lastSeq = 0;
  while (task === id) {
    try {
      const headers = lastSeq ? { "Last-Event-ID": String(lastSeq) } : {};
      const response = await call(`api/v1/stream/sse?workflow_id=${encodeURIComponent(id)}`, { headers });
      if (response.status === 204) return;
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let buffer = ""; ; ) {
        const { value, done } = await reader.read();
        if (done || task !== id) break;
        const blocks = (buffer + value).split("\n\n");
        buffer = blocks.pop();
        for (const block of blocks) {
          const data = block.split("\n").find((line) => line.startsWith("data: "));
          if (!data) continue;
          const event = JSON.parse(data.slice(6));
          lastSeq = event.seq;
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
  const texts = {
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
  add(byId("events"), (texts[type] ?? (() => message))(), type.toLowerCase());
  const known = new Set([...byId("sources").children].map((item) => item.textContent));
  for (const source of payload.sources ?? []) if (!known.has(source)) add(byId("sources"), source);
  if (type === "APPROVAL_REQUESTED") ask(payload, message);
  if (type === "APPROVAL_DECISION" || type === "STREAM_END" || payload.what === "restart") ask(null);
  byId("status").textContent = type === "WORKFLOW_COMPLETED" ? payload.status : approval ? "waiting for you" : "running";
}

function ask(request, prompt) {
  approval = request;
  byId("approval").hidden = !request;
  if (!request) return;
  byId("asked").textContent = request.kind === "plan" ? "Approve this plan?" : "A question for you";
  byId("approve").hidden = request.kind === "question";
  byId("reject").textContent = request.kind === "question" ? "Skip" : "Reject";
  byId("prompt").textContent = prompt;
  byId("feedback").value = "";
}

async function decide(approved) {
  const decision = { workflow_id: task, approval_id: approval.approval_id, approved, feedback: byId("feedback").value };
  await post("api/v1/approvals/decision", decision).catch(fail);
}

function row(...cells) {
  const line = byId("audit").insertRow();
  for (const text of cells) line.insertCell().textContent = text;
}

async function finish(id) {
  const record = await json(`api/v1/tasks/${encodeURIComponent(id)}`);
  byId("status").textContent = record.error ? `${record.status}: ${record.error.message}` : record.status;
  if (record.result === null) return;
  byId("text").innerHTML = await (await call(`api/v1/tasks/${encodeURIComponent(id)}/report`)).text();
  byId("audit").replaceChildren();
  for (const cite of record.audit?.valid_citations ?? []) row("kept", `[${cite.number}]`, cite.source, cite.level);
  for (const cite of record.audit?.removed_citations ?? []) row("removed", cite.number ?? "", cite.target, cite.reason);
  const { calls, total_tokens: tokens, estimated_cost: cost } = record.usage;
  byId("usage").textContent = `citations ${record.citation_status ?? "none"}; ${calls} model calls, ${tokens} tokens, ` +
    (cost === null ? "cost not known" : `$${cost.toFixed(4)}`);
  byId("report").hidden = false;
}

function fail(error) {
  byId("status").textContent = error.message;
  if (error.status === 401) byId("keyed").hidden = false;
}

async function watch(id) {
  task = id;
  location.hash = id;
  for (const list of ["events", "sources"]) byId(list).replaceChildren();
  byId("report").hidden = true;
  byId("cancel").hidden = false;
  ask(null);
  try {
    await follow(id);
    if (task === id) await finish(id);
  } catch (error) {
    fail(error);
  }
  if (task === id) byId("cancel").hidden = true;
}

byId("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  byId("status").textContent = "asking";
  const body = { query: byId("query").value, agent: byId("agent").value };
  await post("api/v1/tasks", body).then((record) => watch(record.task_id), fail);
});
byId("cancel").addEventListener("click", () => call(`api/v1/tasks/${task}`, { method: "DELETE" }).catch(fail));
byId("approve").addEventListener("click", () => decide(true));
byId("reject").addEventListener("click", () => {
  byId("feedback").value = "";
  decide(false);
});
// What to change in a plan, or the answer to a question.
byId("change").addEventListener("click", () => byId("feedback").value.trim() && decide(approval.kind === "question"));

const openapi = await (await fetch("openapi.json")).json();
const { schema } = openapi.paths["/api/v1/tasks"].post.requestBody.content["application/json"];
for (const { $ref } of schema.oneOf ?? [schema]) {
  const { const: name } = openapi.components.schemas[$ref.split("/").pop()].properties.agent;
  byId("agent").append(new Option(name, name));
}
byId("send").disabled = false;
byId("keyed").hidden = !openapi.components.securitySchemes;
if (location.hash.length > 1) watch(location.hash.slice(1));
