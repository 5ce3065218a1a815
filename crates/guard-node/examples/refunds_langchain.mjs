// An agent behind a guard: denied, told why, doing what was missing, and let through.
//
//     npm install guardc langchain @langchain/core zod
//     node node_modules/guardc/examples/refunds_langchain.mjs
//
// The agent is a real one of LangChain.js; its chat model is scripted, so that no key and no network is needed.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { Guard } from "guardc";
import { guardMiddleware } from "guardc/langchain";
import { AIMessage, createAgent, tool } from "langchain";
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

const verifyCustomer = tool(
  ({ code }) => {
    console.log(`tool:   verify_customer runs with ${code}`);
    return "verified";
  },
  { name: "verify_customer", description: "Checks the code that the customer was sent.", schema: z.object({ code: z.string() }) },
);
const refund = tool(
  ({ order, amount }) => {
    console.log(`tool:   refund runs: ${amount} for ${order}`);
    return `refunded ${amount}`;
  },
  { name: "refund", description: "Gives money back.", schema: z.object({ order: z.string(), amount: z.number() }) },
);

let calls = 0;
const call = (name, args) => new AIMessage({ content: "", tool_calls: [{ name, args, id: `call_${++calls}` }] });

/** Wants a refund; verifies the customer when it is told to. */
function answerTo(last) {
  const answer = last.type === "tool" ? last.text : "";
  if (answer.includes("verify_customer")) {
    console.log(`model:  "${answer}" - so I verify the customer`);
    return call("verify_customer", { code: "123456" });
  }
  if (answer.startsWith("refunded")) return new AIMessage("The refund is on its way.");
  console.log("model:  I refund order A1");
  return call("refund", { order: "A1", amount: 20 });
}

class Scripted extends BaseChatModel {
  _llmType() {
    return "scripted";
  }
  bindTools() {
    return this;
  }
  async _generate(messages) {
    const message = answerTo(messages.at(-1));
    return { generations: [{ text: message.text, message }] };
  }
}

const session = Guard.compile(GUARD).session("demo");
const agent = createAgent({ model: new Scripted({}), tools: [verifyCustomer, refund], middleware: [guardMiddleware(session)] });
const result = await agent.invoke({ messages: [{ role: "user", content: "Please refund order A1." }] });
console.log("answer:", result.messages.at(-1).text);
console.log("spent: ", session.state.spent.money.spent);
