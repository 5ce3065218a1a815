// The types of the package as a program uses them. It is compiled, and never run.
import { McpServer, Server } from "@modelcontextprotocol/server";
import { Agent } from "@openai/agents";
import { ApprovalNeeded, Denied, Guard, PendingApproval, Store, type Verdict } from "guardc";
import { Guarded as GuardedSdk } from "guardc/ai-sdk";
import { guardMiddleware } from "guardc/langchain";
import { Guarded as GuardedServers } from "guardc/mcp";
import { Guarded } from "guardc/openai-agents";
import { createAgent } from "langchain";
import { isStepCount, tool as sdkTool, type LanguageModel } from "ai";
import { z } from "zod";

const guard: Guard = Guard.load(new URL("file:///refunds.guard"));
const session = guard.session("s1", { workspace: "/tmp", store: new Store("/tmp/store"), clock: () => new Date(), wait: 5000 });
const verdict: Verdict = session.propose("refund", { order: "A1" }, { call: "c1" });
if (verdict.decision === "allow") session.settle(verdict.call, "done");
const later: Promise<Verdict> = session.promises.propose("refund", '{"order": "A1"}');
const answer: string = await session.call("refund", {}, async (args, { signal, call }) => (signal.aborted ? call : "done"), { signal: AbortSignal.timeout(5), timeout: 1000 });
const refund = session.tool("refund", ({ order }: { order: string }) => order.length);
const length: number = await refund({ order: "A1" });
const quiet = session.tool("refund", () => 5, { denied: "message" });
const either: string | number = await quiet({});
const learned: number = session.prompt("hello");
const charged: boolean = session.usage("tokens", 5);
try {
  await later;
} catch (error) {
  if (error instanceof ApprovalNeeded) PendingApproval.from(JSON.stringify(error.pending)).roles.join();
  if (error instanceof Denied) error.verdict.reasons.map(({ code, needs }) => [code, ...needs]);
}
const report = guard.contract("R").check("{}", { finishReason: "stop" });
const kept: number = report.kept;

const guarded = new Guarded(session, { approve: async (pending, role) => (role === "boss" ? { by: "ida" } : undefined) });
const tool = guarded.tool({ name: "refund", description: "", parameters: z.object({ order: z.string() }), execute: ({ order }) => order.length });
const agent = new Agent({ name: "a", tools: [tool], handoffs: [guarded.handoff(new Agent({ name: "b" }), { toolNameOverride: "ask_b" })] });
const result = await guarded.run(agent, "hello", { maxTurns: 5 });
const text: string | undefined = result.finalOutput;
for await (const event of guarded.stream(agent, "hello")) event.type satisfies string;

declare const model: LanguageModel;
const sdk = new GuardedSdk(session, { approve: (pending, role) => ({ by: role }) });
const tools = { refund: sdkTool({ inputSchema: z.object({ order: z.string() }), execute: ({ order }) => order.length }) };
const generated: string = (await sdk.generateText({ model, tools, prompt: "hello", stopWhen: isStepCount(5) })).text;
const streamed: string = await (await sdk.streamText({ model, tools, prompt: "hello" })).text;
const sdkAgent = sdk.agent({ model, tools, instructions: "Be brief." });
for (const { toolName } of (await sdkAgent.generate({ prompt: "hello" })).toolCalls) toolName satisfies string;
for await (const part of (await sdkAgent.stream({ messages: [] })).fullStream) part.type satisfies string;

const middleware = guardMiddleware((runtime) => runtime.configurable.session, { approve: async () => undefined, throws: true });
const chain = createAgent({ model: "openai:gpt-5", tools: [], middleware: [middleware] });
for (const message of (await chain.invoke({ messages: [] })).messages) message.text satisfies string;
const allowed: boolean | undefined = middleware.stopped?.allowed;

const servers = new GuardedServers((ctx) => (ctx.http?.authInfo ? session : session), { approve: () => undefined, callId: (ctx) => String(ctx.mcpReq.id) });
const server = servers.attach(new McpServer({ name: "orders", version: "1.0.0" }));
server.registerTool("refund", { inputSchema: z.object({ order: z.string() }) }, async ({ order }) => ({ content: [{ type: "text", text: order }] }));
const plain: Server = servers.attach(new Server({ name: "orders", version: "1.0.0" }));

// What must not compile.
// @ts-expect-error
session.propose(5);
// @ts-expect-error
new Guard();
// @ts-expect-error
guard.session("s1", { workpace: "/" });
// @ts-expect-error
await session.call("refund", {}, "no function");
// @ts-expect-error
servers.attach({});

export { answer, length, either, learned, charged, kept, text, generated, streamed, allowed, plain };
