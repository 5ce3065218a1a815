"""The conformance kit as a plugin of pytest, with the real judge and adapters that keep and break their promises."""

import json
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

pytest_plugins = ["pytester"]

SAMPLE = ROOT / "ack/adapters/python/adapter.py"

#: An adapter that declares nothing, so that every case is skipped.
SILENT = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "hello":
        print(json.dumps({"id": message["id"], "result": {"name": "silent", "version": "1", "capabilities": {}}}), flush=True)
"""


@pytest.fixture
def guardc():
    return shutil.which("guardc") or str(ROOT / "target/debug/guardc")


@pytest.fixture
def kit(pytester, guardc):
    """Runs pytest with the kit and a command, in an empty folder."""

    def run(command=f"{sys.executable} {SAMPLE}", *options, binary=guardc):
        return pytester.runpytest(f"--guard-ack={command}", f"--guardc={binary}", "-p", "no:cacheprovider", *options)

    return run


@pytest.fixture
def broken():
    """The command of an adapter that runs what the guard denies."""
    return f"{sys.executable} broken.py"


@pytest.fixture(autouse=True)
def adapters(pytester):
    text = SAMPLE.read_text()
    wrong = text.replace('if stop["decision"] == "allow":', "if True:")
    assert wrong != text, "the sample has changed: plant the fault anew"
    pytester.makepyfile(broken=wrong, silent=SILENT)


PASSES = "--ack-case=gate/allowed_call_runs_once"
BREAKS = "--ack-case=completion/a_claim_is_not_a_verification"


def test_each_case_is_a_test_with_a_stable_id(kit):
    result = kit(f"{sys.executable} {SAMPLE}", PASSES, "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*guard-ack::gate/allowed_call_runs_once PASSED*"])
    assert result.ret == 0


def test_a_broken_promise_fails_in_the_words_of_the_kit(kit, broken):
    result = kit(broken, PASSES, BREAKS)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*ITEM-2*", "*expected*", "*observed*", "again*guardc ack run --case completion/*", "FAILED *guard-ack::completion/*"])
    assert result.ret == 1 and "Traceback" not in result.stdout.str()


def test_cases_that_are_known_to_fail_are_expected_failures(kit, broken, pytester):
    pytester.makefile(".txt", known="completion/*\n")
    result = kit(broken, PASSES, BREAKS, "--known-failing=known.txt")
    result.assert_outcomes(passed=1, xfailed=1)
    assert result.ret == 0


def test_a_case_that_passes_although_it_is_known_to_fail_is_a_failure(kit, pytester):
    pytester.makefile(".txt", known="gate/allowed*\n")
    result = kit(f"{sys.executable} {SAMPLE}", PASSES, "--known-failing=known.txt")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the case passes: take it from the list*"])


def test_a_run_in_which_nothing_was_judged_fails(kit):
    result = kit(f"{sys.executable} silent.py", "--ack-case=gate/*once", PASSES)
    assert result.parseoutcomes().keys() == {"skipped"} and result.ret == 1
    result.stdout.fnmatch_lines(["*nothing was judged*"])


def test_a_run_whose_cases_were_all_deselected_fails(kit):
    assert kit(f"{sys.executable} {SAMPLE}", PASSES, "-k", "nothing_like_it").ret != 0


def test_other_tests_do_not_hide_that_nothing_was_judged(kit, pytester):
    pytester.makepyfile(test_other="def test_other(): pass")
    result = kit(f"{sys.executable} silent.py", PASSES)
    result.assert_outcomes(passed=1, skipped=1)
    assert result.ret == 1


def test_a_case_that_cannot_be_judged_is_no_judgement_even_if_it_is_known_to_fail(kit, pytester):
    pytester.makefile(".txt", known="gate/*\n")
    result = kit(f"{sys.executable} -c pass", PASSES, "--known-failing=known.txt")
    assert result.ret == 1 and result.parseoutcomes().keys() <= {"xfailed", "failed"}


@pytest.mark.parametrize("command", ["/no/such/adapter", f"{sys.executable} -c pass", f"{sys.executable} -c print('hello')"])
def test_an_adapter_that_cannot_be_judged_fails_each_case(kit, command):
    result = kit(command, PASSES, "--ack-case=gate/all_rules_hold")
    result.assert_outcomes(failed=2)
    assert result.ret == 1


@pytest.mark.parametrize("options, says", [
    (("--ack-case=no/such",), "no case is left to list"),
    (("--ack-tier=0",), "0 is not in 1..=6"),
    (("--ack-clause=GATE-99",), "there is no clause `GATE-99`"),
    (("--ack-tag=streamin",), "did you mean `streaming`?"),
    (("--ack-area=gate", "--ack-case=effects/*"), "no case of the kit fits"),
    (("--ack-area=garden",), "invalid choice"),
])
def test_filters_that_leave_nothing_are_errors(kit, options, says):
    result = kit(f"{sys.executable} {SAMPLE}", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR and says in result.stderr.str() + result.stdout.str()


def test_an_empty_command_is_an_error(kit):
    assert kit("").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("binary", ["/no/such/guardc", "no-such-guardc", sys.executable])
def test_a_judge_that_is_none_is_an_error(kit, binary):
    result = kit(f"{sys.executable} {SAMPLE}", PASSES, binary=binary)
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_judge_without_a_report_passes_nothing(kit, pytester, guardc):
    judge = pytester.makefile(".sh", judge=f'#!/bin/sh\n[ "$2" = list ] && exec {guardc} "$@"\nexit 0\n')
    judge.chmod(0o755)
    result = kit(f"{sys.executable} {SAMPLE}", PASSES, binary=judge)
    result.assert_outcomes(failed=1)


def test_a_report_that_is_not_whole_passes_nothing(kit, pytester, guardc):
    case = {"case": "gate/allowed_call_runs_once", "outcome": "passed", "known_failing": False, "milliseconds": 1}
    report = json.dumps({"report": "guard-ack/1", "cases": [case], "closing": {"cases": 2}})
    lines = ["#!/bin/sh", f'[ "$2" = list ] && exec {guardc} "$@"', 'for each in "$@"; do case "$each" in --output=*) file="${each#--output=}";; esac; done',
             f"printf '%s' '{report}' > \"$file\""]
    judge = pytester.makefile(".sh", judge="\n".join(lines))
    judge.chmod(0o755)
    kit(f"{sys.executable} {SAMPLE}", PASSES, binary=judge).assert_outcomes(failed=1)


def test_an_earlier_report_does_not_count(kit, pytester, guardc):
    report = f"--ack-report={pytester.path / 'report.json'}"
    assert kit(f"{sys.executable} {SAMPLE}", PASSES, report).ret == 0
    assert (pytester.path / "report.json").exists()
    judge = pytester.makefile(".sh", judge=f'#!/bin/sh\n[ "$2" = list ] && exec {guardc} "$@"\nexit 0\n')
    judge.chmod(0o755)
    kit(f"{sys.executable} {SAMPLE}", PASSES, report, binary=judge).assert_outcomes(failed=1)


@pytest.mark.parametrize("options, kept, gone", [
    (("--ack-tier=2",), {"gate", "effects"}, {"steering", "completion", "boundary", "durability"}),
    (("--ack-area=steering", "--ack-area=boundary"), {"steering", "boundary"}, {"gate"}),
    (("--ack-tier=6", "--ack-exclude=gate/*"), {"effects", "durability"}, {"gate"}),
])
def test_filters_select_by_tier_and_area(kit, options, kept, gone):
    result = kit(f"{sys.executable} {SAMPLE}", *options, "--collect-only", "-q")
    areas = {line.split("::")[1].split("/")[0] for line in result.outlines if "::" in line}
    assert kept <= areas and not gone & areas and result.ret == 0


@pytest.mark.parametrize("options", [("--ack-tag=failing_guard",), ("--ack-tag=failing_guard", "--ack-clause=GATE-22")])
def test_filters_select_by_tag(kit, guardc, options):
    selected = [option.replace("--ack-", "--") for option in options]
    listed = subprocess.run([guardc, "ack", "list", "--format=json", *selected], capture_output=True, check=True).stdout
    result = kit(f"{sys.executable} {SAMPLE}", *options, "--collect-only", "-q")
    names = [line.split("::")[1] for line in result.outlines if "::" in line]
    assert names and names == [case["case"] for case in json.loads(listed)["cases"]] and result.ret == 0


@pytest.mark.parametrize("listed", ["", "[]", "{}", '{"cases": [{}]}'])
def test_a_judge_that_lists_no_cases_is_an_error(kit, pytester, listed):
    judge = pytester.makefile(".sh", judge=f"#!/bin/sh\nprintf '%s' '{listed}'\n")
    judge.chmod(0o755)
    assert kit(f"{sys.executable} {SAMPLE}", PASSES, binary=judge).ret == pytest.ExitCode.USAGE_ERROR


def test_filters_select_by_clause_and_keyword(kit):
    lines = kit(f"{sys.executable} {SAMPLE}", "--ack-clause=GATE-3", "--collect-only", "-q").outlines
    assert [line for line in lines if "::" in line] and all("::gate/" in line for line in lines if "::" in line)
    lines = kit(f"{sys.executable} {SAMPLE}", "-k", "allowed_call_runs_once", "--collect-only", "-q").outlines
    assert [line for line in lines if "::" in line] == ["guard-ack::gate/allowed_call_runs_once"]


def test_without_the_option_nothing_changes(pytester):
    pytester.makepyfile(test_one="def test_one(): pass")
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    assert "guard-ack" not in result.stdout.str() and result.ret == 0
