//! Compiled guards, cached: a kit uses the same guards repeatedly.

use guard_ack::{Kind, Trouble};
use guard_compiler::{NoFiles, SourceFile, compile};
use guard_plan::LoadedPlan;
use guard_runtime::Kernel;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Kernels by the source text of their guard.
#[derive(Debug, Default)]
pub struct Library {
    kernels: Mutex<HashMap<String, Result<Arc<Kernel>, Trouble>>>,
}

impl Library {
    /// Returns the kernel of a guard.
    pub fn kernel(&self, source: &str) -> Result<Arc<Kernel>, Trouble> {
        let known =
            self.kernels.lock().unwrap_or_else(PoisonError::into_inner).get(source).cloned();
        if let Some(known) = known {
            return known;
        }
        // Compiled without the lock, so other threads can proceed. Compiling the same source twice
        // gives the same result.
        let made = made(source);
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        kernels.insert(source.to_owned(), made.clone());
        made
    }
}

fn made(source: &str) -> Result<Arc<Kernel>, Trouble> {
    let trouble =
        |why: String| Trouble::new(Kind::Error, format!("the guard cannot be run: {why}"));
    let file = SourceFile { path: "case.guard".into(), text: source.to_owned() };
    let compilation = compile(file, &mut NoFiles);
    let Some(output) = compilation.output else {
        let errors = compilation.diagnostics.iter().filter(|one| one.is_error());
        let errors: Vec<String> =
            errors.map(|one| format!("{} {}", one.code, one.message)).collect();
        return Err(trouble(errors.join("; ")));
    };
    let plan = LoadedPlan::from_plan(output.plan, output.sources)
        .map_err(|error| trouble(error.to_string()))?;
    Kernel::new(plan).map(Arc::new).map_err(|error| trouble(error.to_string()))
}
