// LangChain.js behind Guard, for the conformance kit:
//
//     npm ci --prefix ack/adapters
//     guardc ack run -- node ack/adapters/langchain_js/adapter.mjs
//
// The loop is the framework's own, with a scripted chat model; `guardc/langchain` is judged. A run that is streamed is `stream`,
// for which the framework puts the pieces of a turn together.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { guardMiddleware } from "guardc/langchain";
import { AIMessage, HumanMessage, ToolMessage, createAgent, createMiddleware, tool } from "langchain";
import { approve, argsOf, ask, cancelled, ended, execute, idOf, main, piecesOf, sessionOf, take, toolsOf, typedSchema, Words, written } from "../kit.mjs";

/** The conversation as the framework sends it. */
function shown(messages) {
  return messages.map((message) => {
    if (AIMessage.isInstance(message)) return { role: "assistant", text: message.text, calls: callsOf(message) };
    if (ToolMessage.isInstance(message)) return { role: "tool", text: message.text, call: message.tool_call_id, failed: message.status === "error" };
    return { role: "user", text: message.text };
  });
}

/** The calls of a message, as a provider sends them again: by the text that it keeps of them. */
function callsOf({ tool_calls = [], invalid_tool_calls = [], tool_call_chunks = [], additional_kwargs }) {
  const kept = additional_kwargs.tool_calls ?? tool_call_chunks;
  const texts = kept.map(({ id, function: called, args }) => ({ id, text: called?.arguments ?? args }));
  return [...tool_calls, ...invalid_tool_calls].map(({ id, name, args }) => {
    const place = texts.findIndex((each) => each.id === id);
    return { call: id ?? "", tool: name, args: place < 0 ? args : argsOf(texts.splice(place, 1)[0].text) };
  });
}

/** The kit is the model. */
class Scripted extends BaseChatModel {
  turns = [];
  words = new Words((text) => new HumanMessage(text));
  constructor(session) {
    super({});
    this.session = session;
  }
  _llmType() {
    return "scripted";
  }
  bindTools() {
    return this;
  }
  async next(messages) {
    const turn = await ask("model.next", { messages: shown(messages) });
    this.turns.push(turn);
    const tokens = await take(this.session, turn, this.words);
    const usage = { input_tokens: tokens, output_tokens: 0, total_tokens: tokens };
    return { turn, end: { usage_metadata: tokens ? usage : undefined, response_metadata: { finish_reason: turn.finish_reason } } };
  }
  async _generate(messages) {
    const { turn, end } = await this.next(messages);
    const calls = (turn.calls ?? []).map((call) => ({ id: idOf(call), name: call.tool, text: written(call) })).map(parsed);
    const message = new AIMessage({
      content: turn.say || turn.output || "",
      tool_calls: calls.filter(({ type }) => type === "tool_call").map(({ text, ...call }) => call),
      invalid_tool_calls: calls.filter(({ type }) => type !== "tool_call").map(({ text, ...call }) => call),
      additional_kwargs: { tool_calls: calls.map(({ id, name, text }) => ({ id, type: "function", function: { name, arguments: text } })) },
      ...end,
    });
    return { generations: [{ text: message.text, message }] };
  }
  async *_streamResponseChunks(messages, options, runManager) {
    const { turn, end } = await this.next(messages);
    const seen = new Set();
    for (const { say, at, call, tool: name, args } of piecesOf(turn)) {
      const id = at === undefined || seen.has(at) ? undefined : idOf({ call });
      seen.add(at);
      const tool_call_chunks = at === undefined ? [] : [{ index: at, id, name, args, type: "tool_call_chunk" }];
      yield await this.sent(new AIMessageChunk({ content: say ?? "", tool_call_chunks }), runManager);
    }
    yield await this.sent(new AIMessageChunk({ content: "", ...end }), runManager);
  }
  async sent(message, runManager) {
    const chunk = new ChatGenerationChunk({ text: message.text, message });
    await runManager?.handleLLMNewToken(message.text, undefined, undefined, undefined, undefined, { chunk });
    return chunk;
  }
}

/** A call as the framework's providers parse it: arguments that are no object are kept apart, as text. */
function parsed({ id, name, text }) {
  try {
    const args = JSON.parse(text);
    if (args && typeof args === "object" && !Array.isArray(args)) return { id, name, args, text, type: "tool_call" };
  } catch {
    // It is no JSON.
  }
  return { id, name, args: text, text, type: "invalid_tool_call", error: "the arguments are no object" };
}

function toolOf({ name, description, schema }, cancel) {
  const run = (args, { toolCallId }) => execute(toolCallId, name, args, cancel).then((result) => (typeof result === "string" ? result : JSON.stringify(result)));
  return tool(run, { name, description: description || name, schema: typedSchema(schema) ?? { type: "object", properties: {}, additionalProperties: true } });
}

async function loop(run) {
  const session = await sessionOf(run);
  const guard = guardMiddleware(session, { approve, integers: "bigint" });
  const model = new Scripted(session);
  const stop = new AbortController();
  const words = createMiddleware({
    name: "words",
    wrapModelCall: (request, handler) => handler({ ...request, messages: model.words.among(request.messages) }),
  });
  const agent = createAgent({ model, tools: toolsOf(run).map((each) => toolOf(each, () => stop.abort())), middleware: [words, guard] });
  // The framework's own limit of steps is not the guard's.
  const [input, options] = [{ messages: [new HumanMessage(run.prompt)] }, { recursionLimit: 10_000, signal: stop.signal }];
  try {
    if (run.streamed) for await (const _ of await agent.stream(input, { ...options, streamMode: "messages" }));
    else await agent.invoke(input, options);
  } catch (error) {
    if (stop.signal.aborted) return cancelled(session);
    throw error;
  }
  return ended(session, run, model.turns.at(-1), guard.stopped);
}

main("langchain-js", loop, "streaming");
