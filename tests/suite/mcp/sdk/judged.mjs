// The client that the official conformance suite judges, made with the TypeScript SDK: it lists what there is and uses all of it.
//
// Usage: judged.mjs [GUARDC] URL. With GUARDC, `guardc mcp-proxy` is between it and the server.
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const SCHEMA = "json_schema_2020_12_tool";
const [server, guardc] = process.argv.slice(2).reverse();
let proxy;
let url = server;
if (guardc) {
  const plan = join(import.meta.dirname, "scenarios.guard");
  const store = mkdtempSync(join(tmpdir(), "guard-"));
  proxy = spawn(guardc, ["mcp-proxy", "--plan", plan, "--store", store, "--upstream", server, "--listen", "127.0.0.1:0"], {
    stdio: ["ignore", "inherit", "pipe"],
  });
  const notes = createInterface(proxy.stderr);
  for await (const note of notes) if ((url = /listening on (.*)/.exec(note)?.[1])) break;
  if (!url) throw new Error("the proxy does not listen");
}

const given = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const pin = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
const client = new Client(
  { name: "judged", version: "1.0.0" },
  {
    capabilities: { elicitation: { form: { applyDefaults: true } } },
    versionNegotiation: { mode: pin === "2026-07-28" ? { pin } : "legacy" },
  },
);
client.setRequestHandler("elicitation/create", ({ params: { requestedSchema } }) => ({
  action: "accept",
  content: requestedSchema.properties.confirmed ? { confirmed: true } : {},
}));

/** Arguments that a tool without any given ones takes. */
const ARGUMENTS = { add_numbers: { a: 5, b: 3 }, lookup_user: { id: "ann" }, valid_tool: { region: "eu" } };

try {
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  const schema = tools.find(({ name }) => name === SCHEMA)?.inputSchema;
  const calls =
    given.toolCalls ?? tools.map(({ name }) => ({ name, arguments: name === "json_schema_echo" ? { schema } : (ARGUMENTS[name] ?? {}) }));
  for (const call of calls) await client.callTool(call).catch((error) => console.error(call.name, error.message));
  const { resources, prompts } = client.getServerCapabilities() ?? {};
  if (resources) for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
  if (prompts) for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name, arguments: {} });
  await client.close();
} finally {
  proxy?.kill();
}
