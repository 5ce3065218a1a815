//! Programs of `sed` and `awk`: the test whether they can run commands or access files. In doubt,
//! they can.

mod awk;
mod sed;

pub(crate) use awk::awk_is_harmless;
pub(crate) use sed::sed_is_harmless;

/// Returns true if every bracket of a regular expression closes, whether or not a backslash
/// escapes in brackets. If one is open, a delimiter after the text could be a part of it.
fn brackets_close(pattern: &str) -> bool {
    [true, false].into_iter().all(|escapes| {
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            let closes = match c {
                '\\' => chars.next().is_some(),
                '[' => bracket_closes(&mut chars, escapes),
                _ => true,
            };
            if !closes {
                return false;
            }
        }
        true
    })
}

/// Skips the rest of a bracket. Returns true if it closes.
fn bracket_closes(chars: &mut std::str::Chars<'_>, escapes: bool) -> bool {
    let mut first = true;
    while let Some(c) = chars.next() {
        match c {
            '^' if first => continue,
            ']' if !first => return true,
            '\\' if escapes => {
                chars.next();
            }
            '[' => {
                let class = chars.clone().next().filter(|c| matches!(c, ':' | '.' | '='));
                if let Some(class) = class {
                    chars.next();
                    let rest = chars.as_str();
                    let Some(end) = rest.find(&format!("{class}]")) else { return false };
                    *chars = rest[end + 2..].chars();
                }
            }
            _ => {}
        }
        first = false;
    }
    false
}
