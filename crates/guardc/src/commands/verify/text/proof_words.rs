//! Words for what a proof rests on, and for what stays unproved.

use guard_compiler::verify::{Basis, Residue, UnprovedReason};
use guard_plan::words::rules::code;
use std::fmt::Write as _;

/// Describes the bases of a proof.
pub fn bases(by: &[Basis]) -> String {
    let words: Vec<String> = by.iter().map(basis).collect();
    match words.split_last() {
        None => "what it writes".into(),
        Some((only, [])) => only.clone(),
        Some((end, rest)) => format!("{} and {end}", rest.join(", ")),
    }
}

/// Describes one basis of a proof.
pub fn basis(basis: &Basis) -> String {
    match basis {
        Basis::Deny(text) => code(&format!("deny {text}")),
        Basis::Invariant(name) => format!("the invariant {}", code(name)),
        Basis::Costs => "what it costs".into(),
        Basis::NoFault => "no overflow".into(),
        Basis::Refinement(name) => format!("the type of {}", code(name)),
        Basis::Rule(text) => code(text),
        Basis::Limits => "its limits".into(),
        Basis::Bound(text) => format!("the bound {}", code(text)),
        Basis::Writers(name) => format!("the tools that write {}", code(name)),
        Basis::Induction => "what every call keeps".into(),
    }
}

/// Joins the conditions that are left to check.
pub(super) fn texts(left: &[Residue]) -> String {
    left.iter().map(|residue| code(&residue.text)).collect::<Vec<_>>().join(" and ")
}

/// Describes why conditions were not proved, and what would prove them.
pub(super) fn reasons(left: &[Residue]) -> String {
    let mut out = String::new();
    for residue in left {
        let why = match residue.why {
            UnprovedReason::Open => "",
            UnprovedReason::Exhausted => ", too hard to prove",
            UnprovedReason::Inexpressible => ", not a thing the prover can say",
            UnprovedReason::Monitored => ", though it would hold",
        };
        out.push_str(why);
        if let Some(needs) = &residue.needs {
            let _ = write!(out, "; {} would prove it", code(&format!("deny unless {needs}")));
        }
    }
    out
}
