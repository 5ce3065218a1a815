//! The diagram as SVG: one self-contained file without scripts.

mod legend;
mod paint;

use super::layout::{Graph, Layout, LayoutArrow, LayoutBox, Rect, layout};
use super::machine::Machine;
use super::model::{BoxShape, Picture};
use guard_plan::markup::escape;
use guard_plan::words;
use paint::{Paint, path};

/// The widths of a character of a name, of a line, and of a label.
const NAME: i64 = 8;
const LINE: i64 = 7;
const LABEL: i64 = 6;
/// The distance from the border of the picture to its content.
const MARGIN: i64 = 20;
/// The distance between parts.
const PART: i64 = 28;
/// The height of a part's title.
const TITLE: i64 = 26;

/// Renders a standalone picture.
pub fn svg(picture: &Picture) -> String {
    let mut paint = Paint { y: MARGIN + TITLE, ..Paint::default() };
    paint.text((MARGIN, MARGIN + 10), "title", &format!("guard {}", picture.name));
    if !picture.shapes.is_empty() {
        tools(picture, &mut paint);
    }
    for machine in &picture.machines {
        states(machine, &mut paint);
    }
    legend::legend(picture, &mut paint);
    document(picture, &paint)
}

/// Returns the whole file.
fn document(picture: &Picture, paint: &Paint) -> String {
    let width = (paint.width + MARGIN).max(240);
    let height = paint.y + MARGIN - PART;
    let name = escape(&picture.name);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
         {height}\" role=\"img\" aria-labelledby=\"guard-title guard-desc\">\n<title id=\"guard-title\">guard \
         {name}</title>\n<desc id=\"guard-desc\">{}: what each tool needs before it, and what gates it.</desc>\n{}\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n{}</svg>\n",
        escape(&picture.summary),
        paint::HEAD,
        paint.out
    )
}

/// Draws tools in their lanes.
fn tools(picture: &Picture, paint: &mut Paint) {
    let graph = Graph {
        nodes: (0..).zip(&picture.shapes).map(|(id, s)| size(picture, id, s)).collect(),
        links: picture
            .arrows
            .iter()
            .map(|a| LayoutArrow { from: a.from, to: a.to, label: wide(&a.label, LABEL) })
            .collect(),
        lanes: picture.lanes.len(),
        framed: picture.lanes.iter().any(|title| !title.is_empty()),
    };
    let laid = layout(&graph);
    let at = (MARGIN, paint.y);
    if graph.framed {
        for (lane, title) in laid.lanes.iter().zip(&picture.lanes) {
            let title = if title.is_empty() { "without a tag" } else { title };
            paint.rect("lane", moved(*lane, at), 10);
            paint.text((lane.x + at.0 + 12, lane.y + at.1 + 18), "tag", title);
        }
    }
    for (arrow, route) in picture.arrows.iter().zip(&laid.routes) {
        let class = if arrow.conditional { "arrow if" } else { "arrow" };
        // A line into a junction has no arrow head.
        let head = if picture.shapes[arrow.to].tool.is_some() { "guard-head" } else { "" };
        paint.arrow((class, head), &path(route, at), Some(&arrow.tip));
        paint.label(route, at, &arrow.label);
    }
    for (shape, rect) in picture.shapes.iter().zip(&laid.boxes) {
        tool(shape, moved(*rect, at), paint);
    }
    below(&laid, paint);
}

/// Computes the size of a box for its texts and its incoming arrows.
fn size(picture: &Picture, id: usize, shape: &BoxShape) -> LayoutBox {
    if shape.tool.is_none() {
        return LayoutBox { width: 26, height: 20, lane: shape.lane };
    }
    let lines = shape.lines.iter().map(|line| wide(line, LINE)).max().unwrap_or(0);
    let width = wide(&shape.name, NAME).max(lines) + 26;
    let arriving = picture.arrows.iter().filter(|arrow| arrow.to == id).count() as i64;
    let height = (28 + 15 * shape.lines.len() as i64).max(10 + 14 * arriving.min(8));
    LayoutBox { width, height, lane: shape.lane }
}

fn tool(shape: &BoxShape, rect: Rect, paint: &mut Paint) {
    paint.open(&shape.tip);
    let Some(risk) = shape.tool else {
        paint.rect("or", rect, rect.height / 2);
        paint.middle((rect.x + rect.width / 2, rect.y + 14), "small", &shape.name);
        paint.close();
        return;
    };
    paint.rect("box", rect, 6);
    let stripe = Rect { x: rect.x, y: rect.y + 5, width: 4, height: rect.height - 10 };
    paint.rect(words::risk(risk), stripe, 2);
    paint.text((rect.x + 14, rect.y + 19), "name", &shape.name);
    for (n, line) in (0..).zip(&shape.lines) {
        paint.text((rect.x + 14, rect.y + 35 + 15 * n), "line", line);
    }
    paint.close();
}

/// Draws a lifecycle's states.
fn states(machine: &Machine, paint: &mut Paint) {
    let node = |name: &str| LayoutBox { width: wide(name, NAME) + 28, height: 34, lane: 0 };
    let graph = Graph {
        nodes: machine.states.iter().map(|state| node(&state.name)).collect(),
        links: machine
            .moves
            .iter()
            .map(|m| LayoutArrow { from: m.from, to: m.to, label: wide(&m.label, LABEL) })
            .collect(),
        lanes: 1,
        framed: true,
    };
    let laid = layout(&graph);
    let at = (MARGIN, paint.y);
    let frame = Rect { x: 0, y: 0, width: laid.width, height: laid.height + 8 };
    paint.rect("lane", moved(frame, at), 10);
    let title = format!("lifecycle {}", machine.name);
    paint.text((at.0 + 12, at.1 + 18), "tag", &title);
    for (transition, route) in machine.moves.iter().zip(&laid.routes) {
        let (class, head) = if transition.harness {
            ("arrow harness", "guard-harness")
        } else {
            ("arrow agent", "guard-agent")
        };
        let tip = format!("{}: {}", machine.actor(transition), transition.label);
        paint.arrow((class, head), &path(route, at), Some(&tip));
        paint.label(route, at, &transition.label);
    }
    for (state, rect) in machine.states.iter().zip(&laid.boxes) {
        let rect = moved(*rect, at);
        paint.open(&state.name);
        paint.rect(if state.initial { "state first" } else { "state" }, rect, rect.height / 2);
        if state.last {
            let inner = Rect {
                x: rect.x + 3,
                y: rect.y + 3,
                width: rect.width - 6,
                height: rect.height - 6,
            };
            paint.rect("state", inner, inner.height / 2);
        }
        paint.middle((rect.x + rect.width / 2, rect.y + 21), "name", &state.name);
        paint.close();
    }
    below(&laid, paint);
}

/// Moves the position below the last layout.
fn below(laid: &Layout, paint: &mut Paint) {
    paint.y += laid.height + PART;
    paint.width = paint.width.max(MARGIN + laid.width);
}

fn moved(rect: Rect, by: (i64, i64)) -> Rect {
    Rect { x: rect.x + by.0, y: rect.y + by.1, ..rect }
}

/// Returns the width of a text; non-Latin characters may need twice the width.
fn wide(text: &str, each: i64) -> i64 {
    text.chars()
        .map(
            |c| {
                if c < '\u{1100}' || ('\u{2000}'..'\u{2e80}').contains(&c) {
                    each
                } else {
                    2 * each
                }
            },
        )
        .sum()
}
