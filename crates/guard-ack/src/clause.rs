//! The clauses by which adapters are judged, and the capabilities that they may declare, read from
//! the contract's page.

use std::sync::LazyLock;

/// The page of the contract.
const PAGE: &str = include_str!("../adapter.md");

/// One promise of an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckClause {
    /// The permanent id.
    pub id: &'static str,
    /// The promise.
    pub promise: &'static str,
    /// The tier, from 1.
    pub tier: u8,
}

/// One capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capability {
    /// The name.
    pub name: &'static str,
    /// The tier, from 1.
    pub tier: u8,
}

/// The names of the tiers, which are also the areas of the cases.
pub const TIERS: [&str; 6] =
    ["gate", "effects", "steering", "completion", "boundary", "durability"];

struct ClausePage {
    clauses: Vec<AckClause>,
    capabilities: Vec<Capability>,
}

static CONTRACT: LazyLock<ClausePage> = LazyLock::new(|| read(PAGE));

fn read(text: &'static str) -> ClausePage {
    let mut page = ClausePage { clauses: Vec::new(), capabilities: Vec::new() };
    let mut tier = 0;
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            tier = heading.split('.').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        } else if let Some(names) = line.strip_prefix("Capabilities:") {
            let names = names.split('`').skip(1).step_by(2);
            page.capabilities.extend(names.map(|name| Capability { name, tier }));
        } else if let Some((id, promise)) =
            line.strip_prefix("| `").and_then(|row| row.split_once("` | "))
        {
            let promise = promise.trim_end_matches('|').trim_end();
            page.clauses.push(AckClause { id, promise, tier });
        }
    }
    page
}

/// Returns all clauses, in the order of the page.
pub fn all() -> &'static [AckClause] {
    &CONTRACT.clauses
}

/// Returns the clause with an id.
pub fn find(id: &str) -> Option<&'static AckClause> {
    all().iter().find(|clause| clause.id == id)
}

/// Returns all capabilities, in the order of the page.
pub fn capabilities() -> &'static [Capability] {
    &CONTRACT.capabilities
}

/// Returns the capability with a name.
pub fn capability(name: &str) -> Option<&'static Capability> {
    capabilities().iter().find(|capability| capability.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_read() {
        assert_eq!(find("GATE-1").map(|clause| clause.tier), Some(1));
        assert_eq!(capability("replay").map(|capability| capability.tier), Some(6));
        assert_eq!(capabilities().len(), 27);
        let mut ids: Vec<_> = all().iter().map(|clause| clause.id).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "a number is given twice");
    }
}
