// Servers of the MCP SDK for TypeScript behind Guard, for the conformance kit:
//
//     npm ci --prefix ack/adapters
//     guardc ack run -- node ack/adapters/mcp_server_js/adapter.mjs
//
// The tools are those of two servers in this process, one with typed functions and one with a handler that gets arguments as
// they are; `guardc/mcp` is judged. The protocol has no agent: the loop is the client's, and tells the session what no server
// hears of, the words of the user, tokens and the stop.
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer, Server } from "@modelcontextprotocol/server";
import { Guarded } from "guardc/mcp";
import { approve, ask, cancelled, ended, execute, idOf, main, sessionOf, take, toolsOf, typedSchema } from "../kit.mjs";

const INFO = { name: "tools", version: "1.0.0" };
const NEVER = 2 ** 31 - 1; // The longest time limit of a request.

/** The id of the model's call, which the client sends along. */
const callId = (ctx) => ctx.mcpReq._meta.call;

async function outcome(ctx, name, args, cancel) {
  const result = await execute(callId(ctx), name, args, cancel);
  return { content: [{ type: "text", text: typeof result === "string" ? result : JSON.stringify(result) }] };
}

/** A server of functions, whose arguments the SDK validates and converts. */
function typedServer(guarded, tools, cancel) {
  const server = guarded.attach(new McpServer(INFO));
  for (const { name, schema } of tools) {
    server.registerTool(name, { inputSchema: typedSchema(schema) }, (args, ctx) => outcome(ctx, name, args, cancel));
  }
  return server;
}

/** A server whose one handler gets all calls as they were written. */
function plainServer(guarded, tools, cancel) {
  const server = guarded.attach(new Server(INFO, { capabilities: { tools: {} } }));
  const names = tools.map(({ name }) => name);
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: args = {} } }, ctx) => {
    try {
      if (!names.includes(name)) throw new Error(`there is no tool \`${name}\``);
      return await outcome(ctx, name, args, cancel);
    } catch (error) {
      return { content: [{ type: "text", text: error.message }], isError: true };
    }
  });
  return server;
}

/** A client of a server. Messages pass between the two as objects: integers that a number cannot hold are BigInts. */
async function connected(server) {
  const client = new Client(INFO);
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await client.connect(near);
  return client;
}

/** Arguments with the numbers that the kit's text marks, since they would not come back as they are. */
function exact(value) {
  if (typeof value === "string" && value[0] === "\u0001") return /^-?\d+$/.test(value.slice(1)) ? BigInt(value.slice(1)) : Number(value.slice(1));
  if (Array.isArray(value)) return value.map(exact);
  return value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, exact(each)])) : value;
}

/** Makes a call. What the protocol or the SDK refuses is an error, and the answer; that of the guard ends the run. */
async function answer(client, call, signal) {
  const id = idOf(call);
  const params = { name: call.tool, arguments: exact(call.args), _meta: { call: id } };
  const message = { role: "tool", call: call.call };
  try {
    const { content, isError } = await client.callTool(params, { signal, timeout: NEVER });
    return { ...message, text: content.map((part) => part.text).join("\n\n"), failed: isError === true };
  } catch (error) {
    if (error.code !== -32602) throw error; // invalid params
    return { ...message, text: error.message, failed: true };
  }
}

/** The client's loop: asks the model, calls tools at their servers, and asks the guard before it stops. */
async function converse(session, run, clientOf, signal) {
  const messages = [{ role: "user", text: run.prompt }];
  await session.promises.prompt(run.prompt);
  for (;;) {
    const turn = await ask("model.next", { messages });
    const words = [];
    const tokens = await take(session, turn, words);
    if (tokens) await session.promises.usage("tokens", tokens);
    const { calls = [] } = turn;
    messages.push({ role: "assistant", text: turn.say || turn.output || "", calls });
    messages.push(...(await Promise.all(calls.map((call) => answer(clientOf(call), call, signal)))));
    messages.push(...words.map((text) => ({ role: "user", text })));
    if (calls.length) continue;
    const stopped = await session.promises.stop(turn.finish_reason);
    if (stopped.allowed) return ended(session, run, turn, stopped);
    messages.push({ role: "user", text: stopped.message });
  }
}

async function loop(run) {
  const session = await sessionOf(run);
  const guarded = new Guarded(session, { approve, callId });
  const stop = new AbortController();
  const cancel = () => stop.abort();
  const named = toolsOf(run).filter(({ schema }) => schema.properties);
  const plain = toolsOf(run).filter(({ schema }) => !schema.properties);
  const typed = await connected(typedServer(guarded, named, cancel));
  const other = await connected(plainServer(guarded, plain, cancel));
  try {
    return await converse(session, run, ({ tool }) => (named.some(({ name }) => name === tool) ? typed : other), stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    // A server hears of a cancellation, and does not answer: its calls are settled a little later.
    while (session.inFlight.length) await new Promise(setImmediate);
    return cancelled(session);
  } finally {
    await Promise.all([typed.close(), other.close()]);
  }
}

main("mcp-server-js", loop);
