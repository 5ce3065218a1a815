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
mod slot;
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
    module.add_class::<store::PyStore>()?;
    module.add_class::<contract::PyContract>()?;
    module.add_class::<contract::PyFeed>()?;
    module.add_class::<contract::PyReport>()?;
    module.add_class::<verdict::PyVerdict>()?;
    module.add_class::<verdict::PyReason>()?;
    module.add_class::<outcome::PySettled>()?;
    module.add_class::<outcome::PyStopped>()?;
    module.add_function(wrap_pyfunction!(convert::json_text, module)?)?;
    module.add_function(wrap_pyfunction!(process::forked, module)?)?;
    Ok(())
}
