//! One constructor per problem with names, types and clauses.
//!
//! Codes: `G01` names, `G02` types, `G03` clauses, `G05` warnings. Each has its page in `docs/codes/`.
//! A constructor decides code, words, places and help; whoever calls it only says what it found.
mod clauses;
mod names;
mod types;
mod warnings;
mod words;

pub(crate) use clauses::*;
pub(crate) use names::*;
pub(crate) use types::*;
pub(crate) use warnings::*;
pub(crate) use words::{chain, count};

/// Every code of this crate with its title, sorted.
pub const CODES: &[(&str, &str)] = &[
    ("G0101", "no `guard NAME` line"),
    ("G0102", "name declared twice"),
    ("G0103", "used file cannot be read"),
    ("G0104", "files use one another in a circle"),
    ("G0105", "used file is a guard of its own"),
    ("G0106", "unknown library"),
    ("G0107", "used path leaves the project"),
    ("G0110", "unknown name"),
    ("G0111", "unknown tool"),
    ("G0112", "unknown type"),
    ("G0113", "unknown field"),
    ("G0114", "unknown function"),
    ("G0115", "unknown unit"),
    ("G0116", "unknown parameter"),
    ("G0117", "unknown variant"),
    ("G0118", "unknown word"),
    ("G0119", "variant of several enums"),
    ("G0120", "unknown edition"),
    ("G0121", "define stands for itself"),
    ("G0122", "define stands for too much"),
    ("G0201", "type mismatch"),
    ("G0202", "operator does not fit its operands"),
    ("G0203", "membership the wrong way round"),
    ("G0204", "value may be missing"),
    ("G0205", "json cannot be computed with"),
    ("G0206", "int and decimal mixed"),
    ("G0207", "wrong arguments of a function"),
    ("G0208", "literal that does not fit"),
    ("G0209", "impossible type"),
    ("G0210", "refinement that does not fit"),
    ("G0211", "invalid regular expression"),
    ("G0212", "question asked in the wrong place"),
    ("G0213", "not a thing with parts"),
    ("G0215", "initial value is not constant"),
    ("G0216", "text is no such value"),
    ("G0217", "a secret would leave its place"),
    ("G0218", "an empty text is looked for"),
    ("G0301", "variable written twice"),
    ("G0302", "requirements in a circle"),
    ("G0304", "cost may be negative"),
    ("G0305", "effect does not fit its variable"),
    ("G0306", "policy names a parameter that a tool lacks"),
    ("G0307", "block that is never reached"),
    ("G0308", "empty `any`"),
    ("G0309", "said twice"),
    ("G0311", "description where a rule must stand"),
    ("G0312", "incomplete lifecycle"),
    ("G0313", "count of nothing"),
    ("G0314", "contract that does not fit"),
    ("G0315", "scenario that does not fit"),
    ("G0316", "guard over its step bound"),
    ("G0317", "learning from an untrusted result"),
    ("G0318", "initial state is not allowed"),
    ("G0319", "an invariant or property that must be proved is not"),
    ("G0320", "a budget that nothing charges"),
    ("G0321", "name in a policy that means two things"),
    ("G0322", "a clause that a property cannot have"),
    ("G0501", "undeclared tools are allowed"),
    ("G0502", "declared and never used"),
    ("G0503", "regular expression is not anchored"),
    ("G0504", "negated class that spells a word"),
    ("G0505", "nested repetition"),
    ("G0506", "policy governs no tool"),
    ("G0508", "parameter hides another name"),
    ("G0509", "comparison that never varies"),
    ("G0510", "tool that can never be called"),
    ("G0511", "rule that never fires"),
    ("G0512", "rule that another one covers"),
    ("G0513", "limit that a budget makes moot"),
    ("G0514", "end that cannot be reached"),
    ("G0515", "advice that is never given"),
    ("G0516", "fact that nobody teaches"),
    ("G0517", "irreversible and nobody is asked"),
    ("G0518", "approval that is never asked for"),
    ("G0519", "success that a later failure does not end"),
    ("G0520", "requirement that any call meets"),
    ("G0521", "operand in the body of a quantifier"),
];
