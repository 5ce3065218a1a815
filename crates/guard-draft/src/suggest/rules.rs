//! The rules that held for every value of a parameter, as clauses.

use super::seen::{Choices, TextsSeen, ValuesSeen};
use super::types::text_type;
use crate::text::{UNSAYABLE, quoted};
use guard_plan::decimal;
use guard_plan::value::DECIMAL_ONE;
use std::collections::BTreeSet;

/// The maximum number of texts in an allow-list.
const MAX_LISTED: usize = 12;
/// The maximum number of programs in an allow-list.
const MAX_PROGRAMS: usize = 40;
/// The minimum average number of observations of each text in an allow-list.
const REPEATED: u64 = 3;

/// The maximum bound that is written. A number of more digits may be one of an account or a card.
const MAX_BOUND: u64 = 99_999;

/// A parameter with its observations.
pub(super) struct ParamRules<'r> {
    pub name: &'r str,
    pub values: &'r ValuesSeen,
    /// The type without marks.
    pub ty: &'r str,
    /// True if it was missing in some call.
    pub optional: bool,
    pub min_support: u64,
    /// True if a parameter is called `workspace`, so that no rule can refer to the session's
    /// workspace.
    pub hides_workspace: bool,
}

impl ParamRules<'_> {
    /// Returns the clauses that held.
    pub fn clauses(&self) -> Vec<String> {
        let name = self.name;
        let values = self.values;
        let sayable = !UNSAYABLE.contains(&name);
        if values.count < self.min_support || !sayable || values.is_secret(name) {
            return Vec::new();
        }
        let texts = &values.texts;
        match self.ty {
            "int" if !is_number_of_thing(name) => {
                let range = short(values.int_range, 1);
                let range = range.map(|(low, high)| (low.to_string(), high.to_string()));
                self.range(range).into_iter().collect()
            }
            "decimal" => {
                let range = short(values.range, DECIMAL_ONE);
                let range = range.map(|(low, high)| (decimal::format(low), decimal::format(high)));
                self.range(range).into_iter().collect()
            }
            "path" if texts.inside == texts.count && !self.hides_workspace => {
                vec![self.unless(format!("{name} within workspace"))]
            }
            "url" => {
                let hosts = self.member(&texts.hosts, &format!("{name}.host"), MAX_LISTED);
                let schemes = self.member(&texts.schemes, &format!("{name}.scheme"), MAX_LISTED);
                hosts.into_iter().chain(schemes).collect()
            }
            "command" => self.commands(texts),
            "string" if text_type(name, values, self.min_support) == "string" => {
                self.member(&texts.values, name, MAX_LISTED).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Formats `deny unless CONDITION`, or the equivalent rule if the parameter may be missing.
    fn unless(&self, condition: String) -> String {
        if self.optional {
            format!("deny when {} is some and not ({condition})", self.name)
        } else {
            format!("deny unless {condition}")
        }
    }

    fn range(&self, range: Option<(String, String)>) -> Option<String> {
        let (name, (low, high)) = (self.name, range?);
        Some(if low == high {
            self.unless(format!("{name} == {low}"))
        } else {
            self.unless(format!("{name} >= {low} and {name} <= {high}"))
        })
    }

    /// Returns an allow-list of few texts that were observed repeatedly.
    fn member(&self, choices: &Choices, subject: &str, most: usize) -> Option<String> {
        let listed = self.listed(choices, most)?;
        Some(self.unless(format!("{subject} in {{{}}}", literals(listed))))
    }

    fn listed<'c>(&self, choices: &'c Choices, most: usize) -> Option<&'c BTreeSet<String>> {
        let listed = choices.listed(most)?;
        (self.values.count >= listed.len() as u64 * REPEATED).then_some(listed)
    }

    /// Returns `deny` clauses for a command parameter: from the observed programs, and those
    /// observed with words that only the shell can determine.
    fn commands(&self, texts: &TextsSeen) -> Vec<String> {
        let each = format!("each in commands({})", self.name);
        let mut clauses = Vec::new();
        if let Some(programs) = self.listed(&texts.programs, MAX_PROGRAMS) {
            clauses.push(format!(
                "deny unless all {each}: each.program in {{{}}}",
                literals(programs)
            ));
        }
        if let Some(open) = texts.open_programs.listed(usize::MAX) {
            clauses.push(format!(
                "deny when any {each}: not each.literal and not each.program in {{{}}}",
                literals(open)
            ));
        }
        clauses
    }
}

/// Returns the bounds if neither looks like a long number.
fn short(range: Option<(i64, i64)>, one: i64) -> Option<(i64, i64)> {
    let is_short = |bound: i64| (bound / one).unsigned_abs() <= MAX_BOUND;
    range.filter(|(low, high)| is_short(*low) && is_short(*high))
}

/// Returns true if a parameter of this name is an identifying number rather than a count, so that
/// its range has no meaning.
fn is_number_of_thing(name: &str) -> bool {
    name.eq_ignore_ascii_case("id") || name.ends_with("_id") || name.ends_with("Id")
}

fn literals(texts: &BTreeSet<String>) -> String {
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{DECIMAL_ONE, short};

    #[test]
    fn long_numbers_are_no_bounds() {
        assert_eq!(short(Some((-5, 99_999)), 1), Some((-5, 99_999)));
        assert_eq!(short(Some((5, 100_000)), 1), None);
        assert_eq!(short(Some((-4_111_111, 5)), 1), None);
        let most = 99_999 * DECIMAL_ONE;
        assert_eq!(short(Some((0, most)), DECIMAL_ONE), Some((0, most)));
        assert_eq!(short(Some((0, most + DECIMAL_ONE)), DECIMAL_ONE), None);
    }
}
