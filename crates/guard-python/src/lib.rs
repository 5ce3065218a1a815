//! The extension module below the Python package `guardc`: guards, sessions, contracts and stores of `guard-sdk`.
//!
//! Every entry converts its arguments before anything happens, runs the engine without the interpreter's lock where
//! the engine may wait, and turns each failure, panics included, into a Python exception. Decides nothing.

#![forbid(unsafe_code)]

mod contract;
mod convert;
mod errors;
mod guard;
mod outcome;
mod process;
mod session;
mod store;
mod verdict;

use pyo3::prelude::*;

/// The engine of the package `guardc`. Import `guardc`, not this module.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::register(module)?;
    module.add_class::<guard::EngineGuard>()?;
    module.add_class::<session::EngineSession>()?;
    module.add_class::<store::Store>()?;
    module.add_class::<contract::Contract>()?;
    module.add_class::<contract::Feed>()?;
    module.add_class::<contract::Report>()?;
    module.add_class::<verdict::Verdict>()?;
    module.add_class::<verdict::Reason>()?;
    module.add_class::<outcome::Settled>()?;
    module.add_class::<outcome::Stopped>()?;
    module.add_function(wrap_pyfunction!(convert::json_text, module)?)?;
    module.add_function(wrap_pyfunction!(process::forked, module)?)?;
    Ok(())
}
