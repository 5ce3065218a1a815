//! The files of a compilation: the root, what it uses, and the bundled library.

/// One source text with the name it is shown by.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Relative to the project where possible, with `/`; `std/files.guard` for the bundled library.
    pub path: String,
    /// The text.
    pub text: String,
}

/// Brings the texts that `use "…"` names. The path is already joined to the using file's folder and
/// normalised; it never climbs out of the project.
pub trait Loader {
    /// The text of the file, or why there is none (`no such file`, `not UTF-8 at byte 17`).
    fn load(&mut self, path: &str) -> Result<String, String>;
}

/// The bundled library: names and texts.
pub fn std_library() -> &'static [(&'static str, &'static str)] {
    &[]
}
