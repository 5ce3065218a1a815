//! What stores promise, over every store; what verification finds; what survives killing and failing disks.

#[path = "main/conformance.rs"]
mod conformance;
#[path = "main/lines.rs"]
mod lines;
