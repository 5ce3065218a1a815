// The adapter for servers of the MCP SDK, between the SDK's own client and server, in both eras of the protocol.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, ProtocolError as ClientError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer, ProtocolError, Server, UrlElicitationRequiredError, createMcpHandler, inputRequired } from "@modelcontextprotocol/server";
import { z } from "zod";
import { Guard, GuardError } from "../lib/index.mjs";
import { Guarded } from "../integrations/mcp.mjs";
import { REFUNDS, deferred, outcomes, settledTasks, shared } from "./shared.mjs";

const INFO = { name: "orders", version: "1.0.0" };
const PAY = "guard g\ntool pay(amount: int in 1..=10)\ntool ping()";
const OFTEN = 'guard g\ntool ping()\nfeedback often every 1 calls {\n  info: "look around"\n}';

const session = (source = REFUNDS) => Guard.compile(source).session("s");
const said = (text) => ({ content: [{ type: "text", text }] });
const amount = { inputSchema: z.object({ amount: z.number() }) };
const ping = (run) => ({ ping: [{}, run] });

/** A server with tools by name: pairs of a configuration and a function. */
function serverOf(guarded, tools) {
  const server = guarded.attach(new McpServer(INFO));
  for (const [name, [config, run]] of Object.entries(tools)) server.registerTool(name, config, run);
  return server;
}

/** A server with one handler, which gets the arguments as they are. */
function plainServer(guarded, handler) {
  const server = guarded.attach(new Server(INFO, { capabilities: { tools: {} } }));
  server.setRequestHandler("tools/call", handler);
  return server;
}

/** Clients of both eras: over messages in memory, and over HTTP with a server for each request. */
const ERAS = {
  async 2025(make) {
    const client = new Client(INFO);
    const [near, far] = InMemoryTransport.createLinkedPair();
    await make().connect(far);
    await client.connect(near);
    return client;
  },
  async 2026(make) {
    const { fetch } = createMcpHandler(make);
    const client = new Client(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await client.connect(new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch: (url, init) => fetch(new Request(url, init)) }));
    return client;
  },
};

/** The answers to calls, made one after another: their texts, and whether they are errors. */
async function play(make, calls, era = "2025") {
  const client = await ERAS[era](make);
  const answers = [];
  for (const [name, args] of calls) {
    const { content, isError = false } = await client.callTool({ name, arguments: args });
    answers.push([content.map((part) => part.text).join(""), isError]);
  }
  await client.close();
  return answers;
}

const ends = (own) => Object.values(outcomes(own));

/** Waits until nothing is in flight: nobody answers a request that was cancelled. */
async function idle(own) {
  while (own.inFlight.length) await settledTasks();
}

for (const era of Object.keys(ERAS)) {
  test(`${era}: a denied call is told why, and an allowed one runs`, async () => {
    const [own, ran] = [session(), []];
    const noted = (name) => (args) => { ran.push([name, args]); return said(`${name} ran`); };
    const tools = {
      verify: [{ inputSchema: z.object({ code: z.string() }) }, noted("verify")],
      refund: [{ inputSchema: z.object({ order: z.string(), amount: z.number() }) }, noted("refund")],
    };
    const calls = [["refund", { order: "A", amount: 1 }], ["verify", { code: "1" }], ["refund", { order: "A", amount: 1 }]];
    const answers = await play(() => serverOf(new Guarded(own), tools), calls, era);
    assert.deepEqual(answers, [["`refund` requires `verify` (call `verify` first)", true], ["verify ran", false], ["refund ran", false]]);
    assert.deepEqual([ran, ends(own)], [[["verify", { code: "1" }], ["refund", { order: "A", amount: 1 }]], ["success", "success"]]);
  });

  test(`${era}: what the SDK refuses is put to the guard, and does not run`, async () => {
    const [own, ran] = [session(PAY), []];
    const make = () => {
      const server = guarded.attach(new McpServer(INFO));
      server.registerTool("pay", amount, () => ran.push("pay"));
      server.registerTool("ping", {}, () => ran.push("ping")).disable();
      return server;
    };
    const guarded = new Guarded(own);
    const answers = await play(make, [["rm", {}], ["toString", {}], ["pay", { amount: "5" }], ["pay", {}]], era);
    assert.deepEqual(answers, [["rm", {}], ["toString", {}], ["pay", { amount: "5" }], ["pay", {}]].map(([name, args]) => [own.preview(name, args).message, true]));
    await assert.rejects(play(make, [["ping", {}]], era), /disabled/);
    assert.deepEqual([ran, ends(own), own.inFlight], [[], ["failure"], []]);
  });

  test(`${era}: whatever ends a call settles it once`, async () => {
    const failing = [
      () => { throw new Error("boom"); },
      () => { throw undefined; },
      () => ({ ...said("boom"), isError: true }),
      () => { throw new UrlElicitationRequiredError([]); },
    ];
    for (const run of failing) {
      const own = session(PAY);
      await play(() => serverOf(new Guarded(own), ping(run)), [["ping", {}]], era).catch(() => undefined);
      assert.deepEqual([ends(own), own.inFlight], [["failure"], []], `${run}`);
    }
  });

  test(`${era}: a call that goes on with input from the client is judged again`, async () => {
    const own = session(PAY);
    const tools = ping((ctx) => (ctx.mcpReq.requestState() === "again" ? said("pong") : inputRequired({ requestState: "again" })));
    assert.deepEqual(await play(() => serverOf(new Guarded(own), tools), [["ping", {}]], era), [["pong", false]]);
    assert.deepEqual(ends(own), ["failure", "success"]);
  });

  test(`${era}: a call that its client gives up is settled as failed`, async () => {
    const ways = {
      abort: (client) => {
        const stop = new AbortController();
        return [client.callTool({ name: "ping" }, { signal: stop.signal }), () => stop.abort("enough")];
      },
      timeout: (client) => [client.callTool({ name: "ping" }, { timeout: 20 }), () => undefined],
      close: (client) => [client.callTool({ name: "ping" }), () => client.close()],
    };
    for (const give of Object.values(ways)) {
      const [own, began] = [session(PAY), deferred()];
      const client = await ERAS[era](() => serverOf(new Guarded(own), ping(() => { began.resolve(); return new Promise(() => {}); })));
      const [call, up] = give(client);
      const given = assert.rejects(call);
      await began.promise;
      assert.equal(own.inFlight.length, 1);
      up();
      await given;
      await idle(own);
      assert.deepEqual(ends(own), ["failure"]);
    }
  });

  test(`${era}: an engine that fails lets nothing through`, async () => {
    for (const name of ["propose", "preview", "settle"]) {
      const [own, ran] = [session(PAY), []];
      own.promises[name] = async () => { throw new GuardError("the guard does not answer"); };
      const schema = { inputSchema: z.object({ amount: z.number().transform((n) => n + 1) }) };
      await assert.rejects(play(() => serverOf(new Guarded(own), { pay: [schema, (args) => { ran.push(args); return said("paid"); }] }), [["pay", { amount: 5 }]], era), /does not answer/);
      assert.equal(ran.length, name === "settle" ? 1 : 0);
    }
    const [closed, ran] = [session(PAY), []];
    closed.close();
    await assert.rejects(play(() => serverOf(new Guarded(closed), ping(() => ran.push(1))), [["ping", {}]], era), ClientError);
    await assert.rejects(play(() => serverOf(new Guarded(closed), ping(() => ran.push(1))), [["rm", {}]], era), ClientError);
    assert.deepEqual(ran, []);
  });

  test(`${era}: a handler gets what was judged`, async () => {
    const [own, ran] = [session(PAY), []];
    const handler = ({ params }) => { ran.push(params.arguments); return said("7"); };
    const answers = await play(() => plainServer(new Guarded(own), handler), [["pay", { amount: 50 }], ["pay", { amount: 5 }], ["rm", {}]], era);
    assert.deepEqual([ran, answers.map(([, failed]) => failed), ends(own)], [[{ amount: 5 }], [true, false, true], ["success"]]);
  });
}

test("arguments that the SDK changes are judged as they were sent, and as the function gets them", async () => {
  const source = 'guard g\ntool pay(amount: int?) { deny when (amount else 1) > 10 because "too much" }';
  const optional = z.int().default(50);
  for (const [amount, run] of [[optional, 1], [optional.transform((n) => n * 10), 10], [optional.transform((n) => BigInt(n) * 10n), 10n]]) {
    const inputSchema = z.object({ amount });
    const [own, ran] = [session(source), []];
    const make = () => serverOf(new Guarded(own), { pay: [{ inputSchema }, (args) => { ran.push(args); return said("paid"); }] });
    const answers = await play(make, [["pay", {}], ["pay", { amount: 11 }], ["pay", { amount: 1, other: 1 }], ["pay", { amount: 1 }]]);
    assert.match(answers[0][0], /too much/);
    assert.match(answers[1][0], /too much/);
    assert.match(answers[2][0], /other/); // What the schema drops is judged, too.
    assert.deepEqual(ran, [{ amount: run }]);
  }
});

test("a function without a schema gets no arguments, and is judged without them", async () => {
  const own = session(PAY);
  const [[words, failed]] = await play(() => serverOf(new Guarded(own), { pay: [{}, () => said("paid")] }), [["pay", { amount: 5 }]]);
  assert.ok(failed && words.includes("amount"), words);
});

test("integers that a number cannot hold are judged and run as they are where a transport has them", async () => {
  const [own, ran] = [session('guard g\ntool pick(n: int, s: string) { deny when n == 9007199254740993 or n == 9007199254740996 because "odd" }'), []];
  const make = () => plainServer(new Guarded(own), ({ params }) => { ran.push(params.arguments.n); return said("picked"); });
  await play(make, [["pick", { n: 9007199254740993n, s: "" }], ["pick", { n: 9007199254740995n, s: "" }], ["pick", { n: 1, s: "9007199254740993" }]]);
  assert.deepEqual(ran, [9007199254740995n, 1]);
});

test("a function stays guarded where it is replaced, renamed, or called by another", async () => {
  const [own, ran] = [session(PAY), []];
  let first;
  const make = () => {
    const server = new Guarded(own).attach(new McpServer(INFO));
    first = server.registerTool("ping", {}, () => said("old"));
    first.update({ callback: () => { ran.push("new"); return said("new"); } });
    server.registerTool("pay", amount, (args, ctx) => first.handler(ctx));
    return server;
  };
  const answers = await play(make, [["ping", {}], ["pay", { amount: 5 }]]);
  assert.deepEqual([answers[0], ran.length, ends(own)], [["new", false], 1, ["success", "failure"]]);
  assert.match(answers[1][0], /outside of its server/);
  await assert.rejects(async () => first.handler({}), GuardError);
  const renamed = await play(() => { const server = make(); first.update({ name: "rm" }); return server; }, [["rm", {}]]);
  assert.deepEqual([renamed[0][1], ran.length], [true, 1]);
});

test("what the SDK runs for a tool cannot be replaced past the guard", async () => {
  const own = session(PAY);
  const make = () => {
    const server = new Guarded(own).attach(new McpServer(INFO));
    const tool = server.registerTool("ping", {}, () => said("guarded"));
    assert.throws(() => { tool.executor = () => said("other"); }, GuardError);
    tool.update({ paramsSchema: z.object({}) });
    assert.throws(() => { tool.executor = () => said("other"); }, GuardError);
    return server;
  };
  assert.deepEqual(await play(make, [["ping", {}]]), [["guarded", false]]);
  const registry = (tools) => () => {
    const server = serverOf(new Guarded(own), ping(() => said("guarded")));
    server._registeredTools = tools; // As a later version of the SDK, or a wrapper of it, might.
    return server;
  };
  const other = { enabled: true, executor: async () => said("other"), inputSchema: undefined };
  await assert.rejects(play(registry({ ping: other }), [["ping", {}]]), /another function than the guarded one/);
  assert.deepEqual([ends(own), own.inFlight], [["success", "failure"], []]);
});

test("a handler of its own on a server of functions is judged as it is called", async () => {
  const [own, ran] = [session(PAY), []];
  const make = () => {
    const server = serverOf(new Guarded(own), ping(() => said("pong")));
    server.server.setRequestHandler("tools/call", ({ params }) => { ran.push(params.name); return said("own"); });
    return server;
  };
  assert.deepEqual([await play(make, [["pay", { amount: 50 }], ["ping", {}]]).then((answers) => answers.map(([, failed]) => failed)), ran], [[true, false], ["ping"]]);
});

test("a handler for whatever else there is serves no tool past the guard", async () => {
  const [own, ran] = [session(PAY), []];
  const make = () => {
    const server = new Guarded(own).attach(new Server(INFO, { capabilities: { tools: {} } }));
    server.fallbackRequestHandler = ({ method, params }) => { ran.push([method, params.arguments]); return said("served"); };
    return server;
  };
  const answers = await play(make, [["pay", { amount: 50 }], ["pay", { amount: 5 }]]);
  assert.deepEqual([answers.map(([, failed]) => failed), ran, ends(own)], [[true, false], [["tools/call", { amount: 5 }]], ["success"]]);
});

test("servers that the guard cannot stand in are refused", () => {
  const guarded = new Guarded(session());
  const late = new McpServer(INFO);
  late.registerTool("ping", {}, () => said("pong"));
  assert.throws(() => guarded.attach(late), /already exists/);
  assert.throws(() => guarded.attach(new McpServer(INFO, { capabilities: { tools: {} } })), /already exists/);
  const server = guarded.attach(new Server(INFO, { capabilities: { tools: {} } }));
  assert.throws(() => server.setRequestHandler("tools/call", { params: z.object({}) }, () => said("")), GuardError);
  assert.throws(() => server.setRequestHandler(z.object({ method: z.literal("tools/call") }), () => said("")), GuardError);
});

test("results are settled as the tool made them", async () => {
  const results = [
    [{ content: [], structuredContent: { n: 5 } }, { n: 5 }],
    [said("7"), 7],
    [said("a b"), "a b"],
    [{ content: [...said("1").content, ...said("2").content] }, "1\n2"],
    [{ content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }, ""],
  ];
  for (const [result, expected] of results) {
    const own = session(PAY);
    await play(() => serverOf(new Guarded(own), ping(() => result)), [["ping", {}]]);
    const settled = own.records().map((line) => JSON.parse(line)).find(({ kind }) => kind === "settle").payload;
    assert.deepEqual([settled.success, settled.result], [true, expected]);
  }
});

test("a result that the output's schema refuses was a success, for the function has run", async () => {
  const own = session(PAY);
  const [[words, failed]] = await play(() => serverOf(new Guarded(own), { ping: [{ outputSchema: z.object({ n: z.number() }) }, () => said("pong")] }), [["ping", {}]]);
  assert.ok(failed && words.includes("output schema"), words);
  assert.deepEqual(ends(own), ["success"]);
});

test("feedback is a further text of a result, and waits where nobody reads the result", async () => {
  const [own, stop] = [session(OFTEN), new AbortController()];
  const { settle } = own.promises;
  own.promises.settle = async (...given) => {
    const settled = await settle(...given);
    stop.abort();
    await settledTasks();
    return settled;
  };
  const client = await ERAS[2025](() => serverOf(new Guarded(own), ping(() => said("pong"))));
  await assert.rejects(client.callTool({ name: "ping" }, { signal: stop.signal }));
  await idle(own);
  const { content, isError } = await client.callTool({ name: "ping" });
  assert.deepEqual([content[0].text, content.slice(1).filter(({ text }) => text.includes("look around")).length, isError], ["pong", 2, undefined]);
});

test("a person is asked, one call after another, or the client is told", async () => {
  const asked = [];
  const approve = async ({ args }, role) => { asked.push(`${role} ${args.n}`); await settledTasks(); return args.n === 1 ? { by: "ida" } : undefined; };
  for (const [options, runs] of [[{ approve }, [1]], [{}, []]]) {
    const [own, ran] = [session("guard g\ntool pay(n: int) { approval boss }"), []];
    const client = await ERAS[2025](() => serverOf(new Guarded(own, options), { pay: [{ inputSchema: z.object({ n: z.int() }) }, ({ n }) => { ran.push(n); return said("paid"); }] }));
    const answers = await Promise.all([1, 2].map((n) => client.callTool({ name: "pay", arguments: { n } })));
    assert.match(answers[1].content[0].text, /needs the approval of boss/);
    assert.deepEqual(ran, runs);
  }
  assert.deepEqual(asked, ["boss 1", "boss 2"]);
});

test("calls that exclude each other wait for one another", async () => {
  const own = shared();
  let [inside, most] = [0, 0];
  const write = async () => { most = Math.max(most, ++inside); await settledTasks(); inside--; return said("written"); };
  const client = await ERAS[2025](() => serverOf(new Guarded(own), { write: [{ inputSchema: z.object({ n: z.int() }) }, write] }));
  await Promise.all([1, 2, 3, 4].map((n) => client.callTool({ name: "write", arguments: { n } })));
  assert.deepEqual([most, own.state.state.total, own.inFlight], [1, 10, []]);
});

test("ids of clients do not let a second call through", async () => {
  const [own, began, done] = [session(PAY), deferred(), deferred()];
  const guarded = new Guarded(own, { callId: (ctx) => ctx.mcpReq._meta.call });
  const client = await ERAS[2025](() => serverOf(guarded, ping(async () => { began.resolve(); await done.promise; return said("pong"); })));
  const call = () => client.callTool({ name: "ping", _meta: { call: "same" } });
  const first = call();
  await began.promise;
  const second = await call();
  done.resolve();
  assert.deepEqual([second.isError, second.content[0].text], [true, "two calls have the id `same`, and this one did not run"]);
  assert.deepEqual([(await first).content[0].text, outcomes(own)], ["pong", { same: "success" }]);
});

test("each client may have a session of its own, and one without a session gets an error", async () => {
  const [sessions, ran] = [{ ann: session(PAY), bob: session(PAY) }, []];
  const guarded = new Guarded((ctx) => sessions[ctx.mcpReq._meta?.who]);
  const client = await ERAS[2025](() => serverOf(guarded, ping(() => { ran.push(1); return said("pong"); })));
  for (const who of ["ann", "bob"]) await client.callTool({ name: "ping", _meta: { who } });
  await assert.rejects(client.callTool({ name: "ping" }), /no session/);
  assert.deepEqual([ends(sessions.ann), ends(sessions.bob), ran.length], [["success"], ["success"], 2]);
});
