//! The legend: only the marks that occur in the picture.

use super::paint::Paint;
use super::{LINE, MARGIN, PART, wide};
use crate::commands::render::graph::layout::Rect;
use crate::commands::render::graph::model::Picture;
use guard_plan::plan::Risk;
use guard_plan::words;

/// A mark of the legend.
enum LegendMark {
    Stripe(&'static str),
    Line(&'static str, &'static str),
    Or,
    State(bool),
}

/// Draws the legend below everything, in as many rows as necessary.
pub(super) fn legend(picture: &Picture, paint: &mut Paint) {
    let entries = entries(picture);
    let right = paint.width.max(560);
    let mut x = MARGIN;
    let mut y = paint.y;
    for (mark, text) in entries {
        let sign_width = if matches!(mark, LegendMark::Stripe(_)) { 4 } else { 28 };
        let width = sign_width + 8 + wide(text, LINE) + 22;
        if x > MARGIN && x + width > right {
            (x, y) = (MARGIN, y + 20);
        }
        sign(&mark, (x, y), paint);
        paint.text((x + sign_width + 8, y + 4), "line", text);
        x += width;
        paint.width = paint.width.max(x - 22);
    }
    paint.y = y + 8 + PART;
}

fn entries(picture: &Picture) -> Vec<(LegendMark, &'static str)> {
    let mut out = Vec::new();
    let shapes = || picture.shapes.iter();
    let risks = [
        (Risk::Low, "low risk"),
        (Risk::Medium, "medium risk"),
        (Risk::High, "high risk"),
        (Risk::Critical, "critical risk"),
    ];
    let present = risks.into_iter().filter(|(r, _)| shapes().any(|s| s.tool == Some(*r)));
    out.extend(present.map(|(r, text)| (LegendMark::Stripe(words::risk(r)), text)));
    if picture.arrows.iter().any(|arrow| !arrow.conditional) {
        out.push((LegendMark::Line("arrow", "guard-head"), "must come first"));
    }
    if picture.arrows.iter().any(|arrow| arrow.conditional) {
        out.push((LegendMark::Line("arrow if", "guard-head"), "under a condition"));
    }
    if shapes().any(|shape| shape.tool.is_none()) {
        out.push((LegendMark::Or, "one of these is enough"));
    }
    let moves = || picture.machines.iter().flat_map(|machine| &machine.moves);
    if moves().any(|transition| !transition.harness) {
        out.push((LegendMark::Line("arrow agent", "guard-agent"), "by the agent"));
    }
    if moves().any(|transition| transition.harness) {
        out.push((LegendMark::Line("arrow harness", "guard-harness"), "by the harness"));
    }
    if !picture.machines.is_empty() {
        out.push((LegendMark::State(false), "items begin here"));
        out.push((LegendMark::State(true), "items end here"));
    }
    out
}

fn sign(mark: &LegendMark, (x, y): (i64, i64), paint: &mut Paint) {
    let oval = Rect { x, y: y - 8, width: 28, height: 16 };
    match mark {
        LegendMark::Stripe(class) => {
            paint.rect(class, Rect { x, y: y - 7, width: 4, height: 14 }, 2)
        }
        LegendMark::Line(class, head) => {
            paint.arrow((class, head), &format!("M{x} {y}L{} {y}", x + 28), None);
        }
        LegendMark::Or => {
            paint.rect("or", oval, 8);
            paint.middle((x + 14, y + 4), "small", "or");
        }
        LegendMark::State(false) => paint.rect("state first", oval, 8),
        LegendMark::State(true) => {
            paint.rect("state", oval, 8);
            let inner = Rect { x: x + 3, y: y - 5, width: 22, height: 10 };
            paint.rect("state", inner, 5);
        }
    }
}
