//! `guardc trace stats`: counts calls, decisions, reasons and spending.

use super::filter::Filter;
use super::walk::walk;
use crate::failure::{CommandResult, Exit, Failure};
use crate::term::{Console, Style};
use guard_plan::record::{Charge, Delivered, Payload, Record, StopDecision};
use guard_plan::verdict::{Code, Decision};
use guard_plan::words::grouped;
use guard_plan::{decimal, render, time};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The maximum number of distinct tools, reasons and units; an agent may invent tool names.
const NAMES: usize = 10_000;
/// The maximum number of shown reasons and tools.
const TOLD: usize = 10;

/// Counts calls (by tool and verdict), reasons, spending and stops
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Traces, or folders of them; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub filter: Filter,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// The calls of one tool.
#[derive(Debug, Default)]
struct Calls {
    allowed: u64,
    waiting: u64,
    asked: u64,
    denied: u64,
    succeeded: u64,
    failed: u64,
}

#[derive(Debug, Default)]
struct TraceStats {
    sessions: u64,
    records: u64,
    first: Option<i64>,
    last: Option<i64>,
    tools: BTreeMap<String, Calls>,
    reasons: BTreeMap<(Code, String), u64>,
    spent: BTreeMap<String, i128>,
    feedback: BTreeMap<String, u64>,
    approvals: u64,
    halts: u64,
    stops: [u64; 3],
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    args.filter.check()?;
    let mut stats = TraceStats::default();
    let sound = walk(&args.traces, "counting", term, &mut |at, record, _| {
        if args.filter.takes(at, record) {
            stats.add(record, at.tool.as_deref());
        }
        Ok(())
    })?;
    if args.json {
        term.data(&format!("{:#}\n", stats.json()))?;
    } else {
        term.print(&stats.text(term.out))?;
    }
    if sound { Ok(Exit::Fine) } else { Err(Failure::Said) }
}

/// Returns the entry of a name, unless the table is full.
fn entry<K: Ord, V: Default>(map: &mut BTreeMap<K, V>, key: K) -> Option<&mut V> {
    if map.len() >= NAMES && !map.contains_key(&key) {
        return None;
    }
    Some(map.entry(key).or_default())
}

impl TraceStats {
    fn add(&mut self, record: &Record, tool: Option<&str>) {
        self.records += 1;
        if let Some(now) = time::parse_rfc3339(&record.time) {
            self.first = Some(self.first.map_or(now, |first| first.min(now)));
            self.last = Some(self.last.map_or(now, |last| last.max(now)));
        }
        match &record.payload {
            Payload::Open(_) => self.sessions += 1,
            Payload::Propose(propose) => {
                if let Some(calls) = entry(&mut self.tools, propose.tool.to_string()) {
                    match propose.verdict.decision {
                        Decision::Allow => calls.allowed += 1,
                        Decision::Wait => calls.waiting += 1,
                        Decision::Ask => calls.asked += 1,
                        Decision::Deny => calls.denied += 1,
                    }
                    calls.succeeded += u64::from(propose.served.is_some());
                }
                for reason in &propose.verdict.reasons {
                    let key = (reason.code, reason.rule.clone());
                    entry(&mut self.reasons, key).into_iter().for_each(|count| *count += 1);
                }
                propose
                    .charged
                    .iter()
                    .for_each(|Charge { unit, amount }| self.spend(unit, amount, 1));
                self.halts += u64::from(propose.halted);
                self.said(&propose.feedback);
            }
            Payload::Settle(settle) => {
                if let Some(calls) = tool.and_then(|tool| entry(&mut self.tools, tool.to_owned())) {
                    if settle.success { calls.succeeded += 1 } else { calls.failed += 1 }
                }
                settle
                    .returned
                    .iter()
                    .for_each(|Charge { unit, amount }| self.spend(unit, amount, -1));
                self.halts += u64::from(settle.halted);
                self.said(&settle.feedback);
            }
            Payload::Usage(usage) => self.spend(&usage.unit, &usage.amount, 1),
            Payload::Approve(_) => self.approvals += 1,
            Payload::Stop(stop) => {
                let kind = match (stop.decision, stop.incomplete) {
                    (StopDecision::Allow, false) => 0,
                    (StopDecision::Allow, true) => 1,
                    (StopDecision::Block, _) => 2,
                };
                self.stops[kind] += 1;
            }
            _ => {}
        }
    }

    /// Adds an amount to the spending of a unit, or subtracts it.
    fn spend(&mut self, unit: &str, amount: &str, sign: i128) {
        let amount = sign * i128::from(decimal::parse(amount).unwrap_or_default());
        entry(&mut self.spent, unit.to_owned()).into_iter().for_each(|sum| *sum += amount);
    }

    fn said(&mut self, feedback: &[Delivered]) {
        for message in feedback {
            entry(&mut self.feedback, message.provider.clone())
                .into_iter()
                .for_each(|count| *count += 1);
        }
    }

    /// Returns the most frequent reasons first.
    fn top(&self) -> Vec<(&(Code, String), u64)> {
        let mut top: Vec<_> = self.reasons.iter().map(|(key, count)| (key, *count)).collect();
        top.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        top
    }

    fn json(&self) -> serde_json::Value {
        let shown = |at: Option<i64>| at.map(time::format_rfc3339);
        let tools = self.tools.iter().map(|(tool, counts)| {
            json!({
                "tool": tool, "allow": counts.allowed, "wait": counts.waiting, "ask": counts.asked, "deny": counts.denied,
                "succeeded": counts.succeeded, "failed": counts.failed,
            })
        });
        let reasons = self
            .top()
            .into_iter()
            .map(|((code, rule), count)| json!({ "code": code, "rule": rule, "count": count }));
        let spent =
            self.spent.iter().map(|(unit, sum)| json!({ "unit": unit, "amount": amount(*sum) }));
        json!({
            "sessions": self.sessions,
            "records": self.records,
            "first": shown(self.first),
            "last": shown(self.last),
            "tools": tools.collect::<Vec<_>>(),
            "reasons": reasons.collect::<Vec<_>>(),
            "spent": spent.collect::<Vec<_>>(),
            "feedback": self.feedback,
            "approvals": self.approvals,
            "halts": self.halts,
            "stops": { "allowed": self.stops[0], "incomplete": self.stops[1], "blocked": self.stops[2] },
        })
    }

    fn text(&self, style: Style) -> String {
        let mut out = String::new();
        let _ =
            write!(out, "{} records of {} sessions", grouped(self.records), grouped(self.sessions));
        if let (Some(first), Some(last)) = (self.first, self.last) {
            let _ =
                write!(out, ", {} to {}", time::format_rfc3339(first), time::format_rfc3339(last));
        }
        out.push('\n');
        if !self.tools.is_empty() {
            let _ = writeln!(
                out,
                "\n{:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
                "allow", "ask", "wait", "deny", "succeeded", "failed"
            );
        }
        let mut tools: Vec<_> = self.tools.iter().collect();
        tools.sort_by_key(|(_, counts)| {
            std::cmp::Reverse(counts.allowed + counts.asked + counts.waiting + counts.denied)
        });
        for (tool, counts) in tools.iter().take(4 * TOLD) {
            let numbers = [
                counts.allowed,
                counts.asked,
                counts.waiting,
                counts.denied,
                counts.succeeded,
                counts.failed,
            ];
            let cells: Vec<String> =
                numbers.iter().map(|n| format!("{:>9}", grouped(*n))).collect();
            let _ = writeln!(out, "{}  {}", cells.join(" "), style.bold(&render::cut(tool, 60)));
        }
        if tools.len() > 4 * TOLD {
            let _ = writeln!(out, "and {} more tools", tools.len() - 4 * TOLD);
        }
        let top = self.top();
        if !top.is_empty() {
            out += "\nreasons:\n";
        }
        for ((code, rule), count) in top.iter().take(TOLD) {
            let _ = writeln!(
                out,
                "{:>9}  {} {}",
                grouped(*count),
                code.as_str(),
                render::cut(rule, 60)
            );
        }
        self.rest(&mut out);
        out
    }

    fn rest(&self, out: &mut String) {
        if !self.spent.is_empty() {
            *out += "\nspent:\n";
        }
        for (unit, sum) in &self.spent {
            let _ = writeln!(out, "{:>9}  {}", amount(*sum), render::cut(unit, 60));
        }
        if !self.feedback.is_empty() {
            *out += "\nfeedback:\n";
        }
        for (provider, count) in &self.feedback {
            let _ = writeln!(out, "{:>9}  {}", grouped(*count), render::cut(provider, 60));
        }
        let others = [
            (self.approvals, "approvals"),
            (self.halts, "halts"),
            (self.stops[0], "stops"),
            (self.stops[1], "stops, incomplete"),
            (self.stops[2], "stops blocked"),
        ];
        if others.iter().any(|(count, _)| *count > 0) {
            out.push('\n');
        }
        for (count, what) in others.iter().filter(|(count, _)| *count > 0) {
            let _ = writeln!(out, "{:>9}  {what}", grouped(*count));
        }
    }
}

/// Formats a sum of amounts, which may exceed the range of one amount.
fn amount(sum: i128) -> String {
    let exact = i64::try_from(sum).map(decimal::format);
    exact.unwrap_or_else(|_| format!("{}", sum / 1_000_000))
}
