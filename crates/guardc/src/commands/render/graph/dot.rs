//! The diagram as text for Graphviz.

use super::machine::Machine;
use super::model::{Arrow, BoxShape, Picture};
use guard_plan::plan::Risk;
use std::fmt::Write as _;

/// Returns a digraph, with a cluster for each lane and each lifecycle.
pub fn dot(picture: &Picture) -> String {
    let mut out = format!("digraph {} {{\n", quoted(&picture.name));
    out.push_str(
        "  rankdir=LR\n  node [shape=box, style=rounded, fontname=monospace, fontsize=11]\n",
    );
    out.push_str("  edge [fontname=monospace, fontsize=9]\n");
    for (lane, title) in picture.lanes.iter().enumerate() {
        let shapes = picture.shapes.iter().enumerate().filter(|(_, shape)| shape.lane == lane);
        if title.is_empty() {
            shapes.for_each(|(id, shape)| node(id, shape, "  ", &mut out));
            continue;
        }
        let _ = writeln!(out, "  subgraph cluster_{lane} {{\n    label={}", quoted(title));
        shapes.for_each(|(id, shape)| node(id, shape, "    ", &mut out));
        out.push_str("  }\n");
    }
    picture.arrows.iter().for_each(|arrow| edge(arrow, &mut out));
    for (at, items) in picture.machines.iter().enumerate() {
        machine(at, items, &mut out);
    }
    out.push_str("}\n");
    out
}

fn node(id: usize, shape: &BoxShape, indent: &str, out: &mut String) {
    let label = std::iter::once(&shape.name).chain(&shape.lines).cloned().collect::<Vec<_>>();
    let label = quoted(&label.join("\n"));
    let rest = match shape.tool {
        None => ", shape=circle, width=0.3, fixedsize=true",
        Some(Risk::Low) => "",
        Some(Risk::Medium) => ", color=goldenrod",
        Some(Risk::High) => ", color=darkorange, penwidth=2",
        Some(Risk::Critical) => ", color=red, penwidth=2",
    };
    let _ = writeln!(out, "{indent}n{id} [label={label}{rest}]");
}

fn edge(arrow: &Arrow, out: &mut String) {
    let mut with = Vec::new();
    if !arrow.label.is_empty() {
        with.push(format!("label={}", quoted(&arrow.label)));
    }
    if arrow.conditional {
        with.push("style=dashed".into());
    }
    let with = if with.is_empty() { String::new() } else { format!(" [{}]", with.join(", ")) };
    let _ = writeln!(out, "  n{} -> n{}{with}", arrow.from, arrow.to);
}

fn machine(at: usize, items: &Machine, out: &mut String) {
    let title = format!("lifecycle {}", items.name);
    let _ = writeln!(out, "  subgraph cluster_lifecycle_{at} {{\n    label={}", quoted(&title));
    for (id, state) in items.states.iter().enumerate() {
        let rest = match (state.initial, state.last) {
            (true, _) => ", style=\"rounded,bold\"",
            (false, true) => ", peripheries=2",
            (false, false) => "",
        };
        let _ = writeln!(out, "    l{at}_{id} [label={}{rest}]", quoted(&state.name));
    }
    for transition in &items.moves {
        let style = if transition.harness { ", style=dotted" } else { "" };
        let label = quoted(&format!("{}: {}", items.actor(transition), transition.label));
        let _ = writeln!(
            out,
            "    l{at}_{} -> l{at}_{} [label={label}{style}]",
            transition.from, transition.to
        );
    }
    out.push_str("  }\n");
}

/// Returns a text in quotes. Graphviz interprets `\n`, `\l`, `\N` and similar sequences in labels,
/// so backslashes are doubled.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn nothing_breaks_out_of_quotes() {
        assert_eq!(quoted("a\"b\\N\nc\u{7}"), "\"a\\\"b\\\\N\\nc \"");
    }
}
