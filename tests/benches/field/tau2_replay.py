"""The airline and retail tasks of tau2-bench against our guards, without a model.

    python tau2_replay.py GUARDC [--domain NAME …] [--verbose] [--mutate] [--json FILE]

Every call of a task's ground truth is proposed to the guard, after the look-ups that an agent must make to know what it does, and runs on
the benchmark's own tools and data. The customer agrees to what the guard asks. A refused write is a false alarm, or a call that
contradicts the written policy; `docs/field.md` says which.

With `--mutate`, each write that the guard would let pass is first proposed with one argument changed, once for each change of `tau2_mutants.py`. Nobody agrees to
those, and none of them runs.
"""

import argparse
import collections
import copy
import json
import pathlib

from inspect_ai.util import Store
from inspect_evals.tau2.airline.AirlineAgentTools import AirlineAgentTools
from inspect_evals.tau2.retail.RetailAgentTools import RetailAgentTools
from inspect_evals.tau2.utils import TAU2_DATA_DIR

from sidecar import Session, Sidecar
from tau2_mutants import mutants

GUARDS = pathlib.Path(__file__).parents[3] / "specs" / "field" / "tau2"
# The moment at which the tasks play.
NOW = "2024-05-15T15:00:00Z"
READS = ("get_", "list_", "find_", "search_", "calculate", "transfer")


class World:
    """The benchmark's tools on a fresh copy of its data, behind a guard."""

    def __init__(self, tools, task, sidecar, guard):
        self.tools, self.done = tools, set()
        actions = task["evaluation_criteria"].get("actions") or []
        ids = [action["arguments"].get("user_id", "") for action in actions]
        self.session = Session(sidecar, guard, "\n".join([said(task), *ids]), NOW)

    def call(self, tool, args):
        """Plays a call; the customer agrees to what is asked."""
        run = getattr(self.tools, tool, None)

        def execute():
            return as_json(run(**copy.deepcopy(args))) if run else ""

        if self.session.call(tool, args, execute, True):
            self.done.add((tool, json.dumps(args, sort_keys=True)))

    def once(self, tool, **args):
        """Plays a call, unless it has succeeded already."""
        if (tool, json.dumps(args, sort_keys=True)) not in self.done:
            self.call(tool, args)

    def has_called(self, *tools):
        """Whether one of the tools has succeeded."""
        return any(tool in tools for tool, _ in self.done)


def said(task):
    """The words of the customer."""
    script = task["user_scenario"]["instructions"]
    if isinstance(script, str):
        return script
    return "\n".join(str(script.get(part) or "") for part in ("known_info", "reason_for_call", "task_instructions"))


def as_json(result):
    """A result as JSON where it is JSON, else as text."""
    try:
        return json.loads(result) if isinstance(result, str) else result
    except ValueError:
        return result


def look_up_status(world, flights, until):
    """Looks up what became of the flights up to a day."""
    for flight in flights:
        if flight.date <= until:
            world.once("get_flight_status", flight_number=flight.flight_number, date=flight.date)


def prepare_airline(world, tool, args):
    """Looks up what an agent of the airline must know before a write."""
    if tool.startswith(READS):
        return
    data = world.tools.db
    number = args.get("reservation_id")
    user = data.reservations[number].user_id if number else args["user_id"]
    if tool.startswith(("book", "update")) and world.has_called("book_reservation"):
        world.call("get_user_details", {"user_id": user})
    world.once("get_user_details", user_id=user)
    kept = set()
    if number:
        world.once("get_reservation_details", reservation_id=number)
        booked = data.reservations[number]
        if tool == "cancel_reservation" or args.get("cabin", booked.cabin) != booked.cabin:
            look_up_status(world, booked.flights, "2024-05-15")
        if tool == "cancel_reservation":
            world.call("cancel_reason", {"reservation_id": number, "why": "health"})
        if args.get("cabin") == booked.cabin:
            kept = {(flight.flight_number, flight.date) for flight in booked.flights}
    for wanted in args.get("flights", []):
        if (wanted["flight_number"], wanted["date"]) not in kept:
            flight = data.flights[wanted["flight_number"]]
            world.once("search_direct_flight", origin=flight.origin, destination=flight.destination, date=wanted["date"])
    if tool == "send_certificate":
        for number in data.users[user].reservations:
            world.once("get_reservation_details", reservation_id=number)
            look_up_status(world, data.reservations[number].flights, "2024-05-16")


def prepare_retail(world, tool, args):
    """Looks up what an agent of the shop must know before a call."""
    data = world.tools.db
    order = args.get("order_id")
    user = data.orders[order].user_id if order in data.orders else args.get("user_id")
    if user in data.users and not world.has_called("find_user_id_by_email", "find_user_id_by_name_zip"):
        if not tool.startswith("find_"):
            world.call("find_user_id_by_email", {"email": data.users[user].email})
    if tool.startswith(READS):
        return
    world.once("get_user_details", user_id=user)
    if order:
        world.once("get_order_details", order_id=order)
    if "new_item_ids" in args:
        products = {item.item_id: item.product_id for item in data.orders[order].items}
        for item in args["item_ids"]:
            if item in products:
                world.once("get_product_details", product_id=products[item])


def identify(world, actions):
    """Finds the customer, as an agent of the shop does before anything else."""
    for action in actions:
        args = action["arguments"]
        if action["name"].startswith("find_"):
            return
        if "order_id" in args or "user_id" in args:
            return prepare_retail(world, "get_user_details", args)


DOMAINS = {"airline": (AirlineAgentTools, prepare_airline), "retail": (RetailAgentTools, prepare_retail)}


def mutate(domain, world, tool, args, figures, verbose):
    """Proposes what the guard would let pass with one argument changed."""
    if world.session.decide(tool, args)["verdict"] not in ("allow", "ask"):
        return
    for what, mutant in mutants(domain, tool, args, world.tools.db):
        decided = world.session.decide(tool, mutant)
        figures["mutated", what, decided["verdict"]] += 1
        if verbose and decided["verdict"] != "deny":
            print(f"  {domain} {what}: {decided['verdict']} {tool} {json.dumps(mutant)[:300]}\n      {decided['message'][:300]}")


def replay(domain, sidecar, verbose, with_mutants):
    """Replays a domain; returns its figures."""
    kind, prepare = DOMAINS[domain]
    guard = GUARDS / f"{domain}.guard"
    first = kind(store=Store())
    first.initialize()
    shape, data = type(first.db), first.db.model_dump_json()
    figures = collections.Counter()
    for task in json.loads((pathlib.Path(str(TAU2_DATA_DIR)) / "domains" / domain / "tasks.json").read_text()):
        tools = kind(store=Store())
        tools.db, tools.initialized = shape.model_validate_json(data), True
        world = World(tools, task, sidecar, guard)
        actions = task["evaluation_criteria"].get("actions") or []
        if domain == "retail":
            identify(world, actions)
        for action in actions:
            tool, args = action["name"], action["arguments"]
            refused = len(world.session.refused)
            prepare(world, tool, args)
            figures["look-ups refused"] += len(world.session.refused) - refused
            if with_mutants and not tool.startswith(READS):
                mutate(domain, world, tool, args, figures, verbose)
            refused = len(world.session.refused)
            world.call(tool, args)
            is_write = not tool.startswith(READS)
            figures["calls"] += 1
            figures["writes"] += is_write
            figures["writes refused"] += is_write and len(world.session.refused) > refused
            figures["reads refused"] += not is_write and len(world.session.refused) > refused
        figures["tasks"] += 1
        figures["questions"] += len(world.session.asks)
        for tool, args, verdict, message in world.session.refused if verbose else []:
            print(f"  {domain} {task['id']} {verdict} {tool} {json.dumps(args)[:300]}\n      {message[:400]}")
        for note in world.session.notes if verbose else []:
            print(f"  {domain} {task['id']} note {json.dumps(note)[:300]}")
        world.session.close()
    return figures


def main():
    """Replays the domains and prints a table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("guardc")
    options.add_argument("--domain", action="append", choices=sorted(DOMAINS), help="only this domain")
    options.add_argument("--verbose", action="store_true", help="shows every refusal")
    options.add_argument("--mutate", action="store_true", help="proposes each write with one argument changed, too")
    options.add_argument("--json", help="writes the figures to this file")
    options = options.parse_args()
    sidecar = Sidecar(options.guardc)
    domains = options.domain or sorted(DOMAINS)
    table = {domain: replay(domain, sidecar, options.verbose, options.mutate) for domain in domains}
    sidecar.close()
    print("| domain | tasks | calls | writes allowed | reads refused | questions a task |\n| --- | --- | --- | --- | --- | --- |")
    for domain, figures in table.items():
        allowed = figures["writes"] - figures["writes refused"]
        print(
            f"| {domain} | {figures['tasks']} | {figures['calls']} | {allowed} of {figures['writes']} "
            f"| {figures['reads refused'] + figures['look-ups refused']} | {figures['questions'] / figures['tasks']:.2f} |"
        )
    if options.mutate:
        print_mutated(table)
    if options.json:
        flat = {domain: {": ".join(key) if isinstance(key, tuple) else key: n for key, n in of.items()} for domain, of in table.items()}
        pathlib.Path(options.json).write_text(json.dumps(flat, indent=1))


def print_mutated(table):
    """Prints what became of the mutated calls, by what was changed."""
    print("\n| domain | changed | refused | asked of the customer | allowed |\n| --- | --- | --- | --- | --- |")
    for domain, figures in table.items():
        rows = collections.defaultdict(collections.Counter)
        for key, count in figures.items():
            if isinstance(key, tuple):
                rows[key[1]][key[2]] += count
        total = sum(rows.values(), collections.Counter())
        for what, row in [*sorted(rows.items()), ("**all**", total)]:
            print(f"| {domain} | {what} | {row['deny'] + row['wait']} | {row['ask']} | {row['allow']} |")


if __name__ == "__main__":
    main()
