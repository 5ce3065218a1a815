//! Paths: normalised, absolute, compared component by component.
//!
//! This module only compares texts. The world answers whether a file exists or is a link.

use std::borrow::Cow;

/// The reason why a string is not a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathError {
    /// The string is empty.
    Empty,
    /// The string contains a NUL character.
    Nul,
    /// The string contains a backslash.
    Backslash,
}

impl std::fmt::Display for PathError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PathError::Empty => "a path cannot be empty",
            PathError::Nul => "a path cannot contain NUL",
            PathError::Backslash => "a path cannot contain a backslash",
        })
    }
}

impl std::error::Error for PathError {}

/// Returns the normalised absolute path; borrowed if the input is already normalised.
///
/// # Errors
///
/// Returns the reason why the string is not a path.
pub fn normalise<'a>(workspace: &str, path: &'a str) -> Result<Cow<'a, str>, PathError> {
    if path.is_empty() {
        return Err(PathError::Empty);
    }
    for byte in path.bytes() {
        match byte {
            0 => return Err(PathError::Nul),
            b'\\' => return Err(PathError::Backslash),
            _ => {}
        }
    }
    if is_normal(path) {
        return Ok(Cow::Borrowed(path));
    }
    let mut out = String::with_capacity(workspace.len() + path.len() + 1);
    if !path.starts_with('/') {
        push(&mut out, workspace);
    }
    push(&mut out, path);
    if out.is_empty() {
        out.push('/');
    }
    Ok(Cow::Owned(out))
}

/// Appends the components of a path, each preceded by a slash.
fn push(out: &mut String, path: &str) {
    for component in path.split('/') {
        match component {
            "" | "." => {}
            // The parent of the root is the root, as in a file system.
            ".." => out.truncate(out.rfind('/').unwrap_or(0)),
            name => {
                out.push('/');
                out.push_str(name);
            }
        }
    }
}

fn is_normal(path: &str) -> bool {
    path == "/"
        || path.strip_prefix('/').is_some_and(|rest| {
            rest.split('/').all(|component| !matches!(component, "" | "." | ".."))
        })
}

/// Returns true if a normalised path equals another or lies below it.
pub fn within(path: &str, base: &str) -> bool {
    // A path that cannot be read lies nowhere, neither below the root nor within itself.
    path.starts_with('/')
        && (base == "/"
            || path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Returns the last component; empty for the root.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Returns the path without its last component. The parent of the root is the root.
pub fn parent(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(slash) => &path[..slash],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        let actual = normalise("/ws", path).map_or_else(|e| e.to_string(), Cow::into_owned);
        assert_eq!(actual, expected, "{path}");
    }

    #[test]
    fn normal_forms() {
        check("/a/b", "/a/b");
        check("a/./b//c/", "/ws/a/b/c");
        check("../x", "/x");
        check("../../../x", "/x");
        check("/..", "/");
        check(".", "/ws");
        check("...", "/ws/...");
        check("", "a path cannot be empty");
        check("a\0", "a path cannot contain NUL");
        check("a\\b", "a path cannot contain a backslash");
    }

    #[test]
    fn containment_is_by_components() {
        assert!(within("/ws", "/ws"));
        assert!(within("/ws/a", "/ws"));
        assert!(within("/a", "/"));
        assert!(!within("/workshop", "/ws"));
        assert!(!within("/", "/ws"));
    }
}
