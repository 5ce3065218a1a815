//! The texts of the benchmarks: a report of about 10 MB as models write it, and what is done to it.

use guard_plan::plan::Plan;

#[path = "../../tests/main/build.rs"]
#[allow(dead_code, missing_docs)]
mod build;

/// The length of a text, in bytes.
const SIZE: usize = 10_000_000;

/// The triage report without a limit.
pub fn plan() -> Plan {
    let mut builder = build::triage();
    let list = &mut builder.contract().lists[0];
    (list.max, list.by) = (None, None);
    builder.plan
}

/// As models write: pretty, with some text in each item.
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

/// All of it is good.
pub fn clean() -> String {
    build::document(&items())
}

/// One item in fifty has a quote too many.
pub fn damaged() -> String {
    let mut items = items();
    for item in items.iter_mut().step_by(50) {
        *item = item.replace("nothing else", "nothing \"else");
    }
    build::document(&items)
}

/// One item in fifty has a comma too many.
pub fn repairable() -> String {
    let mut items = items();
    for item in items.iter_mut().step_by(50) {
        *item = item.replace("\"q3\"]", "\"q3\",]");
    }
    build::document(&items)
}

/// The last item is cut.
pub fn cut() -> String {
    let mut text = clean();
    text.truncate(text.len() - 150);
    text
}
