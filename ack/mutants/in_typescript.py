"""Mutants of a TypeScript file, by its text: statements dropped, awaits removed, conditions negated, and the first two
arguments of calls swapped, each at one place. The text is not parsed: literals and comments are masked, and brackets matched."""
import re

#: Statements that are definitions, or hold the rest of the file together.
KEPT = re.compile(r"import |type |class |case |default:|[\w?]+: ")
OPEN, CLOSE = "([{", ")]}"


def masked(text):
    """Returns the text with literals and comments blanked, at the same length."""
    literal = re.compile(
        r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|`(?:[^`\\]|\\.)*`'
        r'|(?:(?<=[(=,])|(?<=[(=,] ))/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\]|\\.)*\])+/[a-z]*', re.S)
    # A comment is white space, so that a statement begins after it.
    blank = lambda found: " " if found.group().startswith(("//", "/*")) else "_"
    return literal.sub(lambda found: re.sub(r"[^\n]", blank(found), found.group()), text)


def closing(mask, at):
    """Returns the position of the bracket that closes the one at a position."""
    depth = 0
    for here in range(at, len(mask)):
        depth += (mask[here] in OPEN) - (mask[here] in CLOSE)
        if depth == 0:
            return here
    return len(mask)


def arguments(mask, at):
    """Returns the spans of the arguments in the brackets that open at a position."""
    end, spans, begin, here = closing(mask, at), [], at + 1, at + 1
    while here < end:
        if mask[here] in OPEN:
            here = closing(mask, here)
        elif mask[here] == ",":
            spans.append((begin, here))
            begin = here + 1
        here += 1
    return spans + [(begin, end)] if mask[begin:end].strip() else spans


def statements(mask):
    """Yields the spans of the statements that end with a semicolon."""
    around, inside = [], {}
    for at, character in enumerate(mask):
        around = around + [character] if character in OPEN else around[:-1] if character in CLOSE else around
        inside[at] = around[-1] if around else ""
    for end in (found.start() for found in re.finditer(";", mask)):
        if inside[end] == "(":
            continue  # In the head of a `for`.
        begin, depth = end - 1, 0
        while begin >= 0:
            ends_block = mask[begin] == "}" and mask[begin + 1:].lstrip(" ").startswith(("\n", "}"))
            if depth == 0 and (mask[begin] == ";" or ends_block):
                break
            depth += (mask[begin] in CLOSE) - (mask[begin] in OPEN)
            if depth < 0:
                break
            begin -= 1
        yield begin + 1, end + 1


def edits(text):
    """Yields each edit: its kind, the span, what stands there instead, and the text to name it by."""
    mask = masked(text)
    for begin, end in statements(mask):
        begin += len(mask[begin:end]) - len(mask[begin:end].lstrip())
        head = re.match(r"((if|for|while) \(|else )", mask[begin:end])
        while head:  # Only what is done there is dropped.
            begin = closing(mask, begin + head.end() - 1) + 1 if "(" in head.group() else begin + head.end()
            begin += len(mask[begin:end]) - len(mask[begin:end].lstrip())
            head = re.match(r"((if|for|while) \(|else )", mask[begin:end])
        if begin < end and not KEPT.match(text[begin:end]) and mask[begin] not in "{};":
            yield "drop", (begin, end), ";", text[begin:end]
    for found in re.finditer(r"\b(if|while) (\()", mask):
        begin, end = found.start(2) + 1, closing(mask, found.start(2))
        yield "negate", (begin, end), f"!({text[begin:end]})", text[begin:end]
    for found in re.finditer(r" \? ", mask):
        begin, depth = found.start() - 1, 0
        while begin >= 0:
            depth += (mask[begin] in CLOSE) - (mask[begin] in OPEN)
            before = mask[:begin + 1]
            if depth < 0 or depth == 0 and (mask[begin] in ",;" or re.search(r"( = |=> |return | of |: |\? |\.\.\.)$", before)):
                break
            begin -= 1
        span = (begin + 1, found.start())
        yield "negate", span, f"!({text[slice(*span)].strip()})", text[slice(*span)].strip()
    for found in re.finditer(r"\bawait ", mask):
        line = text[found.start():].split("\n", 1)[0]
        yield "await", found.span(), "", line
    for found in re.finditer(r"(?<=[\w>])(\()", mask):
        word = re.search(r"[\w.]+$", mask[:found.start()])
        follows = mask[closing(mask, found.start()) + 1:].lstrip()
        is_call = word and word.group() not in ("if", "for", "while", "switch", "catch") and not follows.startswith(("{", ": ", "=>"))
        spans = arguments(mask, found.start()) if is_call else []
        if len(spans) > 1 and not any(text[slice(*span)].strip().startswith("...") for span in spans[:2]):
            first, second = (text[slice(*span)].strip() for span in spans[:2])
            span = (spans[0][0], spans[1][1])
            yield "swap", span, f"{second}, {first}", text[word.start():closing(mask, found.start()) + 1]


def mutants(source):
    """Yields each mutant: its name, and its text."""
    for kind, (begin, end), instead, name in edits(source):
        yield f"{kind}: {' '.join(name.split())}", source[:begin] + instead + source[end:]
