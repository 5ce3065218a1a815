//! Any text compiles or says why not; what compiles has a plan that loads and runs.

#![no_main]

use guard_compiler::{NoFiles, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_runtime::Kernel;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let root = SourceFile { path: "fuzz.guard".into(), text: text.into() };
    let compilation = compile(root, &mut NoFiles);
    for diagnostic in &compilation.diagnostics {
        let end = diagnostic.primary.span.end as usize;
        assert!(end <= text.len() || diagnostic.primary.span.file.0 > 0, "{diagnostic:?}");
    }
    if let Some(output) = compilation.output {
        let loaded = LoadedPlan::from_plan(output.plan, output.sources).expect("a compiled plan loads");
        Kernel::new(loaded).expect("a compiled plan runs");
    }
});
