//! A guard as a diagram: tools by tag, their requirements and gates, and the lifecycles' states.

mod dot;
mod layout;
mod machine;
mod model;
mod svg;

use guard_plan::plan::Plan;

/// Renders it as SVG.
pub fn svg(plan: &Plan) -> String {
    svg::svg(&model::picture(plan))
}

/// Renders it as Graphviz text.
pub fn dot(plan: &Plan) -> String {
    dot::dot(&model::picture(plan))
}
