#!/usr/bin/env python3
"""Mutates the adapters mechanically, and counts how many of the mutants the conformance kit finds:

    python3 ack/mutants/run.py target/debug/guardc [SUBJECT...] [--names FILE]

The subjects are `python`, `typescript`, `kit`, `pydantic-ai` and `langchain`; the last three need an interpreter that has the
frameworks. `--names` runs only the mutants of a file, which has their names as this command prints them. `equivalent.txt` lists the
mutants that behave like the original; they do not count, and one of them that is found is an error. `ack/mutants.md` has the figures.
"""
import argparse, pathlib, shutil, subprocess, sys, tempfile, time
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
        named = {}
        for name, text in language.mutants(self.text()):
            count = sum(other.split(" #")[0] == name for other in named)
            named[f"{name} #{count + 1}" if count else name] = text
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
        shutil.copy(ADAPTERS / "kit.py", folder)
        (adapter if self.file == self.adapter else folder / "kit.py").write_text(text, encoding="utf-8")
        return [sys.executable, str(adapter)]


PATIENCE = ("PATIENCE = 5\n", "PATIENCE = 1\n")
SUBJECTS = [
    Subject("python", "python/adapter.py", "python/adapter.py", PATIENCE),
    Subject("typescript", "typescript/adapter.ts", "typescript/adapter.ts", ("PATIENCE = 5000;", "PATIENCE = 1000;")),
    Subject("kit", "kit.py", "pydantic_ai/adapter.py"),
    Subject("pydantic-ai", "pydantic_ai/adapter.py", "pydantic_ai/adapter.py"),
    Subject("langchain", "langchain/adapter.py", "langchain/adapter.py"),
]


def survives(guardc, subject, text):
    """Returns true if the kit finds nothing wrong with the adapter with this text of its file."""
    with tempfile.TemporaryDirectory(prefix="guard-mutant-") as folder:
        command = subject.command(pathlib.Path(folder), text)
        run = [guardc, "ack", "run", *LIMITS, "--", *(command or [])]
        return bool(command) and subprocess.run(run, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def equivalents():
    """Returns the mutants that behave like the original, by subject: lines `SUBJECT NAME`, each with the reason below it."""
    listed = {}
    for line in (ROOT / "ack" / "mutants" / "equivalent.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith(("#", " ")):
            subject, name = line.split(" ", 1)
            listed.setdefault(subject, set()).add(name)
    return listed


def judge(guardc, subject, wanted, listed):
    """Runs the mutants of a subject. Returns how many count, how many of these were found, and the errors of the list."""
    begun, mutants = time.monotonic(), subject.mutants()
    errors = [f"{subject.name} {name}: there is no such mutant" for name in listed - set(mutants)]
    chosen = {name: text for name, text in mutants.items() if wanted is None or f"{subject.name} {name}" in wanted}
    if chosen and not survives(guardc, subject, subject.text()):
        return 0, 0, [f"{subject.name}: the kit finds something wrong with the original"]
    count = killed = 0
    with ThreadPoolExecutor(2) as pool:
        for name, lives in zip(chosen, pool.map(lambda text: survives(guardc, subject, text), chosen.values())):
            if name in listed:
                errors += [] if lives else [f"{subject.name} {name}: it is listed as equivalent, and the kit finds it"]
                continue
            count, killed = count + 1, killed + (not lives)
            if lives:
                print(f"survived: {subject.name} {name}", flush=True)
    print(f"{subject.name}: {killed} of {count} found, {len(listed)} equivalent ({time.monotonic() - begun:.0f} s)", flush=True)
    return count, killed, errors


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("guardc")
    parser.add_argument("subjects", nargs="*")
    parser.add_argument("--names", type=pathlib.Path)
    options = parser.parse_args()
    listed = equivalents()
    wanted = set(options.names.read_text(encoding="utf-8").replace("survived: ", "").splitlines()) if options.names else None
    total = killed = 0
    errors = []
    for subject in SUBJECTS:
        if not options.subjects or subject.name in options.subjects:
            of_it, found, wrong = judge(str(pathlib.Path(options.guardc).resolve()), subject, wanted, listed.get(subject.name, set()))
            total, killed, errors = total + of_it, killed + found, errors + wrong
    print(f"{killed} of {total} mutants found ({100 * killed / max(1, total):.1f}%)")
    print("\n".join(f"error: {error}" for error in errors))
    sys.exit(1 if errors else 0)


main()
