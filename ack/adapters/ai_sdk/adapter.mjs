// The Vercel AI SDK behind Guard, for the conformance kit:
//
//     npm ci --prefix ack/adapters
//     guardc ack run -- node ack/adapters/ai_sdk/adapter.mjs
//
// The loop is the framework's own, with a scripted model; `guardc/ai-sdk` is judged.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isLoopFinished, jsonSchema, simulateReadableStream, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Guarded } from "guardc/ai-sdk";
import { approve, ask, cancelled, ended, execute, idOf, main, piecesOf, sessionOf, take, textOf, toolsOf, typedSchema, written } from "../kit.mjs";

// The framework is made for Node 22, where JSON writes integers of any size; Node 20 has that behind a flag.
setFlagsFromString("--harmony-json-parse-with-source");
JSON.rawJSON ??= runInNewContext("JSON.rawJSON");

/** The conversation as the framework sends it. */
function shown(prompt) {
  const said = [];
  for (const { role, content } of prompt) {
    if (role === "tool") said.push(...content.map(({ toolCallId, output }) => ({ role, call: toolCallId, ...toldBy(output) })));
    else if (typeof content === "string") said.push({ role, text: content });
    else {
      const calls = content.filter(({ type }) => type === "tool-call").map(({ toolCallId, toolName, input }) => ({ call: toolCallId, tool: toolName, args: input }));
      said.push({ role, text: textOf(content), ...(calls.length && { calls }) });
    }
  }
  return said;
}

function toldBy({ type, value }) {
  return { text: typeof value === "string" ? value : JSON.stringify(value), failed: type.startsWith("error") };
}

/** The kit is the model. */
function scripted(session, state) {
  const next = async ({ prompt }) => {
    const turn = await ask("model.next", { messages: shown(prompt) });
    state.turn = turn;
    const tokens = await take(session, turn, state.words);
    const usage = { inputTokens: { total: tokens }, outputTokens: { total: 0 } };
    return { turn, end: { usage, finishReason: { unified: turn.finish_reason === "length" ? "length" : "stop", raw: turn.finish_reason } } };
  };
  return new MockLanguageModelV4({
    async doGenerate(options) {
      const { turn, end } = await next(options);
      const text = turn.say || turn.output;
      const calls = (turn.calls ?? []).map((call) => ({ type: "tool-call", toolCallId: idOf(call), toolName: call.tool, input: written(call) }));
      return { content: [...(text ? [{ type: "text", text }] : []), ...calls], warnings: [], ...end };
    },
    async doStream(options) {
      const { turn, end } = await next(options);
      return { stream: simulateReadableStream({ chunks: [...chunksOf(turn), { type: "finish", ...end }], chunkDelayInMs: null, initialDelayInMs: null }) };
    },
  });
}

/** A streamed turn, as a provider of the framework sends it. */
function* chunksOf(turn) {
  const calls = [];
  let isText = false;
  for (const { say, at, call, tool, args } of piecesOf(turn)) {
    if (say !== undefined) {
      if (!isText) yield { type: "text-start", id: "text" };
      isText = true;
      yield { type: "text-delta", id: "text", delta: say };
    } else {
      if (!calls[at]) {
        calls[at] = { type: "tool-call", toolCallId: idOf({ call }), toolName: tool, input: "" };
        yield { type: "tool-input-start", id: calls[at].toolCallId, toolName: tool };
      }
      calls[at].input += args ?? "";
      if (args) yield { type: "tool-input-delta", id: calls[at].toolCallId, delta: args };
    }
  }
  if (isText) yield { type: "text-end", id: "text" };
  for (const call of calls) {
    yield { type: "tool-input-end", id: call.toolCallId };
    yield call;
  }
}

function toolOf({ name, description, schema }, cancel) {
  return tool({
    description: description || name,
    inputSchema: typedSchema(schema) ?? jsonSchema({ type: "object", additionalProperties: true }),
    execute: (args, { toolCallId }) => execute(toolCallId, name, args, cancel),
  });
}

async function loop(run) {
  const session = await sessionOf(run);
  const guarded = new Guarded(session, { approve, integers: "bigint" });
  const state = { words: [], turn: undefined }; // what the user said while the agent worked; the last turn of the model
  const stop = new AbortController();
  const agent = guarded.agent({
    model: scripted(session, state),
    tools: Object.fromEntries(toolsOf(run).map((each) => [each.name, toolOf(each, () => stop.abort())])),
    stopWhen: isLoopFinished(),
    prepareStep: ({ messages }) => ({ messages: [...messages, ...state.words.splice(0).map((content) => ({ role: "user", content }))] }),
  });
  const options = { prompt: run.prompt, abortSignal: stop.signal };
  try {
    if (run.streamed) await expectStreamed(await agent.stream(options));
    else await agent.generate(options);
  } catch (error) {
    if (stop.signal.aborted) return cancelled(session);
    throw error;
  }
  if (stop.signal.aborted) return cancelled(session);
  return ended(session, run, state.turn, guarded.stopped);
}

async function expectStreamed({ fullStream }) {
  for await (const part of fullStream) if (part.type === "error") throw part.error;
}

main("ai-sdk", loop, "streaming");
