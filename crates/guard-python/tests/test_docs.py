"""The pages about Python print what they show."""

import contextlib
import io
import re

from conftest import ROOT


def blocks(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def play(page):
    """Runs the Python blocks of a page one after another; a text block after one is what it prints."""
    names, played, printed = {"__name__": page}, 0, None
    for kind, text in blocks(page):
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, page, "exec"), names)
            played, printed = played + 1, out.getvalue()
        elif kind == "text" and printed is not None:
            assert printed == text
            printed = None
    return played


def test_the_guide_prints_what_it_shows():
    assert play("docs/guide/python.md") == 9


def test_the_package_page_prints_what_it_shows():
    assert play("crates/guard-python/README.md") == 1
