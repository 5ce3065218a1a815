//! Paths as text: programs by their bare names, files relative to a folder. Links are not followed.

/// The folders of the system's own programs.
const SYSTEM: [&str; 8] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
];

/// The folder that stands for the home folder.
pub(crate) const HOME: &str = "/~";

/// Returns the bare name of a system program that is written with its folder; otherwise the text.
pub(crate) fn bare_name(text: &str) -> &str {
    if !text.starts_with('/') {
        return text;
    }
    let normal = join("/", text);
    let is_system = normal.rfind('/').is_some_and(|slash| SYSTEM.contains(&&normal[..slash]));
    if is_system { text.trim_end_matches('/').rsplit('/').next().unwrap_or(text) } else { text }
}

/// Returns the normalised path of a file in a folder.
pub(crate) fn join(folder: &str, text: &str) -> String {
    let mut out = String::with_capacity(folder.len() + text.len() + 1);
    if !text.starts_with('/') && folder != "/" {
        out.push_str(folder);
    }
    for component in text.split('/') {
        match component {
            "" | "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or(0)),
            name => {
                out.push('/');
                out.push_str(name);
            }
        }
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// Returns the path below `base`, if it is one.
pub(crate) fn below<'p>(path: &'p str, base: &str) -> Option<&'p str> {
    match base {
        "/" => path.strip_prefix('/'),
        _ => path.strip_prefix(base)?.strip_prefix('/'),
    }
}
