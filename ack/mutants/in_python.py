"""Mutants of a Python file, by its syntax tree: statements dropped, awaits removed, conditions negated, and the first two
arguments of calls swapped, each at one place."""
import ast, copy

#: Statements that are definitions, or do nothing already.
KEPT = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
#: Statements that have bodies.
BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.If, ast.For, ast.While, ast.Try, ast.With, ast.ExceptHandler, ast.match_case)


def places(tree):
    """Yields the places to mutate: the kind, the node or the list with its position, and the node to name it by."""
    for node in ast.walk(tree):
        if isinstance(node, BLOCKS):
            for body in (node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])):
                for at, statement in enumerate(body):
                    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                    if not isinstance(statement, KEPT) and not is_text:
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
    """Mutates a tree at one of its places."""
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


def owners(tree):
    """Returns the name of the innermost function or class around each node."""
    names = {}

    def visit(node, name):
        names[node] = name
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{name}.{node.name}".lstrip(".")
        for child in ast.iter_child_nodes(node):
            visit(child, name)

    visit(tree, "")
    return names


def mutants(source):
    """Yields each mutant: its name, and its text."""
    tree = ast.parse(source)
    owner = owners(tree)
    for number, (kind, _, node) in enumerate(list(places(tree))):
        fresh = copy.deepcopy(tree)
        kind, place, _ = list(places(fresh))[number]
        mutate(kind, place)
        text = " ".join(ast.unparse(node).split())
        yield f"{kind} in {owner[node] or 'the file'}: {text}", ast.unparse(ast.fix_missing_locations(fresh))
