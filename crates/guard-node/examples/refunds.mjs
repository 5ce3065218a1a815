// An agent behind a guard: denied, told why, doing what was missing, and let through.
//
//     npm install guardc @openai/agents zod
//     node node_modules/guardc/examples/refunds.mjs
//
// The agent is a real one of the OpenAI Agents SDK; its model is scripted, so that no key and no network is needed.
import { Agent, setTracingDisabled } from "@openai/agents";
import { ScriptedModel, assistantMessage, functionCall, modelResponder } from "@openai/agents/testing";
import { Guard } from "guardc";
import { Guarded } from "guardc/openai-agents";
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

const session = Guard.compile(GUARD).session("demo");
const guarded = new Guarded(session);

const verifyCustomer = guarded.tool({
  name: "verify_customer",
  description: "Checks the code that the customer was sent.",
  parameters: z.object({ code: z.string() }),
  execute({ code }) {
    console.log(`tool:   verify_customer runs with ${code}`);
    return "verified";
  },
});
const refund = guarded.tool({
  name: "refund",
  description: "Gives money back.",
  parameters: z.object({ order: z.string(), amount: z.number() }),
  execute({ order, amount }) {
    console.log(`tool:   refund runs: ${amount} for ${order}`);
    return `refunded ${amount}`;
  },
});

/** Wants a refund; verifies the customer when it is told to. */
const turn = modelResponder(({ index, request }) => {
  const last = request.input.at(-1);
  const answer = last.type === "function_call_result" ? last.output.text : "";
  if (answer.includes("verify_customer")) {
    console.log(`model:  "${answer}" - so I verify the customer`);
    return [functionCall("verify_customer", { code: "123456" }, { callId: `call_${index}` })];
  }
  if (answer.startsWith("refunded")) return [assistantMessage("The refund is on its way.")];
  console.log("model:  I refund order A1");
  return [functionCall("refund", { order: "A1", amount: 20 }, { callId: `call_${index}` })];
});

setTracingDisabled(true);
const model = new ScriptedModel(Array(4).fill(turn));
const agent = new Agent({ name: "support", model, tools: [verifyCustomer, refund] });
const result = await guarded.run(agent, "Please refund order A1.");
console.log("answer:", result.finalOutput);
console.log("spent: ", session.state.spent.money.spent);
