//! Patterns of a schema in the language's syntax. Schemas have the regular expressions of
//! ECMAScript, where some classes are narrower.

use std::iter::Peekable;
use std::str::Chars;

const DIGITS: &str = "0-9";
const WORDS: &str = "0-9A-Za-z_";
const SPACES: &str =
    r"\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";

/// Returns the pattern with the meaning that it has in a schema; `None` if it has parts that the two
/// syntaxes read differently.
pub(super) fn translated(pattern: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match class(rest.peek().copied()) {
                Some((members, is_negated)) => {
                    rest.next();
                    out.push_str(if is_negated { "[^" } else { "[" });
                    out.push_str(members);
                    out.push(']');
                }
                None => escape(&mut rest, &mut out)?,
            },
            '.' => out.push_str(r"[^\n\r\x{2028}\x{2029}]"),
            '[' => bracket(&mut rest, &mut out)?,
            '(' => {
                out.push('(');
                group(rest.clone())?;
            }
            '{' => {
                out.push('{');
                repetition(rest.clone())?;
            }
            c => out.push(c),
        }
    }
    Some(out)
}

/// Returns the members of a class such as `\d`, and true if the class is their complement.
fn class(letter: Option<char>) -> Option<(&'static str, bool)> {
    let letter = letter?;
    let members = match letter.to_ascii_lowercase() {
        'd' => DIGITS,
        'w' => WORDS,
        's' => SPACES,
        _ => return None,
    };
    Some((members, letter.is_ascii_uppercase()))
}

/// Reads the rest of an escape that both syntaxes have.
fn escape(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    let c = rest.next()?;
    let digits = match c {
        // These have a meaning of their own in the language.
        '<' | '>' => {
            out.push(c);
            return Some(());
        }
        'x' => 2,
        'u' => 4,
        't' | 'n' | 'r' | 'f' | 'v' => 0,
        c if c.is_ascii_punctuation() => 0,
        _ => return None,
    };
    out.push('\\');
    out.push(c);
    for _ in 0..digits {
        out.push(rest.next().filter(char::is_ascii_hexdigit)?);
    }
    Some(())
}

/// Reads the rest of a class in brackets.
fn bracket(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    // An empty class has another meaning in the language.
    if rest.peek() == Some(&']') {
        return None;
    }
    let mut after_class = false;
    loop {
        let c = rest.next()?;
        let next = rest.peek().copied();
        let was_class = std::mem::take(&mut after_class);
        match c {
            ']' => {
                out.push(']');
                return Some(());
            }
            '[' => return None,
            // Class operators of the language.
            '&' | '-' | '~' if next == Some(c) => return None,
            // A dash next to a class is a character.
            '-' if was_class => out.push_str(r"\-"),
            '-' if next == Some('\\') => {
                let mut ahead = rest.clone();
                ahead.next();
                out.push_str(if class(ahead.next()).is_some() { r"\-" } else { "-" });
            }
            '\\' => match class(next) {
                Some((members, false)) => {
                    rest.next();
                    out.push_str(members);
                    after_class = true;
                }
                Some((_, true)) => return None,
                None => escape(rest, out)?,
            },
            c => out.push(c),
        }
    }
}

/// Returns `None` for flags and other groups that only one syntax has.
fn group(mut rest: Peekable<Chars<'_>>) -> Option<()> {
    if rest.next_if_eq(&'?').is_none() {
        return Some(());
    }
    match rest.next()? {
        ':' => Some(()),
        '<' => rest.next().filter(char::is_ascii_alphabetic).map(|_| ()),
        _ => None,
    }
}

/// Returns `None` unless a count is `n}`, `n,}` or `n,m}`; the syntaxes read other forms differently.
fn repetition(rest: Peekable<Chars<'_>>) -> Option<()> {
    let count: String = rest.take_while(|c| *c != '}').collect();
    let (least, most) = count.split_once(',').unwrap_or((&count, "0"));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (!least.is_empty() && is_number(least) && is_number(most)).then_some(())
}

#[cfg(test)]
mod tests {
    use super::{SPACES, translated};

    #[test]
    fn classes_have_the_meaning_of_a_schema() {
        for (pattern, expected) in [
            (r"^\d+$", "^[0-9]+$".to_owned()),
            (r"\W\D", "[^0-9A-Za-z_][^0-9]".to_owned()),
            (r"\s", format!("[{SPACES}]")),
            ("^.+$", r"^[^\n\r\x{2028}\x{2029}]+$".to_owned()),
            (r"[\w-.]{2,3}", r"[0-9A-Za-z_\-.]{2,3}".to_owned()),
            (r"[+-\d]", r"[+\-0-9]".to_owned()),
            (r"[^a-z.-]", r"[^a-z.-]".to_owned()),
            (r"(?:a|(?<n>b)){2}\.\<\x41\u0041", r"(?:a|(?<n>b)){2}\.<\x41\u0041".to_owned()),
        ] {
            assert_eq!(translated(pattern), Some(expected), "{pattern}");
        }
    }

    #[test]
    fn what_the_syntaxes_read_differently_is_refused() {
        for pattern in [
            "^[^a&&b]+$",
            "[a--b]",
            "[a~~b]",
            "[[a]",
            "[]a]",
            "[^]",
            r"[\D]",
            "(?x) a",
            "(?m)^a$",
            "(?i:a)",
            "(?P<n>a)",
            "(?=a)",
            r"\Aa",
            r"a\z",
            r"\pL",
            r"\p{L}",
            r"\bа",
            r"\x{41}",
            r"\u{41}",
            "a{,3}",
            "a{ 2}",
            r"\1",
            "a\\",
        ] {
            assert_eq!(translated(pattern), None, "{pattern}");
        }
    }
}
