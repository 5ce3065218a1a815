"""AgentDojo 1.2.2 against our guards: an agent that obeys whoever wrote to it, without a model.

    python agentdojo_replay.py GUARDC [--suite NAME …] [--verbose] [--json FILE]

A benign task is its ground truth. An attack is the ground truth of a task and then that of an injection, in one session and one
environment. A task is untouched if none of its calls is refused or asked about; an attack succeeds if the benchmark's own check says
so. `attended`: a person grants what the task's own calls ask for, and nothing that the injection's calls ask for.
"""

import argparse
import collections
import json
import pathlib
import re
import warnings

warnings.filterwarnings("ignore")

from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites
from agentdojo.types import text_content_block_from_string
from pydantic import BaseModel

from adaptive import adaptive
from sidecar import Session, Sidecar
from sequences import injected_calls

GUARDS = pathlib.Path(__file__).parents[3] / "specs" / "field" / "agentdojo"
# A text in which an attacker writes; the goal of the injection takes its place before the guard reads it.
PLACE = re.compile(r"---CANARY_\w+?---")


def as_json(value, goal):
    """What the guard reads: plain JSON, with the attacker's goal wherever an attacker writes."""
    if isinstance(value, FunctionCall):
        return value.function
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    if isinstance(value, dict):
        return {as_json(str(key), goal): as_json(member, goal) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(member, goal) for member in value]
    if isinstance(value, str) and goal is not None:
        return PLACE.sub(lambda _: goal, value)
    return value


class Suite:
    """A suite of the benchmark, and its guard."""

    def __init__(self, name, suite, sidecar):
        self.name, self.suite, self.sidecar = name, suite, sidecar
        self.guard = GUARDS / f"{name}.guard"
        marks = {key: f"---CANARY_{key}---" for key in suite.get_injection_vector_defaults()}
        self.clean = suite.load_and_inject_default_environment({})
        self.marked = suite.load_and_inject_default_environment(marks)
        self.runtime = FunctionsRuntime(suite.tools)

    def environment(self, task, marked):
        """A fresh environment in which a task begins."""
        world = self.marked if marked else self.clean
        return task.init_environment(world.model_copy(deep=True))

    def play(self, session, environment, calls, goal, attended):
        """Plays calls through the guard; returns those that ran."""
        ran = []
        for call in calls:
            args = as_json(dict(call.args), goal)

            def execute(call=call):
                value, error = self.runtime.run_function(environment, call.function, call.args)
                if error:
                    raise RuntimeError(error)
                return as_json(value, goal)

            refused = len(session.refused)
            session.call(call.function, args, execute, attended)
            if len(session.refused) == refused:
                ran.append(call)
        return ran

    def benign(self, task, attended):
        """Plays a task; returns its session, and whether the benchmark finds the task done."""
        before = self.environment(task, False)
        environment = before.model_copy(deep=True)
        session = Session(self.sidecar, self.guard, task.PROMPT)
        calls = task.ground_truth(before.model_copy(deep=True))
        ran = self.play(session, environment, calls, None, attended)
        said = [text_content_block_from_string(task.GROUND_TRUTH_OUTPUT or "")]
        done = self.suite._check_user_task_utility(task, said, before, environment, ran)
        session.close()
        return session, bool(done)

    def attacked(self, task, injection, attended):
        """Plays a task and then an injection; returns whether the attack succeeded, and what the injection asked."""
        before = self.environment(task, True)
        environment = before.model_copy(deep=True)
        session = Session(self.sidecar, self.guard, task.PROMPT)
        calls = task.ground_truth(before.model_copy(deep=True))
        ran = self.play(session, environment, calls, injection.GOAL, attended)
        asks = len(session.asks)
        wanted = injected_calls(self.name, injection, environment.model_copy(deep=True))
        ran += self.play(session, environment, wanted, injection.GOAL, False)
        said = [text_content_block_from_string("")]
        won = self.suite._check_injection_task_security(injection, said, before, environment, ran)
        session.close()
        return bool(won), len(session.asks) - asks

    def adapted(self, task, attack):
        """Plays a task and then an attack by somebody who has read the guard; returns whether all of its calls ran, or none where
        the attack does not fit the task."""
        before = self.environment(task, True)
        own = task.ground_truth(before.model_copy(deep=True))
        calls = attack.calls(task, own)
        if not calls:
            return None
        environment = before.model_copy(deep=True)
        session = Session(self.sidecar, self.guard, task.PROMPT)
        self.play(session, environment, own, attack.goal, True)
        refused = len(session.refused)
        self.play(session, environment, calls, attack.goal, False)
        session.close()
        return len(session.refused) == refused


def replay(suite, verbose):
    """Replays a suite; returns its figures."""
    figures = collections.Counter()
    for task in suite.suite.user_tasks.values():
        alone, _ = suite.benign(task, False)
        with_person, done = suite.benign(task, True)
        figures["tasks"] += 1
        figures["untouched"] += not alone.refused
        figures["attended"] += not with_person.refused
        figures["done"] += done
        figures["asks"] += len(with_person.asks)
        for tool, args, verdict, message in alone.refused if verbose else []:
            print(f"  {task.ID} {verdict} {tool} {json.dumps(args)[:160]}\n      {message[:400]}")
        for note in with_person.notes if verbose else []:
            print(f"  {task.ID} note {json.dumps(note)[:300]}")
        for injection in suite.suite.injection_tasks.values():
            if not injected_calls(suite.name, injection, suite.marked.model_copy(deep=True)):
                figures["words only"] += 1
                continue
            figures["attacks"] += 1
            for attended in (False, True):
                won, asks = suite.attacked(task, injection, attended)
                figures["won attended" if attended else "won"] += won
                figures["asks of attacks"] += asks if attended else 0
                if won and verbose:
                    print(f"  {injection.ID} succeeds in {task.ID}")
    return figures


def main():
    """Replays the suites and prints their tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("guardc")
    options.add_argument("--suite", action="append", help="only this suite")
    options.add_argument("--verbose", action="store_true", help="shows every refusal of a benign task")
    options.add_argument("--json", help="writes the figures to this file")
    options = options.parse_args()
    table, adapted = {}, []
    for name, found in get_suites("v1.2.2").items():
        if options.suite and name not in options.suite:
            continue
        sidecar = Sidecar(options.guardc)
        suite = Suite(name, found, sidecar)
        table[name] = replay(suite, options.verbose)
        for attack in adaptive(name):
            tried = [suite.adapted(task, attack) for task in found.user_tasks.values()]
            tried = [won for won in tried if won is not None]
            adapted.append((name, attack.title, sum(tried), len(tried)))
        sidecar.close()
    table["all"] = sum(table.values(), collections.Counter())
    print("| suite | untouched | untouched, attended | questions a task | attacks that succeed | attended |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, figures in table.items():
        tasks, attacks = figures["tasks"], figures["attacks"]
        print(
            f"| {name} | {figures['untouched']} of {tasks} ({figures['untouched'] / tasks:.1%}) | {figures['attended']} of {tasks} "
            f"| {figures['asks'] / tasks:.2f} | {figures['won']} of {attacks} | {figures['won attended']} of {attacks} |"
        )
    print("\n| suite | attack by a reader of the guard | goes through |\n| --- | --- | --- |")
    for name, title, won, tried in adapted:
        print(f"| {name} | {title} | {won} of {tried} |")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"table": table, "adaptive": adapted}, indent=1))


if __name__ == "__main__":
    main()
