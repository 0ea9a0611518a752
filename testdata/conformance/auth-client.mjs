// A client on Node and the npm SDK for the scenarios of the conformance suite: it signs in as the server asks, lists the
// tools and calls each. The suite gives the server's URL as the last argument. Node's own fetch obeys HTTP_PROXY when
// NODE_USE_ENV_PROXY is 1, which is how this client goes through an explicit proxy.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";

const url = new URL(process.argv.at(-1));
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

// signer answers the questions of the SDK about OAuth, and takes the place of the user: it follows the authorization URL
// and picks the code out of where that leads.
const signer = {
  redirectUrl: "http://localhost:3000/callback",
  clientMetadata: { client_name: "mcpsnoop-conformance", redirect_uris: ["http://localhost:3000/callback"], grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] },
  clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  client: context.client_id ? { client_id: context.client_id, client_secret: context.client_secret } : undefined,
  clientInformation() { return this.client; },
  saveClientInformation(info) { this.client = info; },
  tokens() { return this.issued; },
  saveTokens(tokens) { this.issued = tokens; },
  saveCodeVerifier(verifier) { this.verifier = verifier; },
  codeVerifier() { return this.verifier; },
  async redirectToAuthorization(to) {
    const answer = await fetch(to, { redirect: "manual" });
    this.code = new URL(answer.headers.get("location")).searchParams.get("code");
  },
};

async function attempt() {
  const transport = new StreamableHTTPClientTransport(url, { authProvider: signer });
  const client = new Client({ name: "mcpsnoop-conformance", version: "1" }, { capabilities: {} });
  const signIn = async (what) => {
    for (let tries = 0; ; tries++) {
      try {
        return await what();
      } catch (e) {
        if (!(e instanceof UnauthorizedError) || !signer.code || tries === 3) throw e;
        await transport.finishAuth(signer.code);
        signer.code = undefined;
      }
    }
  };
  try {
    await client.connect(transport);
  } catch (e) {
    if (!(e instanceof UnauthorizedError) || !signer.code) throw e;
    await transport.finishAuth(signer.code);
    signer.code = undefined;
    return attempt();
  }
  const { tools } = await signIn(() => client.listTools());
  for (const t of tools) {
    const args = {};
    for (const [name, schema] of Object.entries(t.inputSchema.properties ?? {})) args[name] = schema.type === "number" ? 1 : "x";
    await signIn(() => client.callTool({ name: t.name, arguments: args }));
  }
  await client.close();
}

await attempt();
process.exit(0);
