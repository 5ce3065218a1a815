"""The conformance kit as tests of pytest: one test for each case.

    pytest --guard-ack="python my_adapter.py"

The kit plays the selected cases once, when the first of them runs. The judge is the command `guardc ack`.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from typing import Any, NamedTuple

import pytest

#: The areas of cases, in the order of the tiers from 1.
AREAS = ("gate", "effects", "steering", "completion", "boundary", "durability")

_run = pytest.StashKey["Run"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("guard-ack", "conformance of adapters for Guard")
    add = group.addoption
    add("--guard-ack", metavar="CMD", help="judge the adapter that this command starts; no shell")
    add("--guardc", metavar="PATH", help="the `guardc` command; found on the path where it is left out")
    add("--ack-tier", metavar="N", type=int, help="only cases of the tiers from 1 to N")
    add("--ack-area", metavar="AREA", action="append", choices=AREAS, help="only cases of this area; may be repeated")
    add("--ack-clause", metavar="CLAUSE", action="append", help="only cases that judge this clause; may be repeated")
    add("--ack-tag", metavar="TAG", action="append", help="only cases with this tag or needed capability; may be repeated")
    add("--ack-case", metavar="GLOB", action="append", help="only cases whose name fits; may be repeated")
    add("--ack-exclude", metavar="GLOB", action="append", help="leave out cases whose name fits; may be repeated")
    add("--known-failing", metavar="FILE", help="cases that are known to fail: globs, one a line; one that passes is a failure")
    add("--ack-seed", metavar="N", type=int, default=1, help="the seed of names, paths and amounts (1)")
    add("--ack-jobs", metavar="N", type=int, default=2, help="the number of cases at the same time (2)")
    add("--ack-timeout", metavar="S", type=int, default=10, help="the seconds that one step of the adapter may take (10)")
    add("--ack-report", metavar="FILE", help="keep the JSON report of the kit in this file")


class Case(NamedTuple):
    """A case of the kit, as `guardc ack list --format json` has it."""

    name: str
    clause: str

    @property
    def area(self) -> str:
        return self.name.partition("/")[0]


class Run:
    """One run of the kit over the selected cases."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.getoption
        self._folder = str(config.invocation_params.dir)
        self._guardc = _find_guardc(option("--guardc"), self._folder)
        self._command = shlex.split(option("--guard-ack"))
        if not self._command:
            raise pytest.UsageError("`--guard-ack` needs the command that starts the adapter")
        self._options = [f"--{name}={option(f'--ack-{name}')}" for name in ("seed", "jobs", "timeout")]
        given = {name: option(f"--ack-{name}") or () for name in ("clause", "tag", "case", "exclude")}
        self._selection = [f"--{name}={value}" for name, values in given.items() for value in values]
        if option("--ack-tier") is not None:
            self._selection.append(f"--tier={option('--ack-tier')}")
        self._areas = option("--ack-area")
        if option("--known-failing"):
            self._options.append(f"--known-failing={self._path(option('--known-failing'))}")
        self._kept = self._path(option("--ack-report")) if option("--ack-report") else None
        self._found: dict[str, Any] | None = None
        self._problem: str | None = None
        #: The number of cases that passed or failed. Of the others nothing can be said.
        self.judged = 0

    def _path(self, path: str) -> str:
        return os.path.join(self._folder, path)

    def cases(self) -> list[Case]:
        """The selected cases. Raises `UsageError` where `guardc` does not list them."""
        listed = self._guardc_ack("list", "--color=never", "--format=json", *self._selection)
        if listed.returncode != 0:
            raise pytest.UsageError(f"`{self._guardc} ack list` failed: {listed.stderr.strip()}")
        try:
            cases = [Case(name=case["case"], clause=case["clause"]) for case in json.loads(listed.stdout)["cases"]]
        except (ValueError, KeyError, TypeError) as error:
            raise pytest.UsageError(f"`{self._guardc} ack list` does not list cases: {error!r}") from error
        return [case for case in cases if not self._areas or case.area in self._areas]

    def report_of(self, name: str, selected: list[str]) -> dict[str, Any]:
        """The kit's report on a case. The first call plays all selected cases."""
        if self._found is None and self._problem is None:
            try:
                self._play(selected)
            except BaseException as error:
                # Whatever ends the run, an interrupt included, leaves no case that could count as passed.
                self._problem = f"the kit was stopped: {error!r}"
                raise
        if self._found is None or name not in self._found:
            raise Failure(self._problem or f"the report of the kit does not have the case `{name}`")
        return self._found[name]

    def _play(self, selected: list[str]) -> None:
        with tempfile.TemporaryDirectory(prefix="guard-ack-") as folder:
            path = self._kept or os.path.join(folder, "report.json")
            if os.path.exists(path):
                os.remove(path)  # An earlier report must not count as this one.
            names = [f"--case={name}" for name in selected]
            given = ["--color=never", "--format=json", f"--output={path}", *self._options, *names, "--", *self._command]
            done = self._guardc_ack("run", *given)
            try:
                with open(path, encoding="utf-8") as file:
                    report = json.load(file)
                if report["report"] != "guard-ack/1" or report["closing"]["cases"] != len(report["cases"]):
                    raise ValueError("it is not whole")
                self._found = {case["case"]: case for case in report["cases"]}
            except (OSError, ValueError, KeyError, TypeError) as error:
                said = f"{done.stdout}\n{done.stderr}".strip() or f"no report: {error}"
                self._problem = f"the kit did not judge the adapter (exit code {done.returncode})\n{said}"

    def _guardc_ack(self, *given: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [self._guardc, "ack", *given], cwd=self._folder, capture_output=True, text=True, encoding="utf-8", errors="replace",
                stdin=subprocess.DEVNULL,
            )
        except OSError as error:
            raise pytest.UsageError(f"cannot start `{self._guardc}`: {error}") from error


def _find_guardc(given: str | None, folder: str) -> str:
    """The path of `guardc`: the option, the command beside this interpreter, or the command on the path."""
    if given:
        found = shutil.which(os.path.join(folder, given)) if os.path.dirname(given) else shutil.which(given)
        if found is None:
            raise pytest.UsageError(f"`--guardc {given}` is not a command")
        return found
    found = shutil.which("guardc", path=sysconfig.get_path("scripts")) or shutil.which("guardc")
    if found is None:
        raise pytest.UsageError("`guardc` is not on the path: install it, or name it with `--guardc`")
    return found


class Failure(Exception):
    """A case that did not pass. The text is what the kit says of it."""


class Cases(pytest.Collector):
    """The cases of the kit."""

    def collect(self) -> list[pytest.Item]:
        raise NotImplementedError("the cases are no part of a file")


class CaseItem(pytest.Item):
    """One case of the kit."""

    def __init__(self, *, case: Case, run: Run, **options: Any) -> None:
        super().__init__(**options)
        self._case = case
        self._run = run
        self.user_properties.append(("clause", case.clause))

    def runtest(self) -> None:
        selected = [item._case.name for item in self.session.items if isinstance(item, CaseItem)]
        report = self._run.report_of(self._case.name, selected)
        self.user_properties.append(("milliseconds", report["milliseconds"]))
        outcome, is_known = report["outcome"], report["known_failing"]
        if outcome == "skipped":
            pytest.skip(f"the adapter does not declare `{report['not_declared']}`")
        self._run.judged += outcome != "errored"
        if outcome == "passed" and is_known:
            raise Failure("the case passes: take it from the list of those that are known to fail")
        if outcome != "passed" and is_known:
            pytest.xfail("known to fail")
        if outcome != "passed":
            raise Failure(_text_of(self._case, report))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Failure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, None, str]:
        return "guard-ack", None, f"{self._case.clause} {self._case.name}"


def _text_of(case: Case, report: dict[str, Any]) -> str:
    """The kit's words on a case that did not pass."""
    lines = [f"{case.clause} {report['claim']}"]
    for broken in report["broken"]:
        lines += [f"{broken['clause']} {broken['at']}".rstrip(), f"  expected  {broken['expected']}", f"  observed  {broken['observed']}"]
    if report["error"] is not None:
        lines.append(f"the adapter could not be judged: {report['error']['kind']}: {report['error']['message']}")
        lines += [f"  {line}" for line in report["log"][-5:]]
    if report["hint"]:
        lines.append(f"often     {report['hint']}")
    return "\n".join([*lines, f"again     {report['again']}"])


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--guard-ack") is not None:
        config.stash[_run] = Run(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds the cases, before other plugins select and order tests."""
    run = config.stash.get(_run, None)
    if run is None:
        return
    cases = run.cases()
    if not cases:
        raise pytest.UsageError("no case of the kit fits the `--ack` options")
    parent = Cases.from_parent(session, name="guard-ack", nodeid="guard-ack")
    items += [CaseItem.from_parent(parent, name=case.name, case=case, run=run) for case in cases]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run in which the kit has judged nothing is no success."""
    run = session.config.stash.get(_run, None)
    ended = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if run is not None and run.judged == 0 and exitstatus in ended and not session.config.getoption("--collect-only"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    run = config.stash.get(_run, None)
    if run is not None and run.judged == 0 and not config.getoption("--collect-only"):
        terminalreporter.write_line("guard-ack: nothing was judged, which is a failure", red=True)


def pytest_report_header(config: pytest.Config) -> str | None:
    command = config.getoption("--guard-ack")
    return None if command is None else f"guard-ack: {command}"
