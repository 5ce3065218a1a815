"""An agent behind a guard: denied, told why, doing what was missing, and let through.

    pip install 'guardc[pydantic-ai]'
    python -m guardc.examples.refunds

The agent is a real pydantic-ai agent; its model is scripted, so that no key and no network is needed.
"""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from guardc import Guard
from guardc.integrations.pydantic_ai import Guarded

GUARD = """
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
"""


def scripted_model(messages, info):
    """Wants a refund; verifies the customer when it is told to."""
    last = messages[-1].parts[-1]
    answer = last.model_response_str() if last.part_kind == "tool-return" else ""
    if "verify_customer" in answer:
        print(f"model:  {answer!r} - so I verify the customer")
        return ModelResponse(parts=[ToolCallPart("verify_customer", {"code": "123456"})])
    if answer.startswith("refunded"):
        return ModelResponse(parts=[TextPart("The refund is on its way.")])
    print("model:  I refund order A1")
    return ModelResponse(parts=[ToolCallPart("refund", {"order": "A1", "amount": 20})])


def main():
    session = Guard.compile(GUARD).session("demo")
    agent = Agent(FunctionModel(scripted_model), capabilities=[Guarded(session)])

    @agent.tool_plain
    def verify_customer(code: str) -> str:
        print(f"tool:   verify_customer runs with {code}")
        return "verified"

    @agent.tool_plain
    def refund(order: str, amount: float) -> str:
        print(f"tool:   refund runs: {amount} for {order}")
        return f"refunded {amount}"

    print("answer:", agent.run_sync("Please refund order A1.").output)
    print("spent: ", session.state["spent"]["money"]["spent"])


if __name__ == "__main__":
    main()
