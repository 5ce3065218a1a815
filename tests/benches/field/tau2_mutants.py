"""Calls of the ground truth with one argument changed, for `tau2_replay.py --mutate`.

Each mutant is what a confused or tricked agent could send in the place of the call: the identifier of somebody else, another way to pay, another amount, item, flight,
cabin, day, bag or passenger. The values come from the benchmark's own data; a fixed seed draws them.
"""

import copy
import random

# How many values of somebody else stand in for one identifier.
OTHERS = 4


def mutants(domain, tool, args, db):
    """Yields the changed argument and the mutated arguments of a call."""
    dice = random.Random(repr((domain, tool, sorted(args.items(), key=str))))
    kinds = airline if domain == "airline" else retail
    seen = [args]
    for what, path, value in kinds(tool, args, db, dice):
        mutant = copy.deepcopy(args)
        place = mutant
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        if mutant not in seen:
            seen.append(mutant)
            yield what, mutant


def some(dice, values, but):
    """A few of the values, none of which is among `but`."""
    values = sorted(value for value in values if value not in but)
    return dice.sample(values, min(OTHERS, len(values)))


def shifted(amount):
    """Amounts near and far from the right one."""
    return [value for value in (amount - 1, amount + 1, amount * 2, amount * 10, 0, -1) if value != amount]


def next_day(date):
    """The same day of the month after, and the day after."""
    year, month, day = date.split("-")
    return [f"{year}-{int(month) % 12 + 1:02}-{day}", f"{year}-{month}-{int(day) % 28 + 1:02}"]


def without_one(items):
    """The list without each of its elements, and with the first one twice."""
    return [items[:at] + items[at + 1 :] for at in range(len(items))] + [items + items[:1]]


def airline(tool, args, db, dice):
    """Mutants of a call of the airline."""
    if "user_id" in args:
        for other in some(dice, db.users, [args["user_id"]]):
            yield "somebody else", ("user_id",), other
        yield "nobody", ("user_id",), "ada_unknown_1"
    owner = args.get("user_id")
    if number := args.get("reservation_id"):
        owner = db.reservations[number].user_id
        strangers = [key for key, booked in db.reservations.items() if booked.user_id != owner]
        for other in some(dice, strangers, []):
            yield "somebody else's booking", ("reservation_id",), other
        yield "nobody's booking", ("reservation_id",), "ZZZZZZ"
    yield from not_theirs(args, owner, db, dice)
    for at, payment in enumerate(args.get("payment_methods", [])):
        for amount in shifted(payment["amount"]):
            yield "another amount", ("payment_methods", at, "amount"), amount
    if tool == "send_certificate":
        for amount in shifted(args["amount"]):
            yield "another amount", ("amount",), amount
    if tool in ("book_reservation", "update_reservation_flights"):
        yield from flights(tool, args, db, dice)
    for name in ("total_baggages", "nonfree_baggages"):
        for count in (args[name] - 1, args[name] + 1, args[name] + 5) if name in args else []:
            yield "other bags", (name,), count
    if "passengers" in args:
        for fewer in without_one(args["passengers"]):
            yield "another number of passengers", ("passengers",), fewer
    if tool == "book_reservation":
        for name in ("origin", "destination"):
            yield "another place", (name,), dice.choice([code for code in ("LAX", "JFK", "MIA") if code != args[name]])
        yield "another kind of trip", ("flight_type",), "one_way" if args["flight_type"] == "round_trip" else "round_trip"
        yield "insurance", ("insurance",), "no" if args["insurance"] == "yes" else "yes"


def payments(args):
    """Where a call says how it is paid."""
    for name in ("payment_id", "payment_method_id"):
        if name in args:
            yield (name,)
    for at in range(len(args.get("payment_methods", []))):
        yield ("payment_methods", at, "payment_id")


def not_theirs(args, owner, db, dice):
    """Mutants that pay with what is somebody else's, or nobody's."""
    own = db.users[owner].payment_methods
    foreign = [key for user in db.users.values() if user.user_id != owner for key in user.payment_methods]
    for place in payments(args):
        for other in some(dice, foreign, own):
            yield "somebody else's money", place, other
        yield "nobody's money", place, "credit_card_0000000"


def flights(tool, args, db, dice):
    """Mutants of the flights of a call."""
    for cabin in ("basic_economy", "economy", "business", "first"):
        yield "another cabin", ("cabin",), cabin
    for at, flight in enumerate(args["flights"]):
        for date in next_day(flight["date"]):
            yield "another day", ("flights", at, "date"), date
        for other in some(dice, db.flights, [flight["flight_number"]]):
            yield "another flight", ("flights", at, "flight_number"), other
        yield "no flight", ("flights", at, "flight_number"), "HAT999"
    for fewer in without_one(args["flights"]):
        yield "another number of flights", ("flights",), fewer


def retail(tool, args, db, dice):
    """Mutants of a call of the shop."""
    owner = args.get("user_id")
    if "user_id" in args:
        for other in some(dice, db.users, [owner]):
            yield "somebody else", ("user_id",), other
    if order := args.get("order_id"):
        owner = db.orders[order].user_id
        strangers = [key for key, placed in db.orders.items() if placed.user_id != owner]
        for other in some(dice, strangers, []):
            yield "somebody else's order", ("order_id",), other
        for other in some(dice, db.users[owner].orders, [order]):
            yield "another order of theirs", ("order_id",), other
        yield "nobody's order", ("order_id",), "#W0000000"
    yield from not_theirs(args, owner, db, dice)
    for place in payments(args):
        for other in some(dice, db.users[owner].payment_methods, [args[place[0]]]):
            yield "another way to pay of theirs", place, other
    known = sorted(key for product in db.products.values() for key in product.variants)
    for name in ("item_ids", "new_item_ids"):
        for at, item in enumerate(args.get(name, [])):
            for other in some(dice, known, args[name]):
                yield "another item", (name, at), other
            yield "no item", (name, at), "1000000000"
        for fewer in without_one(args.get(name, [])):
            yield "another number of items", (name,), fewer
    if tool == "cancel_pending_order":
        for reason in ("no longer needed", "ordered by mistake", "changed my mind", ""):
            yield "another reason", ("reason",), reason
    for name in ("address1", "address2", "city", "state", "country", "zip"):
        if name in args:
            yield "another address", (name,), "Elsewhere"
