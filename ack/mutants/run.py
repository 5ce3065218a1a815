#!/usr/bin/env python3
"""Mutates the adapters mechanically, and counts how many of the mutants the conformance kit finds:

    python3 ack/mutants/run.py target/debug/guardc [SUBJECT...] [--names FILE]

The subjects are `python`, `typescript`, `kit`, `pydantic-ai` and `langchain`; the last three need an interpreter that has the
frameworks. The kit's findings are counted by what they are: a broken promise, or only a hang or a crash. `--names` runs only the
mutants of a file, which has their names as this command prints them. `equivalent.txt` lists the mutants that behave like the original;
they do not count, and one of them that is found is an error. `ack/mutants.md` has the figures.
"""
import argparse, json, pathlib, re, shutil, subprocess, sys, tempfile, time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import in_python, in_typescript

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ADAPTERS = ROOT / "ack" / "adapters"
TYPESCRIPT = ROOT / "target" / "typescript"
LIMITS = ["--fail-fast", "--jobs", "2", "--timeout", "5", "--startup-timeout", "30"]


class Subject:
    """A file to mutate, and the adapter that it is part of."""

    def __init__(self, name, file, adapter, shorter=("", "")):
        self.name, self.file, self.adapter, self.shorter = name, ADAPTERS / file, ADAPTERS / adapter, shorter

    def text(self):
        # A guard that hangs is noticed sooner, so that the runs are short.
        return self.file.read_text(encoding="utf-8").replace(*self.shorter)

    def mutants(self):
        """Returns the mutants by name. The second of one name has a number."""
        language = in_typescript if self.file.suffix == ".ts" else in_python
        named, counts = {}, Counter()
        for name, text in language.mutants(self.text()):
            counts[name] += 1
            named[name if counts[name] == 1 else f"{name} #{counts[name]}"] = text
        return named

    def command(self, folder, text):
        """Writes the adapter with this text of its file into a folder. Returns the command that starts it; none if it is no program."""
        if self.file.suffix == ".ts":
            (folder / "adapter.ts").write_text(text, encoding="utf-8")
            types = ["--typeRoots", str(TYPESCRIPT / "node_modules" / "@types"), "--types", "node"]
            subprocess.run([TYPESCRIPT / "node_modules" / ".bin" / "tsc", "--noCheck", "--outDir", folder, "--target", "es2022", "--module", "nodenext",
                            "--skipLibCheck", *types, folder / "adapter.ts"], stdout=subprocess.DEVNULL)
            built = folder / "adapter.js"
            return ["node", str(built)] if built.exists() else None
        adapter = folder / "adapter" / "adapter.py"
        adapter.parent.mkdir()
        shutil.copy(self.adapter, adapter)
        for module in ("kit.py", "line.py"):
            shutil.copy(ADAPTERS / module, folder)
        (adapter if self.file == self.adapter else folder / "kit.py").write_text(text, encoding="utf-8")
        return [sys.executable, str(adapter)]


PATIENCE = ("PATIENCE = 3\n", "PATIENCE = 1\n")
SUBJECTS = [
    Subject("python", "python/adapter.py", "python/adapter.py", PATIENCE),
    Subject("typescript", "typescript/adapter.ts", "typescript/adapter.ts", ("PATIENCE = 3000;", "PATIENCE = 1000;")),
    Subject("kit", "kit.py", "pydantic_ai/adapter.py"),
    Subject("pydantic-ai", "pydantic_ai/adapter.py", "pydantic_ai/adapter.py"),
    Subject("langchain", "langchain/adapter.py", "langchain/adapter.py"),
]


def finding(guardc, subject, text):
    """Returns what the kit finds wrong with the adapter with this text of its file: `failed` where a promise is broken, `errored` where it only
    hangs, crashes or speaks no protocol; none where it finds nothing."""
    with tempfile.TemporaryDirectory(prefix="guard-mutant-") as folder:
        command = subject.command(pathlib.Path(folder), text)
        if not command:
            return "errored"
        run = [guardc, "ack", "run", *LIMITS, "--format", "json", "--", *command]
        report = subprocess.run(run, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        outcomes = {case["outcome"] for case in json.loads(report)["cases"]}
        return next((outcome for outcome in ("failed", "errored") if outcome in outcomes), None)


def equivalents():
    """Returns the mutants that behave like the original, by subject: lines `SUBJECT NAME`, each with the reason below it."""
    listed = {}
    for line in (ROOT / "ack" / "mutants" / "equivalent.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith(("#", " ")):
            subject, name = line.split(" ", 1)
            listed.setdefault(subject, set()).add(name)
    return listed


def unknown(subject, mutants, wanted, listed):
    """Returns an error for every name of a list that no mutant of the subject has."""
    prefix = f"{subject.name} "
    named = listed | {line.removeprefix(prefix) for line in wanted or () if line.startswith(prefix)}
    return [f"{subject.name} {name}: there is no such mutant" for name in sorted(named - set(mutants))]


def judge(guardc, subject, wanted, listed):
    """Runs the mutants of a subject. Returns how many count, by what was found of them, and the errors of the list."""
    begun, mutants = time.monotonic(), subject.mutants()
    errors = unknown(subject, mutants, wanted, listed)
    chosen = {name: text for name, text in mutants.items() if wanted is None or f"{subject.name} {name}" in wanted}
    if chosen and finding(guardc, subject, subject.text()):
        return Counter(), [f"{subject.name}: the kit finds something wrong with the original"]
    counts = Counter()
    with ThreadPoolExecutor(2) as pool:
        for name, found in zip(chosen, pool.map(lambda text: finding(guardc, subject, text), chosen.values())):
            if name in listed:
                errors += [f"{subject.name} {name}: it is listed as equivalent, and the kit finds it"] if found else []
                continue
            counts[found] += 1
            if found != "failed":
                print(f"{found or 'survived'}: {subject.name} {name}", flush=True)
    print(f"{subject.name}: {told(counts)}, {len(listed)} equivalent ({time.monotonic() - begun:.0f} s)", flush=True)
    return counts, errors


def told(counts):
    """Returns the counts of mutants in words."""
    found, total = counts["failed"] + counts["errored"], counts.total()
    return f"{found} of {total} found ({100 * found / max(1, total):.1f}%), {counts['errored']} of them errored only"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("guardc")
    parser.add_argument("subjects", nargs="*")
    parser.add_argument("--names", type=pathlib.Path)
    parser.add_argument("--all-found", action="store_true", help="it is an error if a mutant survives")
    parser.add_argument("--check", action="store_true", help="run nothing: only look for the mutants that the lists name")
    options = parser.parse_intermixed_args()
    listed = equivalents()
    wanted = set(options.names.read_text(encoding="utf-8").splitlines()) if options.names else None
    wanted = wanted and {re.sub("^(survived|errored): ", "", line) for line in wanted}
    counts, errors = Counter(), []
    for subject in SUBJECTS:
        if options.subjects and subject.name not in options.subjects:
            continue
        if options.check:
            errors += unknown(subject, subject.mutants(), wanted, listed.get(subject.name, set()))
            continue
        counted, wrong = judge(str(pathlib.Path(options.guardc).resolve()), subject, wanted, listed.get(subject.name, set()))
        counts, errors = counts + counted, errors + wrong
    if not options.check:
        print(f"all: {told(counts)}")
    if options.all_found and counts[None]:
        errors.append(f"{counts[None]} mutants survive")
    if not options.check and wanted and counts.total() != len(wanted):
        errors.append(f"{len(wanted)} mutants are named, and {counts.total()} of them were tried")
    print("\n".join(f"error: {error}" for error in errors))
    sys.exit(1 if errors else 0)


main()
