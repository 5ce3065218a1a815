// An agent behind a guard: denied, told why, doing what was missing, and let through.
//
//     npm install guardc ai zod
//     node node_modules/guardc/examples/refunds_ai_sdk.mjs
//
// The agent is a real one of the Vercel AI SDK; its model is scripted, so that no key and no network is needed.
import { tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Guard } from "guardc";
import { Guarded } from "guardc/ai-sdk";
import { z } from "zod";

const GUARD = `
guard refunds

budget money = 200.00

/// Checks the code that the customer was sent.
tool verify_customer(code: string matches /^[0-9]{6}$/)

/// Gives money back.
tool refund(order: string, amount: decimal in 0.01..=500) {
  requires verify_customer
  costs amount money
  limit 1 per session by order
}
`;

const tools = {
  verify_customer: tool({
    description: "Checks the code that the customer was sent.",
    inputSchema: z.object({ code: z.string() }),
    execute({ code }) {
      console.log(`tool:   verify_customer runs with ${code}`);
      return "verified";
    },
  }),
  refund: tool({
    description: "Gives money back.",
    inputSchema: z.object({ order: z.string(), amount: z.number() }),
    execute({ order, amount }) {
      console.log(`tool:   refund runs: ${amount} for ${order}`);
      return `refunded ${amount}`;
    },
  }),
};

let calls = 0;
const call = (toolName, args) => [{ type: "tool-call", toolCallId: `call_${++calls}`, toolName, input: JSON.stringify(args) }];

/** Wants a refund; verifies the customer when it is told to. */
function answerTo({ role, content: [last] }) {
  const answer = role === "tool" ? last.output.value : "";
  if (answer.includes("verify_customer")) {
    console.log(`model:  "${answer}" - so I verify the customer`);
    return call("verify_customer", { code: "123456" });
  }
  if (answer.startsWith("refunded")) return [{ type: "text", text: "The refund is on its way." }];
  console.log("model:  I refund order A1");
  return call("refund", { order: "A1", amount: 20 });
}

const doGenerate = async ({ prompt }) => ({
  content: answerTo(prompt.at(-1)),
  finishReason: { unified: "stop" },
  usage: { inputTokens: { total: 100 }, outputTokens: { total: 10 } },
  warnings: [],
});

const session = Guard.compile(GUARD).session("demo");
const agent = new Guarded(session).agent({ model: new MockLanguageModelV4({ doGenerate }), tools });
const result = await agent.generate({ prompt: "Please refund order A1." });
console.log("answer:", result.text);
console.log("spent: ", session.state.spent.money.spent);
