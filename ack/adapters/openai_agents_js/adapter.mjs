// The OpenAI Agents SDK behind Guard, for the conformance kit:
//
//     npm ci --prefix ack/adapters
//     guardc ack run -- node ack/adapters/openai_agents_js/adapter.mjs
//
// The loop is the framework's own, with a scripted model; `guardc/openai-agents` is judged.
import { Agent, Usage, setTracingDisabled, user } from "@openai/agents";
import { Guarded } from "guardc/openai-agents";
import { approve, argsOf, ask, cancelled, ended, execute, idOf, main, sessionOf, take, textOf, toolsOf, typedSchema, Words, written } from "../kit.mjs";

setTracingDisabled(true);

/** The conversation as the framework sends it. */
function shown({ systemInstructions, input }) {
  const said = systemInstructions ? [{ role: "system", text: systemInstructions }] : [];
  for (const item of typeof input === "string" ? [user(input)] : input) {
    if (item.type === "function_call") {
      if (said.at(-1)?.role !== "assistant") said.push({ role: "assistant", text: "" });
      (said.at(-1).calls ??= []).push({ call: item.callId, tool: item.name, args: argsOf(item.arguments) });
    } else if (item.type === "function_call_result") {
      said.push({ role: "tool", text: typeof item.output === "string" ? item.output : item.output.text, call: item.callId });
    } else {
      said.push({ role: item.role, text: textOf(item.content) });
    }
  }
  return said;
}

/** The kit is the model. */
class Scripted {
  turns = [];
  words = new Words(user);
  constructor(session) {
    this.session = session;
  }
  async getResponse(request) {
    const turn = await ask("model.next", { messages: shown(request) });
    this.turns.push(turn);
    const tokens = await take(this.session, turn, this.words);
    const output = [];
    const text = turn.say || turn.output || "";
    const calls = turn.calls ?? [];
    if (text || !calls.length) output.push({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] });
    for (const call of calls) output.push({ type: "function_call", callId: idOf(call), name: call.tool, arguments: written(call), status: "completed" });
    const usage = new Usage({ requests: 1, inputTokens: tokens, outputTokens: 0, totalTokens: tokens });
    return { usage, output, providerData: { finish_reason: turn.finish_reason } };
  }
  getStreamedResponse() {
    throw new Error("the kit is not asked for streams");
  }
}

/** The parameters of a tool: typed ones are validated and converted by the framework. */
function parametersOf({ schema }) {
  const parameters = typedSchema(schema);
  return parameters ? { parameters } : { strict: false, parameters: { type: "object", properties: {}, required: [], additionalProperties: true } };
}

function toolOf(guarded, tool, cancel) {
  return guarded.tool({
    name: tool.name,
    description: tool.description || tool.name,
    ...parametersOf(tool),
    execute: (args, context, { toolCall }) => execute(toolCall.callId, tool.name, args, cancel),
    errorFunction: (context, error) => `error: ${error.message}`,
  });
}

async function loop(run) {
  const session = await sessionOf(run);
  const guarded = new Guarded(session, { approve, integers: "bigint" });
  const model = new Scripted(session);
  const stop = new AbortController();
  const agent = new Agent({ name: "agent", model, tools: toolsOf(run).map((tool) => toolOf(guarded, tool, () => stop.abort())) });
  const callModelInputFilter = ({ modelData: { input, ...rest } }) => ({ ...rest, input: model.words.among(input) });
  try {
    await guarded.run(agent, run.prompt, { signal: stop.signal, maxTurns: null, callModelInputFilter });
  } catch (error) {
    if (stop.signal.aborted) return cancelled(session);
    throw error;
  }
  return ended(session, run, model.turns.at(-1), guarded.stopped);
}

main("openai-agents-js", loop);
