//! Drawing primitives: rectangles, texts, arrows, each escaped.

use crate::commands::render::graph::layout::{Rect, Route};
use guard_plan::markup::escape;
use std::fmt::Write as _;

/// The style classes, and the heads of arrows. There are few colours, which follow the reader's
/// light or dark preference.
pub(super) const HEAD: &str = "<style>
text { font-family: ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', monospace; font-size: 11px; fill: #57606a }
.title { font-size: 15px; font-weight: 600; fill: #1f2328 }
.name { font-size: 13px; font-weight: 600; fill: #1f2328 }
.tag { font-weight: 600 }
.small, .label { font-size: 10px }
.label { stroke: #f6f8fa; stroke-width: 4px; paint-order: stroke; stroke-linejoin: round }
.paper { fill: #ffffff }
.lane { fill: #f6f8fa; stroke: #d8dee4 }
.box, .or, .state { fill: #ffffff; stroke: #afb8c1 }
.first { stroke: #1f2328; stroke-width: 2 }
.low { fill: #afb8c1 }
.medium { fill: #d4a72c }
.high { fill: #e8590c }
.critical { fill: #cf222e }
.arrow { fill: none; stroke: #6e7781; stroke-width: 1.4 }
.if { stroke-dasharray: 5 4 }
.agent { stroke: #0969da }
.harness { stroke: #8250df; stroke-dasharray: 2 3 }
.head { fill: #6e7781 }
.head-agent { fill: #0969da }
.head-harness { fill: #8250df }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 }
.title, .name { fill: #f0f6fc }
.label { stroke: #151b23 }
.paper { fill: #0d1117 }
.lane { fill: #151b23; stroke: #3d444d }
.box, .or, .state { fill: #212830; stroke: #656c76 }
.first { stroke: #f0f6fc }
.low { fill: #656c76 }
.arrow { stroke: #9198a1 }
.head { fill: #9198a1 }
.agent { stroke: #4493f8 }
.head-agent { fill: #4493f8 }
.harness { stroke: #ab7df8 }
.head-harness { fill: #ab7df8 }
}
</style>
<defs>
<marker id=\"guard-head\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"6.5\" markerHeight=\"6.5\" orient=\"auto\"><path class=\"head\" d=\"M0 0.5 8 4 0 7.5Z\"/></marker>
<marker id=\"guard-agent\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"6.5\" markerHeight=\"6.5\" orient=\"auto\"><path class=\"head-agent\" d=\"M0 0.5 8 4 0 7.5Z\"/></marker>
<marker id=\"guard-harness\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"6.5\" markerHeight=\"6.5\" orient=\"auto\"><path class=\"head-harness\" d=\"M0 0.5 8 4 0 7.5Z\"/></marker>
</defs>
";

/// A picture that grows downwards.
#[derive(Default)]
pub(super) struct Paint {
    /// The marks.
    pub out: String,
    /// The start of the next part.
    pub y: i64,
    /// The current width.
    pub width: i64,
}

impl Paint {
    /// Begins a group with a tooltip.
    pub fn open(&mut self, tip: &str) {
        let _ = writeln!(self.out, "<g><title>{}</title>", escape(tip));
    }

    /// Ends a group.
    pub fn close(&mut self) {
        self.out.push_str("</g>\n");
    }

    pub fn rect(&mut self, class: &str, at: Rect, round: i64) {
        let Rect { x, y, width, height } = at;
        let _ = writeln!(
            self.out,
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{round}\"/>"
        );
    }

    /// Draws a text from its left end.
    pub fn text(&mut self, at: (i64, i64), class: &str, text: &str) {
        self.anchored(at, class, "", text);
    }

    /// Draws a text around its middle.
    pub fn middle(&mut self, at: (i64, i64), class: &str, text: &str) {
        self.anchored(at, class, " text-anchor=\"middle\"", text);
    }

    fn anchored(&mut self, (x, y): (i64, i64), class: &str, anchor: &str, text: &str) {
        let text = escape(text);
        let _ =
            writeln!(self.out, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>");
    }

    /// Draws a line, with a head if one is named.
    pub fn arrow(&mut self, (class, head): (&str, &str), path: &str, tip: Option<&str>) {
        let head =
            if head.is_empty() { String::new() } else { format!(" marker-end=\"url(#{head})\"") };
        let tip = tip.map(|tip| format!("<title>{}</title>", escape(tip))).unwrap_or_default();
        let _ = writeln!(self.out, "<path class=\"{class}\" d=\"{path}\"{head}>{tip}</path>");
    }

    /// Draws the label at the end of a route.
    pub fn label(&mut self, route: &Route, by: (i64, i64), text: &str) {
        if text.is_empty() {
            return;
        }
        let (at, anchor) = match route {
            Route::Forward(points) => match points.as_slice() {
                [.., (x, y), _] => ((x - 12, y - 3), " text-anchor=\"end\""),
                _ => return,
            },
            Route::Back(corners) => match corners.as_slice() {
                [_, _, (left, y), (right, _), ..] => {
                    (((left + right) / 2, y - 4), " text-anchor=\"middle\"")
                }
                _ => return,
            },
            Route::Own(x, y) => ((x + 22, y - 6), ""),
        };
        self.anchored((at.0 + by.0, at.1 + by.1), "label", anchor, text);
    }
}

/// Returns a route as an SVG path: curves between columns, rounded corners on the way back.
pub(super) fn path(route: &Route, by: (i64, i64)) -> String {
    let moved = |points: &[(i64, i64)]| -> Vec<(i64, i64)> {
        points.iter().map(|(x, y)| (x + by.0, y + by.1)).collect()
    };
    match route {
        Route::Forward(points) => curves(&moved(points)),
        Route::Back(corners) => rounded(&moved(corners)),
        Route::Own(x, y) => {
            let x = x + by.0;
            let y = y + by.1;
            format!("M{} {y}C{} {} {} {} {} {y}", x - 10, x - 16, y - 20, x + 16, y - 20, x + 10)
        }
    }
}

fn curves(points: &[(i64, i64)]) -> String {
    let mut out = String::new();
    for (n, pair) in points.chunks(2).enumerate() {
        let [(x, y), (to, end)] = pair else { break };
        match n.checked_sub(1).and_then(|before| points.get(before * 2 + 1)) {
            None => _ = write!(out, "M{x} {y}"),
            Some((from, high)) => {
                let middle = (from + x) / 2;
                let _ = write!(out, "C{middle} {high} {middle} {y} {x} {y}");
            }
        }
        let _ = write!(out, "L{to} {end}");
    }
    out
}

fn rounded(corners: &[(i64, i64)]) -> String {
    const ROUND: i64 = 6;
    let toward = |from: (i64, i64), to: (i64, i64)| {
        let step = |a: i64, b: i64| (b - a).signum() * ROUND.min((b - a).abs() / 2);
        (from.0 + step(from.0, to.0), from.1 + step(from.1, to.1))
    };
    let mut out = String::new();
    for (n, at) in corners.iter().enumerate() {
        match (n.checked_sub(1).and_then(|n| corners.get(n)), corners.get(n + 1)) {
            (None, _) => _ = write!(out, "M{} {}", at.0, at.1),
            (Some(_), None) => _ = write!(out, "L{} {}", at.0, at.1),
            (Some(before), Some(next)) => {
                let enter = toward(*at, *before);
                let leave = toward(*at, *next);
                let _ = write!(
                    out,
                    "L{} {}Q{} {} {} {}",
                    enter.0, enter.1, at.0, at.1, leave.0, leave.1
                );
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_back_has_rounded_corners() {
        let route = Route::Back(vec![(50, 10), (40, 10), (40, 60)]);
        assert_eq!(path(&route, (1, 2)), "M51 12L46 12Q41 12 41 18L41 62");
    }

    #[test]
    fn a_way_forward_bends_between_columns() {
        let route = Route::Forward(vec![(0, 5), (10, 5), (30, 25), (40, 25)]);
        assert_eq!(path(&route, (0, 0)), "M0 5L10 5C20 5 20 25 30 25L40 25");
    }
}
