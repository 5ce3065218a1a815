#!/usr/bin/env python3
"""Plants the faults of `planted.toml` in copies of the adapters, one at a time, and shows which clause and case of the kit names each:

    target/python/bin/python ack/mutants/planted.py target/debug/guardc [NAME...] [--whole]

Only the cases of the fault's clauses are played, up to the first finding; with `--whole` all cases are played. It is an error if a fault
is found by nothing but a hang or a crash, or by other clauses only, or if its finding is longer than a screen.
"""
import argparse, json, pathlib, re, shutil, subprocess, sys, tempfile, time, tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ADAPTERS = ROOT / "ack" / "adapters"
INTEGRATIONS = ROOT / "crates" / "guard-python" / "python" / "guardc" / "integrations"
#: The lines of a screen, without the summary around a finding.
SCREEN = 40
FOLDERS = {"pydantic-ai": "pydantic_ai", "python": "python"}


def files(subject):
    """Returns the texts of an adapter, by the names that `planted.toml` uses. The integration becomes modules beside the adapter."""
    read = lambda path: path.read_text(encoding="utf-8")
    if subject == "stranger":
        return {"adapter": read(ROOT / "ack" / "mutants" / "stranger.py")}
    future = "from __future__ import annotations\n"
    imported = f"{future}import asyncio\nfrom pydantic_ai.exceptions import ModelRetry\n"
    integration = read(INTEGRATIONS / "pydantic_ai.py").replace(future, imported)
    texts = {
        "adapter": read(ADAPTERS / FOLDERS[subject] / "adapter.py"), "kit": read(ADAPTERS / "kit.py"), "line": read(ADAPTERS / "line.py"),
        "integration": integration, "shared": read(INTEGRATIONS / "_shared.py"),
    }
    return {name: beside(text) for name, text in texts.items()}


def beside(text):
    """Returns a text that imports the modules beside it instead of those of the package."""
    for package, module in (("from ..", "from guardc"), ("from ._shared", "from shared"), ("from guardc.integrations._shared", "from shared"),
                            ("from guardc.integrations.pydantic_ai", "from integration")):
        text = text.replace(f"{package} import", f"{module} import")
    return text


def planted(fault):
    """Returns the texts of the adapter with a fault."""
    texts, listed = files(fault["subject"]), lambda value: value if isinstance(value, list) else [value]
    for old, new in zip(listed(fault["old"]), listed(fault["new"]), strict=True):
        count = texts[fault["file"]].count(old)
        if count != 1:
            sys.exit(f"error: {fault['name']}: {old!r} stands {count} times in the file")
        texts[fault["file"]] = texts[fault["file"]].replace(old, new)
    return texts


def command(folder, texts):
    """Writes an adapter into a folder. Returns the command that starts it."""
    (folder / "adapter").mkdir()
    for name, text in texts.items():
        path = folder / "adapter" / "adapter.py" if name == "adapter" else folder / f"{name}.py"
        path.write_text(text, encoding="utf-8")
    return [sys.executable, str(folder / "adapter" / "adapter.py")]


def run(guardc, texts, options):
    """Runs the kit. Returns its report, and the report as a person reads it."""
    with tempfile.TemporaryDirectory(prefix="guard-planted-") as name:
        folder = pathlib.Path(name)
        adapter, report = command(folder, texts), folder / "report.json"
        subprocess.run([guardc, "ack", "run", *options, "--format", "json", "--output", str(report), "--", *adapter], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        text = subprocess.run([guardc, "ack", "report", "--format", "text", str(report)], stdout=subprocess.PIPE, text=True).stdout
        return json.loads(report.read_text(encoding="utf-8")), text


def selected(fault):
    """Returns the options that select the cases to play."""
    if "cases" in fault:
        return [word for case in fault["cases"] for word in ("--case", case)]
    return [word for clause in fault["clauses"] for word in ("--clause", clause)]


def judge(guardc, fault, is_whole):
    """Runs the kit on a fault. Returns the row of the table, the errors, and the report for a person."""
    begun, clauses = time.monotonic(), fault["clauses"]
    options = [] if is_whole else ["--fail-fast", "--timeout", "5", *selected(fault)]
    report, text = run(guardc, planted(fault), options)
    failed = [case for case in report["cases"] if case["outcome"] == "failed"]
    errored = [case["case"] for case in report["cases"] if case["outcome"] == "errored"]
    named = lambda case: [broken["clause"] for broken in case["broken"] if broken["clause"] in clauses]
    found = [case for case in failed if named(case)]
    took = time.monotonic() - begun
    errors = []
    if not found:
        others = sorted({broken["clause"] for case in failed for broken in case["broken"]})
        errors.append(f"{fault['name']}: no finding names {' or '.join(clauses)}; failed by {others}, errored {errored}")
    for screen in re.split(r"\n(?=FAILED  )", text)[1:]:
        lines = len(screen.split("\n\n")[0].splitlines())
        errors += [f"{fault['name']}: a finding has {lines} lines"] if lines > SCREEN else []
    first = found[0] if found else None
    # A run that was silent is named by a clause, and was waited for.
    waited = sum(case["error"] is not None for case in failed)
    row = [fault["name"], named(first)[0] if first else "-", first["case"] if first else "-", len(failed), waited, len(errored), f"{took:.0f}"]
    return row, errors, text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("guardc")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true", help="play nothing: only look for the text of each fault")
    parser.add_argument("--whole", action="store_true", help="play all cases, not only those of the fault's clauses")
    parser.add_argument("--texts", action="store_true", help="print the reports too")
    options = parser.parse_intermixed_args()
    faults = tomllib.loads((ROOT / "ack" / "mutants" / "planted.toml").read_text(encoding="utf-8"))["fault"]
    guardc, errors = str(pathlib.Path(options.guardc).resolve()), []
    # A fault whose text is gone is told before the minutes that the others take.
    for fault in faults:
        planted(fault)
    if options.check:
        return
    print("| fault | clause | case | failed | of them silent | errored | seconds |\n| --- | --- | --- | ---: | ---: | ---: | ---: |", flush=True)
    for fault in faults:
        if not options.names or fault["name"] in options.names:
            row, wrong, text = judge(guardc, fault, options.whole)
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
            print(text if options.texts else "", end="")
            errors += wrong
    print("\n".join(f"error: {error}" for error in errors))
    sys.exit(1 if errors else 0)


main()
