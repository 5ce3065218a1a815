//! Any bytes load or say why not; what loads runs without a panic.

#![no_main]

use guard_plan::json::Json;
use guard_runtime::{Kernel, NoWorld, Proposal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(loaded) = guard_plan::load(bytes) else { return };
    let Ok(kernel) = Kernel::new(loaded) else { return };
    let Ok(mut session) = kernel.open("s", 0, "/workspace") else { return };
    let args = Json::Object(Vec::new());
    for (at, tool) in kernel.plan().tools.iter().enumerate().take(50) {
        let call = at.to_string();
        let proposal = Proposal { call: &call, tool: &tool.wire_name, args: (&args).into(), now: 0 };
        let _ = kernel.propose(&mut session, &proposal, &mut NoWorld);
    }
});
