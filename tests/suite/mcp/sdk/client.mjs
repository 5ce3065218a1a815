// The official TypeScript SDK as client and server, with `guardc mcp-proxy` between them, in both protocol eras: the play of client.py.
//
// Usage: client.mjs GUARDC [SERVER…]. SERVER is the command of the server, and else that of server.mjs. Good calls pass, bad ones
// do not, and the client sees why.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const here = import.meta.dirname;
const [guardc, ...given] = process.argv.slice(2);
const server = given.length ? given : [process.execPath, join(here, "server.mjs")];
const guarded = () => [
  "mcp-proxy",
  "--plan",
  join(here, "notes.guard"),
  "--session",
  "s1",
  "--store",
  mkdtempSync(join(tmpdir(), "guard-")),
];

/** What the person was asked, in order. */
let asked = [];

/** A person at the client. */
function answered({ params: { message, requestedSchema } }) {
  asked.push(message);
  if (!("approve" in requestedSchema.properties)) return { action: "accept", content: { title: "better" } };
  assert(message.includes("publish") && message.includes("editor"), message);
  return { action: "accept", content: { approve: true, name: "kim" } };
}

/** Over standard input and output. */
async function play(mode) {
  await played(new StdioClientTransport({ command: guardc, args: [...guarded(), "--", ...server] }), mode);
  console.log(`${named(mode)}: passed`);
}

/** Over Streamable HTTP: the server listens, and so does the proxy before it. */
async function playHttp(mode) {
  const listening = spawn(server[0], [...server.slice(1), "http"], { stdio: ["ignore", "pipe", "inherit"] });
  let proxy;
  try {
    const port = Number(await line(listening.stdout));
    proxy = spawn(guardc, [...guarded(), "--upstream", `http://127.0.0.1:${port}/mcp`, "--listen", "127.0.0.1:0"], {
      stdio: ["ignore", "inherit", "pipe"],
    });
    const note = await line(proxy.stderr);
    assert(note.includes("listening on"), note);
    await played(new StreamableHTTPClientTransport(new URL(note.split(" ").at(-1))), mode);
    proxy.kill();
    assert.equal((await once(proxy, "exit"))[0], 0);
  } finally {
    listening.kill("SIGKILL");
    proxy?.kill("SIGKILL");
  }
  console.log(`${named(mode)} over HTTP: passed`);
}

/** The first line of a stream; what follows is dropped. */
async function line(stream) {
  const [line] = await once(createInterface(stream), "line");
  return line;
}

async function played(transport, mode) {
  asked = [];
  const client = new Client(
    { name: "notes", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  );
  client.setRequestHandler("elicitation/create", answered);
  await client.connect(transport);
  const call = (name, args = {}) => client.callTool({ name, arguments: args });

  const tools = Object.fromEntries((await client.listTools()).tools.map((tool) => [tool.name, tool]));
  assert.deepEqual(Object.keys(tools).sort(), ["account", "add", "publish", "read", "rename"]);
  assert.equal(tools.add.inputSchema.properties.a.maximum, 10);
  assert.deepEqual(tools.read.inputSchema.properties.sort.enum, ["asc", "desc"]);
  assert(tools.read.description.includes("2"), tools.read.description);

  passes(await call("add", { a: 1, b: 2 }), "3");
  fails(await call("add", { a: 11, b: 2 }), "10");
  fails(await call("drop_all"), "drop_all");
  passes(await call("read", { title: "x" }), "x, asc");
  passes(await call("read", { title: "x" }), "x, asc");
  fails(await call("read", { title: "x" }), "2");

  const secret = await call("account", { id: 1 });
  passes(secret);
  assert(!JSON.stringify(secret).includes("hunter2") && text(secret).includes("ann"), JSON.stringify(secret));

  passes(await call("publish", { title: "x" }), "published x");
  passes(await call("rename", { title: "x" }), "x is better");
  fails(await call("rename", { title: "x" }), "1");
  assert(asked.length === 2 && asked[1] === "Which title?", String(asked));
  await client.close();
}

const text = (result) => result.content.map((part) => part.text ?? "").join("");

function passes(result, expected) {
  assert(!result.isError && (expected === undefined || text(result) === expected), JSON.stringify(result));
}

function fails(result, why) {
  assert(result.isError && text(result).includes(why), JSON.stringify(result));
}

const named = (mode) => mode.pin ?? mode;

setTimeout(() => assert.fail("the test takes too long"), 120_000).unref();
for (const mode of ["legacy", { pin: "2026-07-28" }, "auto"]) {
  await play(mode);
  await playHttp(mode);
}
