//! Screens: the patterns that several denies match against one parameter, evaluated in one pass.

use guard_plan::plan::{Node, Tool};
use regex::{RegexSet, RegexSetBuilder};
use std::collections::BTreeMap;

/// The maximum compiled size of the patterns of one screen, in bytes.
const SCREEN_BYTES: usize = 4 << 20;

/// The patterns that several denies match against one parameter, one pattern each. If no pattern
/// matches, none of these denies applies.
#[derive(Debug)]
pub(crate) struct Screen {
    pub param: u32,
    pub patterns: RegexSet,
    /// The denies, by position.
    pub denies: Box<[u32]>,
}

/// Splits the denies into screens and the indexes of the other denies. A screen has the denies that
/// match the same parameter against one pattern each.
pub(super) fn split(tool: &Tool, regexes: &[String]) -> (Box<[u32]>, Box<[Screen]>) {
    let mut asked: BTreeMap<u32, Vec<(u32, &str)>> = BTreeMap::new();
    for (place, deny) in (0..).zip(&tool.denies) {
        // Only a condition that is nothing but one match qualifies: within a larger one, the match
        // alone decides nothing.
        if let [Node::Param(param), Node::Matches(0, regex)] = deny.condition.0.as_slice() {
            let pattern = regexes.get(*regex as usize).map_or("", String::as_str);
            asked.entry(*param).or_default().push((place, pattern));
        }
    }
    let mut screens = Vec::new();
    for (param, asked) in asked.into_iter().filter(|(_, asked)| asked.len() > 1) {
        let mut patterns = RegexSetBuilder::new(asked.iter().map(|(_, pattern)| pattern));
        // If the set exceeds the size limit, each pattern is matched separately.
        if let Ok(patterns) = patterns.size_limit(SCREEN_BYTES).build() {
            let denies = asked.iter().map(|(place, _)| *place).collect();
            screens.push(Screen { param, patterns, denies });
        }
    }
    let screened = |place: &u32| screens.iter().any(|screen| screen.denies.contains(place));
    let others = (0..tool.denies.len() as u32).filter(|place| !screened(place)).collect();
    (others, screens.into())
}
