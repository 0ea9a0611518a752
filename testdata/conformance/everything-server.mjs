// A server on Node and the TypeScript SDK that has what the scenarios of the conformance suite ask for, in both eras: with
// sessions up to 2025-11-25, without from 2026-07-28 on. The argument is the port on the loopback interface; "stdio" instead
// of a port serves standard input and output.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, ResourceTemplate, acceptedContent, classifyInboundRequest, createMcpHandler, createRequestStateCodec, fromJsonSchema, inputRequired, isInitializeRequest, localhostAllowedHostnames, validateHostHeader } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const text = (s) => ({ content: [{ type: "text", text: s }] });
const object = (properties = {}, required = Object.keys(properties)) => ({ type: "object", properties, required });
const ask = (message, properties) => ({ message, requestedSchema: object(properties) });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const embedded = (uri, mimeType, s) => ({ type: "resource", resource: { uri, mimeType, text: s } });

// states seals requestState, so that what a client changes in it is refused.
const states = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });

// What a tool may ask the client for, by the capability that the client needs.
const elicitName = (message = "What is your name?") => inputRequired.elicit(ask(message, { name: { type: "string" } }));
const sample = (prompt) => inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens: 100 });
const confirm = () => inputRequired.elicit(ask("Please confirm", { ok: { type: "boolean" } }));
const answers = (ctx) => ctx.mcpReq.inputResponses;

// asks makes a tool that asks until all its questions are answered.
const asks = (questions, say, state) => async (_, ctx) => {
  const have = answers(ctx) ?? {};
  if (Object.keys(questions).every((k) => have[k] !== undefined && (have[k].action ?? "accept") === "accept" && valid(have[k]))) return text(say(have));
  return inputRequired({ inputRequests: Object.fromEntries(Object.entries(questions).map(([k, q]) => [k, q()])), ...(state && { requestState: await states.mint({ tool: state }) }) });
};
const valid = (answer) => !("content" in answer && answer.action === "accept" && "name" in answer.content && typeof answer.content.name !== "string");

// tools: what each does, by name; [what it does, input schema].
const tools = {
  test_simple_text: [async () => text("This is a simple text response for testing.")],
  test_image_content: [async () => ({ content: [image] })],
  test_audio_content: [async () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] })],
  test_embedded_resource: [async () => ({ content: [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")] })],
  test_multiple_content_types: [async () => ({ content: [...text("Multiple content types test:").content, image, embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')] })],
  test_error_handling: [async () => { throw new Error("This tool intentionally returns an error for testing"); }],
  test_tool_with_logging: [async (_, ctx) => {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await (ctx.mcpReq.envelope ? ctx.mcpReq.log("info", data) : ctx.mcpReq.notify({ method: "notifications/message", params: { level: "info", data } }));
      await sleep(50);
    }
    return text("done");
  }],
  test_logging_tool: [async (_, ctx) => { await ctx.mcpReq.log("info", "only with a level"); return text("done"); }],
  test_tool_with_progress: [async (_, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100, message: `step ${progress}` } });
      await sleep(50);
    }
    return text("done");
  }],
  test_reconnection: [async (_, ctx) => { transports.get(ctx.sessionId)?.closeSSEStream(ctx.mcpReq.id); await sleep(100); return text("Reconnection test completed successfully."); }],
  test_sampling: [async ({ prompt }, ctx) => {
    const params = { messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens: 100 };
    return text(`LLM response: ${(await ctx.mcpReq.send({ method: "sampling/createMessage", params })).content.text}`);
  }, object({ prompt: { type: "string" } })],
  test_elicitation: [async ({ message }, ctx) => elicited(ctx, ask(message, { username: { type: "string" }, email: { type: "string" } })), object({ message: { type: "string" } })],
  test_elicitation_sep1034_defaults: [async (_, ctx) => elicited(ctx, { message: "Please review the form", requestedSchema: object({
    name: { type: "string", default: "John Doe" }, age: { type: "integer", default: 30 }, score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" }, verified: { type: "boolean", default: true },
  }, []) })],
  test_elicitation_sep1330_enums: [async (_, ctx) => elicited(ctx, { message: "Please select", requestedSchema: object({
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: { type: "string", oneOf: titled("value", "Option") },
    legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
    untitledMulti: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", enum: ["option1", "option2", "option3"] } },
    titledMulti: { type: "array", minItems: 1, maxItems: 3, items: { anyOf: titled("value", "Choice") } },
  }, []) })],
  json_schema_2020_12_tool: [async (args) => text(JSON.stringify(args)), {
    $schema: "https://json-schema.org/draft/2020-12/schema", type: "object",
    $defs: { address: { $anchor: "addressDef", type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
    properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" }, contactMethod: { type: "string", enum: ["phone", "email"] }, phone: { type: "string" }, email: { type: "string" } },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] }, then: { required: ["phone"] }, else: { required: ["email"] },
    additionalProperties: false,
  }],
  test_x_mcp_header: [async ({ region }) => text(`region=${region}`), object({ region: { type: "string", "x-mcp-header": "Region" }, level: { type: "integer" } }, [])],
  test_missing_capability: [asks({ answer: () => sample("Reply with the single word: pong") }, () => "done")],
  test_streaming_elicitation: [async () => text("results only")],
  test_trigger_tool_change: [async () => { modern.notify.toolsChanged(); return text("published"); }],
  test_trigger_prompt_change: [async () => { modern.notify.promptsChanged(); return text("published"); }],
  test_input_required_result_elicitation: [asks({ user_name: () => elicitName() }, (a) => `Hello, ${a.user_name.content.name}!`)],
  test_input_required_result_sampling: [asks({ capital_question: () => sample("What is the capital of France?") }, (a) => `Sampling response: ${a.capital_question.content.text}`)],
  test_input_required_result_list_roots: [asks({ client_roots: () => inputRequired.listRoots() }, (a) => `Client exposed ${a.client_roots.roots.length} root(s)`)],
  test_input_required_result_request_state: [asks({ confirm }, () => "state-ok: requestState verified", "request_state")],
  test_input_required_result_tampered_state: [asks({ confirm }, () => "integrity-ok", "tampered_state")],
  test_input_required_result_multiple_inputs: [asks({ user_name: () => elicitName(), greeting: () => sample("Generate a greeting"), client_roots: () => inputRequired.listRoots() },
    (a) => `${a.greeting.content.text} ${a.user_name.content.name}`, "multiple_inputs")],
  test_input_required_result_multi_round: [async (_, ctx) => {
    const { round = 0, name } = ctx.mcpReq.requestState() ?? {};
    if (round === 0) return inputRequired({ inputRequests: { step1: elicitName("Step 1: What is your name?") }, requestState: await states.mint({ round: 1 }) });
    const given = acceptedContent(answers(ctx), `step${round}`);
    if (round === 1) return inputRequired({ inputRequests: { step2: inputRequired.elicit(ask("Step 2: What is your favorite color?", { color: { type: "string" } })) }, requestState: await states.mint({ round: 2, name: given?.name }) });
    return text(`Multi-round complete: ${name} likes ${given?.color}`);
  }],
  test_input_required_result_capabilities: [async (_, ctx) => {
    const can = ctx.mcpReq.envelope?.[CAPABILITIES] ?? {}, inputRequests = {};
    if (can.elicitation) inputRequests.user_name = elicitName();
    if (can.sampling) inputRequests.greeting = sample("Generate a short greeting");
    if (can.roots) inputRequests.client_roots = inputRequired.listRoots();
    return answers(ctx) || !Object.keys(inputRequests).length ? text("done") : inputRequired({ inputRequests });
  }],
};

const titled = (value, title) => ["One", "Two", "Three"].map((n, i) => ({ const: `${value}${i + 1}`, title: `${title} ${n}` }));

async function elicited(ctx, params) {
  const { action, content } = await ctx.mcpReq.send({ method: "elicitation/create", params });
  return text(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

// prompts: [arguments, content of the messages or a result].
const prompts = {
  test_simple_prompt: [[], () => [{ type: "text", text: "This is a simple prompt for testing." }]],
  test_prompt_with_arguments: [["arg1", "arg2"], (a) => [{ type: "text", text: `Prompt with arguments: arg1='${a.arg1}', arg2='${a.arg2}'` }]],
  test_prompt_with_embedded_resource: [["resourceUri"], (a) => [embedded(a.resourceUri, "text/plain", "Embedded resource content for testing."), { type: "text", text: "Please process the embedded resource above." }]],
  test_prompt_with_image: [[], () => [image, { type: "text", text: "Please analyze the image above." }]],
  test_input_required_result_prompt: [[], (_, ctx) => {
    const given = acceptedContent(answers(ctx), "user_context")?.context;
    if (given === undefined) return inputRequired({ inputRequests: { user_context: inputRequired.elicit(ask("What context should the prompt use?", { context: { type: "string" } })) } });
    return [{ type: "text", text: `Use the following context: ${given}` }];
  }],
};

const resources = {
  "static-text": { uri: "test://static-text", mimeType: "text/plain", text: "This is the content of the static text resource." },
  "static-binary": { uri: "test://static-binary", mimeType: "image/png", blob: PNG },
  "watched-resource": { uri: "test://watched-resource", mimeType: "text/plain", text: "Watched resource content" },
};

function build() {
  const server = new McpServer({ name: "mcpsnoop-everything", version: "1" }, {
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true }, logging: {}, completions: {} },
    requestState: { verify: states.verify },
  });
  for (const [name, [run, schema]] of Object.entries(tools)) {
    server.registerTool(name, { description: `The tool ${name}`, inputSchema: fromJsonSchema(schema ?? { type: "object", properties: {}, additionalProperties: false }) }, run);
  }
  for (const [name, [names, make]] of Object.entries(prompts)) {
    const result = (args, ctx) => { const got = make(args, ctx); return Array.isArray(got) ? { messages: got.map((content) => ({ role: "user", content })) } : got; };
    const argsSchema = names.length ? fromJsonSchema(object(Object.fromEntries(names.map((n) => [n, { type: "string" }])))) : undefined;
    server.registerPrompt(name, { description: `The prompt ${name}`, argsSchema }, argsSchema ? result : (ctx) => result({}, ctx));
  }
  for (const [name, contents] of Object.entries(resources)) {
    server.registerResource(name, contents.uri, { description: `The resource ${name}`, mimeType: contents.mimeType }, async () => ({ contents: [contents] }));
  }
  server.registerResource("template", new ResourceTemplate("test://template/{id}/data", { list: undefined }), { description: "A template", mimeType: "application/json" },
    async (uri, { id }) => ({ contents: [{ uri: String(uri), mimeType: "application/json", text: JSON.stringify({ id, templateTest: true }) }] }));
  for (const method of ["resources/subscribe", "resources/unsubscribe", "logging/setLevel"]) server.server.setRequestHandler(method, async () => ({}));
  server.server.setRequestHandler("completion/complete", async () => ({ completion: { values: [], total: 0, hasMore: false } }));
  return server;
}

// events keeps what was sent on event streams, for those who come back for it.
function events() {
  const kept = [];
  return {
    async storeEvent(stream, message) { kept.push({ stream, message }); return `${stream}:${kept.length}`; },
    async replayEventsAfter(last, { send }) {
      const cut = last.lastIndexOf(":"), stream = last.slice(0, cut);
      for (let i = Number(last.slice(cut + 1)); i < kept.length; i++) {
        if (kept[i].stream === stream && kept[i].message?.jsonrpc) await send(`${stream}:${i + 1}`, kept[i].message);
      }
      return stream;
    },
  };
}

const transports = new Map();
const modern = createMcpHandler(build);
const handleModern = toNodeHandler(modern);

async function open() {
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, eventStore: events(), retryInterval: 5000, onsessioninitialized: (id) => transports.set(id, transport) });
  transport.onclose = () => transports.delete(transport.sessionId);
  await build().connect(transport);
  return transport;
}

function refuse(res, status, code, message, id) {
  res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), error: { code, message } }));
}

async function serve(req, res) {
  if (!validateHostHeader(req.headers.host, localhostAllowedHostnames()).ok) return refuse(res, 403, -32000, "this host is not served here");
  let raw = "", body;
  for await (const part of req) raw += part;
  if (raw) {
    try { body = JSON.parse(raw); } catch { return refuse(res, 400, -32700, "the body is not JSON"); }
  }
  const one = (name) => [req.headers[name]].flat()[0];
  if (classifyInboundRequest({ httpMethod: req.method, protocolVersionHeader: one("mcp-protocol-version"), mcpMethodHeader: one("mcp-method"), body }).kind !== "legacy") return handleModern(req, res, body);
  const session = one("mcp-session-id");
  if (session && !transports.has(session)) return refuse(res, 404, -32001, "there is no such session", body?.id);
  if (!session && !isInitializeRequest(body)) return refuse(res, 400, -32000, "a session id is missing", body?.id);
  await (transports.get(session) ?? (await open())).handleRequest(req, res, body);
}

if (process.argv[2] === "stdio") serveStdio(build);
else createServer((req, res) => serve(req, res).catch((e) => { console.error(e); res.headersSent ? res.end() : refuse(res, 500, -32603, "it broke"); })).listen(Number(process.argv[2]), "127.0.0.1");
