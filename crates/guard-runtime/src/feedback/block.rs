//! Renders feedback blocks as text. Interpolated text cannot end a block or begin another.

use crate::compiled::expr::CompiledExpr;
use crate::eval::context::Context;
use guard_plan::markup;
use guard_plan::plan::{Block, Feedback, Message, Part};
use guard_plan::record::Delivered;
use guard_plan::render;
use guard_plan::value::Fault;

/// Returns the message of a provider: its first block whose condition holds, if any.
pub(super) fn first_message<'a>(
    cx: &Context<'a>,
    feedback: &Feedback,
    when: &'a [Option<CompiledExpr>],
    judged: u64,
) -> Result<Option<Delivered>, Fault> {
    for (block, when) in feedback.blocks.iter().zip(when) {
        if cx.holds_if_any(when)? {
            let text = rendered(cx, &feedback.name, block)?;
            let provider = feedback.name.clone();
            let severity = block.severity;
            return Ok(Some(Delivered { provider, severity, text, judged }));
        }
    }
    Ok(None)
}

fn rendered(cx: &Context<'_>, name: &str, block: &Block) -> Result<String, Fault> {
    let mut out = format!("<feedback provider='{}'>\n", attribute(name));
    message(cx, &block.message, &mut out)?;
    out.push('\n');
    for (suggest, mark) in [(false, "* "), (true, "-> ")] {
        let lines = || block.notes.iter().filter(|line| line.suggest == suggest);
        if lines().next().is_some() {
            out.push('\n');
        }
        for line in lines() {
            out.push_str(mark);
            message(cx, &line.text, &mut out)?;
            out.push('\n');
        }
    }
    out.push_str("</feedback>");
    Ok(out)
}

fn message(cx: &Context<'_>, message: &Message, out: &mut String) -> Result<(), Fault> {
    for part in &message.parts {
        match part {
            Part::Text(text) => out.push_str(text),
            // A secret is not evaluated at all, so that no fault quotes it.
            Part::Value(show) if show.secret => out.push_str(render::SECRET),
            Part::Value(show) => {
                let value = cx.eval_shown(&CompiledExpr::new(&show.expr))?;
                out.push_str(&render::interpolated(&cx.compiled.plan().types, show.ty, &value));
            }
        }
    }
    Ok(())
}

/// Formats a name in single quotes. The names in compiled guards need no escaping.
fn attribute(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '&' | '<' | '>' => out.extend(markup::entity(c)),
            '\'' => out.push_str("&apos;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
