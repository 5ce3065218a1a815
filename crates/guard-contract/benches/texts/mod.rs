//! The texts of the benchmarks: a report of about 10 MB as models write it, and damaged versions of
//! it.

use guard_plan::plan::Plan;

#[path = "../../tests/main/build.rs"]
#[allow(dead_code, missing_docs)]
mod build;

/// The length of a text, in bytes.
const SIZE: usize = 10_000_000;

/// Returns the plan of the triage report, without a limit.
pub fn plan() -> Plan {
    let mut builder = build::triage();
    let list = &mut builder.contract().lists[0];
    (list.max, list.by) = (None, None);
    builder.plan
}

/// Returns items as models write them: pretty-printed, with some text in each.
fn items() -> Vec<String> {
    let item = |rank: usize| {
        format!(
            "{{\n      \"rank\": {rank},\n      \"candidate\": \"workstream-{rank}\",\n      \"action\": \"start\",\n      \
             \"why\": \"It unblocks the \\\"billing\\\" work, which three others wait for; nothing else is ready.\",\n      \
             \"wsjf\": {{\"value\": {}, \"size\": 2}},\n      \"tags\": [\"revenue\", \"q3\"]\n    }}",
            rank % 9 + 1
        )
    };
    let count = SIZE / item(10_000).len();
    (0..count).map(item).collect()
}

/// Returns a text without damage.
pub fn clean() -> String {
    build::document(&items())
}

/// Returns a text in which one item in fifty has an extra quote.
pub fn damaged() -> String {
    let mut items = items();
    for item in items.iter_mut().step_by(50) {
        *item = item.replace("nothing else", "nothing \"else");
    }
    build::document(&items)
}

/// Returns a text in which one item in fifty has an extra comma.
pub fn repairable() -> String {
    let mut items = items();
    for item in items.iter_mut().step_by(50) {
        *item = item.replace("\"q3\"]", "\"q3\",]");
    }
    build::document(&items)
}

/// Returns a text whose last item is cut off.
pub fn cut() -> String {
    let mut text = clean();
    text.truncate(text.len() - 150);
    text
}
