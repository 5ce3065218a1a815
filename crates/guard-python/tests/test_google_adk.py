"""The plugin for Google ADK in the framework's own runner, with a scripted model."""

import asyncio

import pytest

pytest.importorskip("google.adk")

from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from conftest import outcomes, proposed

from guardc import Broken, Guard, GuardError, Incomplete
from guardc.integrations.google_adk import Approval, Guarded, UnguardedToolWarning


class Script(BaseLlm):
    turns: list
    shown: list = []

    async def generate_content_async(self, llm_request, stream=False):
        self.shown.append([part for content in llm_request.contents for part in content.parts])
        turn = self.turns.pop(0) if self.turns else "done"
        parts = [types.Part(text=turn)] if isinstance(turn, str) else turn
        if stream:
            yield LlmResponse(content=types.ModelContent(parts), partial=True)
        yield LlmResponse(content=types.ModelContent(parts), usage_metadata=types.GenerateContentResponseUsageMetadata(total_token_count=7))

    def answers(self):
        return {part.function_response.id: part.function_response.response for part in self.shown[-1] if part.function_response}

    def words(self):
        return [part.text for part in self.shown[-1] if part.text]


def call(tool, args=None, id="c1"):
    return types.Part(function_call=types.FunctionCall(id=id, name=tool, args=args or {}))


def agent_of(turns, *tools, name="agent", **options):
    return LlmAgent(name=name, model=Script(model="script", turns=list(turns), shown=[]), tools=list(tools), **options)


async def run(agent, guarded, *plugins, driven=True, **config):
    """Runs an agent, and returns the texts of its final answers."""
    runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[guarded, *plugins]))
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
    options = {"user_id": "u", "session_id": "s", "new_message": types.UserContent("go"), "run_config": RunConfig(**config)}
    events = guarded.run(runner, **options) if driven else runner.run_async(**options)
    finals = []
    async for event in events:
        if event.is_final_response() and event.content and event.content.parts[0].text:
            finals.append(event.content.parts[0].text)
    return finals


def play(session, turns, *tools, plugins=(), driven=True, config=None, agent=None, **options):
    agent = agent_of(turns, *tools, **(agent or {}))
    finals = asyncio.run(run(agent, Guarded(session, **options), *plugins, driven=driven, **(config or {})))
    return agent.model, finals


@pytest.fixture
def pay():
    return Guard.compile("guard g\ntool pay(amount: int in 1..=10)\ntool ping()").session("s")


def pay_tool(ran):
    def pay(amount: int) -> str:
        ran.append(amount)
        return "paid"

    return pay


def test_denials_are_read_verbatim_and_nothing_runs(pay):
    ran = []
    script, finals = play(pay, [[call("pay", {"amount": 50})], [call("pay", {"amount": 5}, "c2")]], pay_tool(ran))
    assert ran == [5] and finals == ["done"]
    assert script.answers() == {"c1": {"error": pay.preview("pay", {"amount": 50}).message}, "c2": {"result": "paid"}}
