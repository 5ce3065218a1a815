//! A guard as a drawing: tools by tag, what each needs first, what gates it, and the lifecycles' states.

mod dot;
mod layout;
mod machine;
mod model;
mod svg;

use guard_plan::plan::Plan;

/// As a picture.
pub fn svg(plan: &Plan) -> String {
    svg::svg(&model::picture(plan))
}

/// As text for Graphviz.
pub fn dot(plan: &Plan) -> String {
    dot::dot(&model::picture(plan))
}
