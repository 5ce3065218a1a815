//! Printing of the steps of scenarios.

use super::blocks::strings;
use super::clauses::names;
use super::items::{Piece, PrintedElement};
use super::page::PrintedText;
use super::text;
use crate::ast::{Expr, Str, TestCall, TestStep, TestStepKind};
use crate::span::Span;

impl PrintedElement for TestStep {
    fn span(&self) -> Span {
        self.span.0
    }

    fn print(&self, page: &mut PrintedText) {
        let pieces = pieces(&self.kind);
        page.flow(&pieces);
    }
}

fn outcome(success: bool) -> &'static str {
    if success { "ok" } else { "fails" }
}

fn call(call: &TestCall) -> String {
    format!("{}{}", call.tool.node, text::args(&call.args))
}

fn quoted(word: &str, string: Option<&Str>) -> String {
    string.map_or(String::new(), |s| format!(" {word} {}", text::string(&s.node)))
}

fn returning(head: String, returns: Option<&Expr>, undecoded: bool) -> Vec<Piece<'_>> {
    let mut pieces = vec![Piece::Text(head)];
    if let Some(e) = returns {
        pieces.extend([Piece::Break, Piece::text("returns "), Piece::Expr(e)]);
    }
    if undecoded {
        pieces.push(Piece::text(" undecoded"));
    }
    pieces
}

fn pieces(kind: &TestStepKind) -> Vec<Piece<'_>> {
    match kind {
        TestStepKind::Run { success, call: c, name, returns, undecoded } => {
            let name = text::after(" as ", name);
            returning(
                format!("{} {}{name}", outcome(*success), call(c)),
                returns.as_ref(),
                *undecoded,
            )
        }
        TestStepKind::Finish { name, success, returns, undecoded } => returning(
            format!("finish {} {}", name.node, outcome(*success)),
            returns.as_ref(),
            *undecoded,
        ),
        TestStepKind::Probe(name, e) => {
            vec![Piece::text(format!("probe {} = ", name.node)), Piece::Expr(e)]
        }
        TestStepKind::Data(e) => vec![Piece::text("data "), Piece::Expr(e)],
        TestStepKind::Shows(e) => vec![Piece::text("shows "), Piece::Expr(e)],
        TestStepKind::Expect(e) => vec![Piece::text("expect "), Piece::Expr(e)],
        TestStepKind::Report { contract, lines, .. } => {
            let head = Piece::Text(format!("expect report {}", contract.node));
            let line = |line: &Str| [Piece::Break, Piece::Text(text::string(&line.node))];
            let end = [Piece::Break, Piece::Text(reported(kind))];
            std::iter::once(head).chain(lines.iter().flat_map(line)).chain(end).collect()
        }
        kind => vec![Piece::Text(line(kind))],
    }
}

/// Prints the expectations of a report.
fn reported(kind: &TestStepKind) -> String {
    let TestStepKind::Report { state, truncated, items, quarantined, contains, .. } = kind else {
        return String::new();
    };
    let cut = if *truncated { " truncated" } else { "" };
    let items = text::after(" items ", items);
    let lost = if quarantined.is_empty() {
        String::new()
    } else {
        format!(" quarantined {}", names(quarantined))
    };
    format!("is {}{cut}{items}{lost}{}", state.node, quoted("contains", contains.as_ref()))
}

/// Prints the steps that stay on one line.
fn line(kind: &TestStepKind) -> String {
    match kind {
        TestStepKind::Allowed(c) => format!("allowed {}", call(c)),
        TestStepKind::Denied { call: c, by, names: mentioned, because } => {
            let mentioned = if mentioned.is_empty() {
                String::new()
            } else {
                format!("({})", names(mentioned))
            };
            let by =
                by.as_ref().map_or(String::new(), |code| format!(" by {}{mentioned}", code.node));
            format!("denied {}{by}{}", call(c), quoted("because", because.as_ref()))
        }
        TestStepKind::Asks { call: c, of } => {
            format!("asks {}{}", call(c), text::after(" of ", of))
        }
        TestStepKind::Waits { call: c, by, for_tool } => {
            let tool = text::after(" for ", for_tool);
            format!("waits {}{}{tool}", call(c), text::after(" by ", by))
        }
        TestStepKind::Start(name, c) => format!("start {} = {}", name.node, call(c)),
        TestStepKind::Approve { call: c, role, within } => {
            let within = text::after(" within ", within);
            format!("approve {} by {}{within}", call(c), role.node)
        }
        TestStepKind::Revoke { call: c, role } => format!("revoke {} by {}", call(c), role.node),
        TestStepKind::After(d) => format!("after {}", d.node),
        TestStepKind::At(time) => format!("at {}", text::string(&time.node)),
        TestStepKind::Exists(true, path) => format!("exists {}", text::string(&path.node)),
        TestStepKind::Exists(false, path) => format!("missing {}", text::string(&path.node)),
        TestStepKind::File(path, what) => {
            format!("file {} contains {}", text::string(&path.node), text::string(&what.node))
        }
        TestStepKind::Usage(n, unit) => format!("usage {} {}", n.node, unit.node),
        TestStepKind::Prompt(words) => format!("prompt {}", text::string(&words.node)),
        TestStepKind::Resume(role) => format!("resume by {}", role.node),
        TestStepKind::Feedback(name, contains) => {
            format!("feedback {}{}", name.node, quoted("contains", contains.as_ref()))
        }
        TestStepKind::NoFeedback(None) => "no feedback".to_owned(),
        TestStepKind::NoFeedback(Some(name)) => format!("no feedback {}", name.node),
        TestStepKind::Stop(what, because) => {
            format!("stop {}{}", what.node, quoted("because", because.as_ref()))
        }
        TestStepKind::Command { argv, exits, output } => {
            let ends =
                exits.as_ref().map_or("times out".to_owned(), |n| format!("exits {}", n.node));
            format!("command{} {ends}{}", strings(argv), quoted("contains", output.as_ref()))
        }
        TestStepKind::Git(committed) => {
            format!("git {}", if *committed { "committed" } else { "uncommitted" })
        }
        TestStepKind::Verify(item, because) => {
            format!("verify {}{}", text::string(&item.node), quoted("because", because.as_ref()))
        }
        TestStepKind::Move(item, transition, because) => {
            let item = text::string(&item.node);
            format!("move {item} by {}{}", transition.node, quoted("because", because.as_ref()))
        }
        TestStepKind::Item(item, state) => {
            format!("item {} is {}", text::string(&item.node), state.node)
        }
        TestStepKind::Advice(tool, status, contains) => {
            let contains = quoted("contains", contains.as_ref());
            format!("advice {} is {}{contains}", tool.node, status.node)
        }
        _ => "halted".to_owned(),
    }
}
