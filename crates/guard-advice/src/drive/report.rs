//! The report of a round: bounded, and without secrets.

use guard_plan::decode::{holds_secrets, is_secret};
use guard_plan::json::Json;
use guard_plan::render;
use guard_runtime::Kernel;

/// The maximum length of a text from a reasoner or a tool, in characters.
pub(super) const MAX_WORDS: usize = 500;
/// The maximum length of arguments that are kept whole, in bytes.
const MAX_ARGS: usize = 2_000;

/// Truncates a text.
pub(super) fn cut(text: &str) -> String {
    render::cut(text, MAX_WORDS)
}

/// Returns the arguments of a call for a report.
pub(super) fn args(kernel: &Kernel, tool: &str, args: &Json) -> Json {
    let shown = hidden(kernel, tool, args);
    let text = shown.to_string();
    if text.len() <= MAX_ARGS { shown } else { Json::string(&render::cut(&text, MAX_ARGS / 4)) }
}

/// Returns the arguments. Arguments that are or contain secrets are replaced as a whole.
fn hidden(kernel: &Kernel, tool: &str, args: &Json) -> Json {
    let plan = kernel.plan();
    let (Some(id), Json::Object(members)) = (kernel.tool(tool), args) else {
        return args.clone();
    };
    let params = &plan.tools[id as usize].params;
    let member = |(name, json): &(Box<str>, Json)| {
        let param = params.iter().find(|param| *param.name == **name);
        let secret = param.is_some_and(|param| is_secret(&plan.types, param));
        (name.clone(), if secret { Json::string(render::SECRET) } else { json.clone() })
    };
    Json::Object(members.iter().map(member).collect())
}

/// Returns the result for the reasoner; empty if it may contain secrets.
pub(super) fn result(kernel: &Kernel, tool: &str, result: &Json) -> Option<String> {
    let text = || format!(": {}", render::cut(&result.to_string(), MAX_WORDS));
    (!knows_secrets(kernel, tool)).then(text)
}

/// Returns the reason why a call failed, for the reasoner and the report. The text of a tool that
/// may know secrets is withheld.
pub(super) fn failure(kernel: &Kernel, tool: &str, why: &str) -> String {
    if knows_secrets(kernel, tool) { "its text may have secrets".into() } else { cut(why) }
}

/// Returns true if a tool gets or returns secrets: it may repeat them in any text.
fn knows_secrets(kernel: &Kernel, tool: &str) -> bool {
    let plan = kernel.plan();
    kernel.tool(tool).is_some_and(|id| {
        let tool = &plan.tools[id as usize];
        tool.params.iter().any(|param| is_secret(&plan.types, param))
            || tool.returns.is_some_and(|ty| holds_secrets(&plan.types, ty))
    })
}
