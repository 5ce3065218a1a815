//! Tests of the guarantees of every store, of verification, of killed processes and of failing
//! disks.

#[path = "main/big.rs"]
mod big;
#[path = "main/child.rs"]
mod child;
#[path = "main/conformance.rs"]
mod conformance;
#[path = "main/faults.rs"]
mod faults;
#[path = "main/ledger.rs"]
mod ledger;
#[path = "main/lines.rs"]
mod lines;
#[path = "main/marks.rs"]
mod marks;
#[path = "main/place.rs"]
mod place;
#[path = "main/tampering.rs"]
mod tampering;
