//! The sums over all sessions, in the order of the files, whatever the order of completion.

use guard_plan::replay_report::{Decider, Failed, ReplayReport, RuleCount, SkippedLines};
use guard_plan::time;
use guard_trace::replay::{Judge, Replayed, RuleDifference};
use std::collections::BTreeMap;

/// The maximum number of timeline rows.
const TIMELINE_ROWS: usize = 200;
/// The maximum number of distinct rules.
const RULES: usize = 1000;

/// The sums of sessions.
#[derive(Debug, Default)]
pub struct ReplaySummary {
    report: ReplayReport,
    rules: BTreeMap<RuleDifference, u64>,
    /// For each judge, the number of decided sessions, and of those recorded with its own plan.
    decided: Vec<(u64, u64)>,
    begin: Option<i64>,
    end: Option<i64>,
    list: usize,
    /// The number of sessions whose records were not all compared byte for byte.
    inexact: u64,
}

impl ReplaySummary {
    /// Returns empty sums that list up to a number of differences.
    pub fn new(judges: usize, list: usize) -> ReplaySummary {
        ReplaySummary { decided: vec![(0, 0); judges], list, ..ReplaySummary::default() }
    }

    /// Adds one session.
    pub fn session(&mut self, file: &str, judge: usize, replayed: Replayed) {
        let report = &mut self.report;
        report.sessions += 1;
        report.same_sessions += u64::from(replayed.recorded.is_same());
        report.records += replayed.records;
        report.recorded.add(&replayed.recorded);
        report.strict.add(&replayed.strict);
        self.decided[judge].0 += 1;
        self.decided[judge].1 += u64::from(replayed.own);
        self.inexact += u64::from(!replayed.exact);
        self.begin = self.begin.into_iter().chain([replayed.start]).min();
        self.end = self.end.into_iter().chain([replayed.end]).max();
        if !replayed.recorded.is_same() && report.lanes.len() < TIMELINE_ROWS.min(self.list) {
            report.lanes.push(replayed.lane(file));
        }
        report.unlisted += replayed.unlisted;
        for mut difference in replayed.differences {
            difference.file = file.to_owned();
            push(&mut report.differences, &mut report.unlisted, difference, self.list);
        }
        self.rules(replayed.rules);
    }

    fn rules(&mut self, rules: BTreeMap<RuleDifference, u64>) {
        for (rule, count) in rules {
            // Known rules are counted beyond the bound too, or their sums would be wrong.
            if self.rules.len() < RULES || self.rules.contains_key(&rule) {
                *self.rules.entry(rule).or_default() += count;
            }
        }
    }

    /// Adds an input that could not be replayed.
    pub fn failed(&mut self, file: &str, line: Option<u64>, message: String) {
        self.report.failures.push(Failed { file: file.to_owned(), line, message });
    }

    /// Adds a skipped input.
    pub fn passed_over(&mut self, file: SkippedLines) {
        self.report.passed_over.push(file);
    }

    /// Sets the format of a log.
    pub fn form(&mut self, name: &str) {
        let from = self.report.from.get_or_insert_default();
        if !from.split(", ").any(|word| word == name) {
            let separator = if from.is_empty() { "" } else { ", " };
            *from = format!("{from}{separator}{name}");
        }
    }

    /// Adds the sums of later files.
    pub fn merge(&mut self, after: ReplaySummary) {
        let mine = &mut self.report;
        let its = after.report;
        mine.sessions += its.sessions;
        mine.same_sessions += its.same_sessions;
        mine.records += its.records;
        mine.recorded.add(&its.recorded);
        mine.strict.add(&its.strict);
        self.inexact += after.inexact;
        mine.unlisted += its.unlisted;
        for difference in its.differences {
            push(&mut mine.differences, &mut mine.unlisted, difference, self.list);
        }
        mine.lanes.extend(its.lanes);
        mine.lanes.truncate(TIMELINE_ROWS.min(self.list));
        mine.failures.extend(its.failures);
        mine.passed_over.extend(its.passed_over);
        for (mine, its) in self.decided.iter_mut().zip(after.decided) {
            *mine = (mine.0 + its.0, mine.1 + its.1);
        }
        self.begin = self.begin.into_iter().chain(after.begin).min();
        self.end = self.end.into_iter().chain(after.end).max();
        self.rules(after.rules);
        its.from.iter().flat_map(|from| from.split(", ")).for_each(|form| self.form(form));
    }

    /// Returns true if all records were compared byte for byte.
    pub fn is_exact(&self) -> bool {
        self.inexact == 0
    }

    /// Returns the report.
    pub fn report(self, judges: &[Judge]) -> ReplayReport {
        let mut rules: Vec<RuleCount> = self
            .rules
            .into_iter()
            .map(|((code, rule, span, then, now), count)| RuleCount {
                code,
                rule,
                span,
                then,
                now,
                count,
            })
            .collect();
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.count));
        let guards = judges.iter().zip(self.decided).map(|(judge, (sessions, own))| Decider {
            guard: judge.guard().to_owned(),
            plan: judge.hash().to_owned(),
            sessions,
            own,
        });
        let shown = |at: Option<i64>| at.map(time::format_rfc3339);
        let begin = shown(self.begin);
        let end = shown(self.end);
        ReplayReport { guards: guards.collect(), rules, begin, end, ..self.report }
    }
}

fn push<T>(list: &mut Vec<T>, unlisted: &mut u64, item: T, most: usize) {
    if list.len() < most {
        list.push(item);
    } else {
        *unlisted += 1;
    }
}
