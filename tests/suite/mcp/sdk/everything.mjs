// The server that the official conformance suite judges: a tool, resource or prompt for each of its scenarios, made with the
// TypeScript SDK. It listens for Streamable HTTP on a port that it prints.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  McpServer,
  ResourceTemplate,
  acceptedContent,
  completable,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  inputResponse,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { serveHttp } from "./http.mjs";

/** One grey pixel, and one silent sample. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

const text = (text) => ({ type: "text", text });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const embedded = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });
const said = (...content) => ({ content });
const spoken = (...contents) => ({ messages: contents.map((content) => ({ role: "user", content })) });

const object = (properties, rest) => ({ type: "object", properties, ...rest });
const string = { type: "string" };
const form = (message, properties) =>
  inputRequired.elicit({ message, requestedSchema: object(properties, { required: Object.keys(properties) }) });
const sample = (words, maxTokens = 100) => inputRequired.createMessage({ messages: [{ role: "user", content: text(words) }], maxTokens });
const askName = () => form("What is your name?", { name: string });

/** Keywords of JSON Schema 2020-12 that a list must keep. */
const SCHEMA_2020_12 = object(
  {
    name: string,
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: string,
    email: string,
  },
  {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: { address: object({ street: string, city: string }, { $anchor: "addressDef" }) },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
);

const DEFAULTS = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};

const OPTIONS = ["option1", "option2", "option3"];
const TITLED = ["First", "Second", "Third"].map((title, i) => ({ const: `value${i + 1}`, title }));
const ENUMS = {
  untitledSingle: { type: "string", enum: OPTIONS },
  titledSingle: { type: "string", oneOf: TITLED },
  legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
  untitledMulti: { type: "array", items: { type: "string", enum: OPTIONS } },
  titledMulti: { type: "array", items: { anyOf: TITLED } },
};

const states = createRequestStateCodec({ key: randomBytes(32) });

function everything(notify) {
  const server = new McpServer(
    { name: "everything", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: states.verify },
    },
  );

  const tool = (name, run, schema = object({})) =>
    server.registerTool(name, { description: name, inputSchema: fromJsonSchema(schema) }, run);
  tool("test_simple_text", () => said(text("This is a simple text response for testing.")));
  tool("test_image_content", () => said(image));
  tool("test_audio_content", () => said({ type: "audio", data: WAV, mimeType: "audio/wav" }));
  tool("test_embedded_resource", () => said(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")));
  tool("test_multiple_content_types", () =>
    said(
      text("Multiple content types test:"),
      image,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
  );
  tool("test_error_handling", () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  tool(
    "test_header",
    ({ region }) => said(text(`region ${region}`)),
    object({ region: { ...string, "x-mcp-header": "Region" } }, { required: ["region"] }),
  );
  tool("json_schema_2020_12_tool", (args) => said(text(JSON.stringify(args))), SCHEMA_2020_12);

  // What a server tells and asks during a call.
  const logged = async (_, ctx) => {
    for (const step of ["started", "processing data", "completed"]) {
      await ctx.mcpReq.log("info", `Tool execution ${step}`);
      await sleep(50);
    }
    return said(text("logged"));
  };
  tool("test_tool_with_logging", logged);
  tool("test_logging_tool", logged);
  tool("test_tool_with_progress", async (_, ctx) => {
    const { progressToken } = ctx.mcpReq._meta ?? {};
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await ctx.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      await sleep(50);
    }
    return said(text(String(progressToken)));
  });
  tool("test_reconnection", async (_, ctx) => {
    ctx.http?.closeSSE?.();
    await sleep(100);
    return said(text("Reconnection test completed successfully."));
  });
  const asks = (name, input, properties) =>
    tool(
      name,
      (args, ctx) => {
        const view = inputResponse(ctx.mcpReq.inputResponses, "input");
        if (view.kind === "missing") return inputRequired({ inputRequests: { input: input(args) } });
        return said(text(JSON.stringify(view)));
      },
      properties && object(properties, { required: Object.keys(properties) }),
    );
  asks("test_sampling", ({ prompt }) => sample(prompt), { prompt: string });
  asks("test_elicitation", ({ message }) => form(message, { username: string, email: string }), { message: string });
  asks("test_elicitation_sep1034_defaults", () =>
    inputRequired.elicit({ message: "Review the defaults", requestedSchema: object(DEFAULTS) }),
  );
  asks("test_elicitation_sep1330_enums", () => inputRequired.elicit({ message: "Select options", requestedSchema: object(ENUMS) }));
  asks("test_streaming_elicitation", askName);
  asks("test_missing_capability", () => sample("Which capability?"));
  tool("test_trigger_tool_change", () => (notify?.toolsChanged(), said(text("changed"))));
  tool("test_trigger_prompt_change", () => (notify?.promptsChanged(), said(text("changed"))));

  // Results that ask for inputs.
  const inputs = (name, run) => tool(`test_input_required_result_${name}`, (_, ctx) => run(ctx, ctx.mcpReq.inputResponses));
  inputs("elicitation", (_, given) => {
    const answer = acceptedContent(given, "user_name", z.object({ name: z.string() }));
    return answer ? said(text(`Hello, ${answer.name}!`)) : inputRequired({ inputRequests: { user_name: askName() } });
  });
  inputs("sampling", (_, given) => {
    const view = inputResponse(given, "capital_question");
    if (view.kind === "sampling") return said(view.result.content);
    return inputRequired({ inputRequests: { capital_question: sample("What is the capital of France?") } });
  });
  inputs("list_roots", (_, given) => {
    const view = inputResponse(given, "client_roots");
    if (view.kind === "roots") return said(text(JSON.stringify(view.roots)));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  const confirmed = async (ctx, given) => {
    if (ctx.mcpReq.requestState() && acceptedContent(given, "confirm")) return said(text("state-ok"));
    const confirm = form("Please confirm", { ok: { type: "boolean" } });
    return inputRequired({ inputRequests: { confirm }, requestState: await states.mint({ step: 1 }, ctx) });
  };
  inputs("request_state", confirmed);
  inputs("tampered_state", confirmed);
  inputs("multiple_inputs", async (ctx, given) => {
    if (["user_name", "greeting", "client_roots"].every((key) => inputResponse(given, key).kind !== "missing"))
      return said(text(JSON.stringify(given)));
    const inputRequests = { user_name: askName(), greeting: sample("Generate a greeting", 50), client_roots: inputRequired.listRoots() };
    return inputRequired({ inputRequests, requestState: await states.mint({}, ctx) });
  });
  inputs("multi_round", async (ctx, given) => {
    const { step = 0 } = ctx.mcpReq.requestState() ?? {};
    if (step === 1 && acceptedContent(given, "step1")) {
      const step2 = form("Step 2: What is your favorite color?", { color: string });
      return inputRequired({ inputRequests: { step2 }, requestState: await states.mint({ step: 2 }, ctx) });
    }
    if (step === 2 && acceptedContent(given, "step2")) return said(text("all steps"));
    const step1 = form("Step 1: What is your name?", { name: string });
    return inputRequired({ inputRequests: { step1 }, requestState: await states.mint({ step: 1 }, ctx) });
  });
  inputs("capabilities", (ctx) => {
    const declared = ctx.mcpReq.envelope?.["io.modelcontextprotocol/clientCapabilities"] ?? {};
    const inputRequests = {
      ...(declared.elicitation && { name: askName() }),
      ...(declared.sampling && { greeting: sample("Generate a greeting") }),
      ...(declared.roots && { roots: inputRequired.listRoots() }),
    };
    return Object.keys(inputRequests).length ? inputRequired({ inputRequests }) : said(text("nothing can be asked"));
  });

  const resource = (name, uri, mimeType, content) =>
    server.registerResource(name, uri, { mimeType }, () => ({ contents: [{ uri, mimeType, ...content }] }));
  resource("static-text", "test://static-text", "text/plain", { text: "This is the content of the static text resource." });
  resource("static-binary", "test://static-binary", "image/png", { blob: PNG });
  resource("watched-resource", "test://watched-resource", "text/plain", { text: "Watched" });
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { mimeType: "application/json" },
    (uri, { id }) => ({
      contents: [
        { uri: uri.href, mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) },
      ],
    }),
  );
  if (!notify) for (const method of ["resources/subscribe", "resources/unsubscribe"]) server.server.setRequestHandler(method, () => ({}));

  const prompt = (name, run, args) => server.registerPrompt(name, { description: name, ...(args && { argsSchema: z.object(args) }) }, run);
  prompt("test_simple_prompt", () => spoken(text("This is a simple prompt for testing.")));
  prompt("test_prompt_with_arguments", ({ arg1, arg2 }) => spoken(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)), {
    arg1: completable(z.string(), (begun) => ["test1", "test2"].filter((each) => each.startsWith(begun))),
    arg2: z.string(),
  });
  prompt(
    "test_prompt_with_embedded_resource",
    ({ resourceUri }) =>
      spoken(
        embedded(resourceUri, "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
      ),
    { resourceUri: z.string() },
  );
  prompt("test_prompt_with_image", () => spoken(image, text("Please analyze the image above.")));
  prompt("test_input_required_result_prompt", (ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, "user_context");
    if (answer) return spoken(text(`In the context ${answer.context}`));
    return inputRequired({ inputRequests: { user_context: form("What context should the prompt use?", { context: string }) } });
  });
  return server;
}

/** The events of all streams in order, for clients that take a stream up again. */
const events = [];
const eventStore = {
  storeEvent: async (stream, message) => String(events.push({ stream, message })),
  getStreamIdForEventId: async (id) => events[id - 1]?.stream,
  async replayEventsAfter(id, { send }) {
    const { stream } = events[id - 1];
    for (const [i, event] of events.entries()) {
      if (i >= id && event.stream === stream && Object.keys(event.message).length) await send(String(i + 1), event.message);
    }
    return stream;
  },
};

console.log(await serveHttp(everything, { eventStore, retryInterval: 500 }));
