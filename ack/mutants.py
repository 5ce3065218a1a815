#!/usr/bin/env python3
"""Mutates an adapter in Python mechanically, and counts how many of the mutants the conformance kit finds:

    python3 ack/mutants.py ack/adapters/python/adapter.py target/debug/guardc

Statements are dropped, awaits removed, conditions negated, and the first two arguments of calls swapped, each at one place.
`ack/mutants.md` explains the survivors.
"""
import ast, copy, pathlib, shutil, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

#: Statements that are definitions, or do nothing already.
KEPT = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)


def places(tree):
    """The places to mutate: what is done there, and the node or the list and the position."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.If, ast.For, ast.While, ast.Try, ast.With, ast.ExceptHandler)):
            for body in (node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])):
                for at, statement in enumerate(body):
                    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                    if not isinstance(statement, KEPT) and not text:
                        yield "drop", (body, at), statement
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            yield "negate", node, node.test
        if isinstance(node, ast.comprehension):
            for at, test in enumerate(node.ifs):
                yield "negate", (node.ifs, at), test
        if isinstance(node, ast.Call) and len(node.args) > 1 and not any(isinstance(arg, ast.Starred) for arg in node.args[:2]):
            yield "swap", node, node
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.Await):
                yield "await", (node, name), value


def mutate(kind, place):
    negated = lambda test: ast.UnaryOp(ast.Not(), test)
    match kind:
        case "drop":
            body, at = place
            body[at] = ast.Pass()
        case "negate":
            if isinstance(place, tuple):
                tests, at = place
                tests[at] = negated(tests[at])
            else:
                place.test = negated(place.test)
        case "swap":
            place.args[0], place.args[1] = place.args[1], place.args[0]
        case "await":
            node, name = place
            setattr(node, name, getattr(node, name).value)


def mutants(source):
    """Each mutant: its name, and its text."""
    tree = ast.parse(source)
    for number, (kind, _, node) in enumerate(list(places(tree))):
        fresh = copy.deepcopy(tree)
        kind, place, _ = list(places(fresh))[number]
        mutate(kind, place)
        text = " ".join(ast.unparse(node).split())
        yield f"{kind} line {node.lineno}: {text[:90]}", ast.unparse(ast.fix_missing_locations(fresh))


def survives(guardc, adapter, text):
    """Returns true if the kit finds nothing wrong with a mutant."""
    with tempfile.TemporaryDirectory(prefix="guard-mutant-") as folder:
        kit, mutant = adapter.parent.parent / "kit.py", pathlib.Path(folder) / "adapter" / "adapter.py"
        mutant.parent.mkdir()
        mutant.write_text(text, encoding="utf-8")
        if kit.exists():
            shutil.copy(kit, folder)
        run = [guardc, "ack", "run", "--fail-fast", "--jobs", "2", "--timeout", "8", "--startup-timeout", "8", "--", sys.executable, str(mutant)]
        return subprocess.run(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def main():
    adapter, guardc = pathlib.Path(sys.argv[1]), sys.argv[2]
    all_of_them = list(mutants(adapter.read_text(encoding="utf-8")))
    survived = []
    with ThreadPoolExecutor(2) as pool:
        for (name, _), lives in zip(all_of_them, pool.map(lambda mutant: survives(guardc, adapter, mutant[1]), all_of_them)):
            survived.append(lives)
            if lives:
                print(f"survived: {name}", flush=True)
    killed = survived.count(False)
    print(f"{killed} of {len(survived)} mutants killed ({100 * killed // max(1, len(survived))}%)")


main()
