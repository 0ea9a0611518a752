// A client on Node and the TypeScript SDK for the scenarios of the conformance suite that need no sign-in: it takes the
// revision that the suite names, lists everything, calls each tool, reads each resource and gets each prompt. The suite gives
// the server's URL as the last argument, and the scenario and its calls in the environment.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const url = new URL(process.argv.at(-1));
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const modern = (process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? "") >= "2026-07-28";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

// These servers of the suite have no server/discover, which is how this SDK begins: the answer is made up here, and no byte
// of it goes over the wire.
const undiscoverable = ["http-standard-headers", "http-custom-headers", "http-invalid-tool-headers", "sep-2322-client-request-state"];

async function discovered(input, init) {
  const message = typeof init?.body === "string" ? JSON.parse(init.body) : {};
  if (message.method !== "server/discover") return fetch(input, init);
  const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {}, resources: {}, prompts: {} }, ttlMs: 0, cacheScope: "private" };
  return Response.json({ jsonrpc: "2.0", id: message.id, result });
}

// made makes arguments that fit a schema.
function made(schema) {
  const sample = { number: 1, integer: 1, boolean: true, array: [], object: {}, null: null };
  return Object.fromEntries((schema?.required ?? Object.keys(schema?.properties ?? {})).map((name) => [name, sample[schema.properties?.[name]?.type] ?? "x"]));
}

const client = new Client({ name: "mcpsnoop-conformance", version: "1" }, {
  capabilities: { elicitation: { form: { applyDefaults: true } }, ...(scenario === "request-metadata" && { sampling: {}, roots: {} }) },
  ...(modern && { versionNegotiation: { mode: "auto" } }),
});
client.setRequestHandler("elicitation/create", async ({ params }) => ({ action: "accept", content: scenario.includes("2322") ? { confirmed: true } : made({ properties: params.requestedSchema?.properties, required: [] }) }));

const attempt = async (what) => { try { return await what(); } catch (e) { console.error(String(e)); } };

await client.connect(new StreamableHTTPClientTransport(url, undiscoverable.includes(scenario) ? { fetch: discovered } : {}));
const can = client.getServerCapabilities() ?? {};
const { tools = [] } = (can.tools && await attempt(() => client.listTools())) ?? {};
const focal = tools.find((t) => t.name === "json_schema_2020_12_tool");
const calls = focal ? [{ name: "json_schema_echo", arguments: { schema: focal.inputSchema } }] : context.toolCalls ?? tools.map((t) => ({ name: t.name, arguments: made(t.inputSchema) }));
for (const c of scenario === "initialize" ? [] : calls) await attempt(() => client.callTool(c));
for (const r of (can.resources && (await attempt(() => client.listResources()))?.resources) ?? []) await attempt(() => client.readResource({ uri: r.uri }));
for (const p of (can.prompts && (await attempt(() => client.listPrompts()))?.prompts) ?? []) {
  await attempt(() => client.getPrompt({ name: p.name, arguments: Object.fromEntries((p.arguments ?? []).map((a) => [a.name, "x"])) }));
}
await client.close();
process.exit(0);
