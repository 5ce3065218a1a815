//! Placeholders: names, paths and amounts of a case, drawn from the seed of a run, so that adapters
//! cannot hard-code them.
//!
//! `<<kind:name>>` stands for the same text everywhere in a case. Guards contain no `<<`, so
//! placeholders are unambiguous. The kinds are: `tool` and `word` (a name), `path` (a relative file
//! path), `dir` (a folder), `int` (`<<int:n 2..=9>>` at its first use; elsewhere `<<int:n>>`,
//! `<<int:n+1>>`, `<<int:n-1>>`), `text` (words up to a length: `<<text:n 65536>>` at its first
//! use).

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A placeholder error and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    pub message: String,
    /// A suggested correction.
    pub help: Option<String>,
}

const KINDS: [&str; 6] = ["tool", "word", "path", "dir", "int", "text"];
/// The maximum length of a drawn text, in bytes.
const LONGEST_TEXT: usize = 1 << 20;
const HEADS: [&str; 16] = [
    "ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "wo", "xu", "za",
];

/// Draws bytes for a name in a run. The same seed gives the same bytes.
pub fn draw(seed: u64, case: &str, what: &str, round: u32) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(seed.to_be_bytes());
    hasher.update(round.to_be_bytes());
    hasher.update(case.as_bytes());
    hasher.update([0]);
    hasher.update(what.as_bytes());
    hasher.finalize().into()
}

/// Returns a pronounceable word that is not a keyword.
fn word(bytes: &[u8]) -> String {
    bytes.iter().take(4).map(|byte| HEADS[usize::from(byte % 16)]).collect()
}

/// Fills in the placeholders of a text.
///
/// # Errors
///
/// Returns the first invalid placeholder.
pub fn fill(text: &str, seed: u64, case: &str) -> Result<String, Bad> {
    let mut drawn = CaseDraws { seed, case, texts: BTreeMap::new(), ints: BTreeMap::new() };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<<") {
        let line = text[..text.len() - rest.len() + at].matches('\n').count() + 1;
        let bad = |message: String, help: Option<String>| Bad { line, message, help };
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let end = inside.find(">>").filter(|end| !inside[..*end].contains('\n'));
        let end = end.ok_or_else(|| bad("`<<` without `>>` on its line".into(), None))?;
        out.push_str(&drawn.one(&inside[..end]).map_err(|(message, help)| bad(message, help))?);
        rest = &inside[end + 2..];
    }
    out.push_str(rest);
    Ok(out)
}

struct CaseDraws<'a> {
    seed: u64,
    case: &'a str,
    texts: BTreeMap<String, String>,
    ints: BTreeMap<String, i64>,
}

type DrawProblem = (String, Option<String>);

impl CaseDraws<'_> {
    fn one(&mut self, inside: &str) -> Result<String, DrawProblem> {
        let shape = || (format!("`<<{inside}>>` is not `<<kind:name>>`"), None);
        let (kind, name) = inside.split_once(':').ok_or_else(shape)?;
        match kind {
            "int" => self.int(name.trim()).map(|number| number.to_string()),
            "tool" | "word" | "path" | "dir" if !name.is_empty() => Ok(self.text(kind, name)),
            "text" => self.long_text(name.trim()),
            _ => {
                let near = guard_plan::near::nearest(kind, KINDS.into_iter());
                let help = near.map(|near| format!("did you mean `{near}`?"));
                Err((format!("there is no placeholder of kind `{kind}`"), help))
            }
        }
    }

    fn text(&mut self, kind: &str, name: &str) -> String {
        let key = format!("{kind}:{name}");
        if let Some(text) = self.texts.get(&key) {
            return text.clone();
        }
        let mut round = 0;
        loop {
            let bytes = draw(self.seed, self.case, &key, round);
            let text = match kind {
                "path" => format!("{}/{}.txt", word(&bytes[..2]), word(&bytes[4..])),
                _ => word(&bytes),
            };
            // Different names stand for different texts.
            if !self.texts.values().any(|taken| *taken == text) {
                self.texts.insert(key, text.clone());
                return text;
            }
            round += 1;
        }
    }

    /// Draws words up to the length that is given at the first use of the text.
    fn long_text(&mut self, text: &str) -> Result<String, DrawProblem> {
        let (name, length) = text.split_once(' ').unwrap_or((text, ""));
        let key = format!("text:{name}");
        if let Some(text) = self.texts.get(&key) {
            return Ok(text.clone());
        }
        let length = length.trim().parse::<usize>().ok().filter(|length| *length <= LONGEST_TEXT);
        let length = length.ok_or_else(|| {
            let help = format!("say its length where it is first used: `<<text:{name} 65536>>`");
            (format!("`{name}` has no length up to {LONGEST_TEXT}"), Some(help))
        })?;
        let mut drawn = String::with_capacity(length + 64);
        for round in 0.. {
            if drawn.len() >= length {
                break;
            }
            for bytes in draw(self.seed, self.case, &key, round).chunks(4) {
                drawn.push_str(&word(bytes));
                drawn.push(' ');
            }
        }
        drawn.truncate(length);
        drawn.pop();
        // The last character is never a space, which a framework may trim.
        drawn.push('.');
        self.texts.insert(key, drawn.clone());
        Ok(drawn)
    }

    fn int(&mut self, text: &str) -> Result<i64, DrawProblem> {
        let (name, range) = match text.split_once(' ') {
            Some((name, range)) => (name, Some(range.trim())),
            None => (text, None),
        };
        let (name, offset) = match name.find(['+', '-']) {
            Some(at) => (&name[..at], name[at..].parse::<i64>().ok()),
            None => (name, Some(0)),
        };
        let offset =
            offset.ok_or_else(|| (format!("`{text}` has no whole number after its sign"), None))?;
        let number = match (self.ints.get(name), range) {
            (Some(number), _) => *number,
            (None, Some(range)) => {
                let number = self.in_range(name, range)?;
                self.ints.insert(name.to_owned(), number);
                number
            }
            (None, None) => {
                let help = format!(
                    "say from what it is drawn where it is first used: `<<int:{name} 2..=9>>`"
                );
                return Err((format!("`{name}` is not drawn yet"), Some(help)));
            }
        };
        let sum = number.checked_add(offset);
        sum.ok_or_else(|| (format!("`{text}` does not fit in 64 bits"), None))
    }

    fn in_range(&self, name: &str, range: &str) -> Result<i64, DrawProblem> {
        let bounds = range
            .split_once("..=")
            .and_then(|(low, high)| Some((low.parse::<i64>().ok()?, high.parse::<i64>().ok()?)));
        let (low, high) = bounds
            .filter(|(low, high)| {
                // A draw has 32 bits, so the numbers of a wider range could not be drawn evenly.
                low <= high && high.checked_sub(*low).is_some_and(|width| width < 1 << 30)
            })
            .ok_or_else(|| (format!("`{range}` is not a range: write `2..=9`"), None))?;
        let bytes = draw(self.seed, self.case, &format!("int:{name}"), 0);
        let drawn = i64::from(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        Ok(low + drawn % (high - low + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn the_same_name_is_the_same_text() {
        let text =
            fill("<<tool:a>> <<tool:b>> <<tool:a>> <<int:n 3..=5>> <<int:n+1>>", 7, "c").unwrap();
        let words: Vec<&str> = text.split(' ').collect();
        assert_eq!(words[0], words[2]);
        assert_ne!(words[0], words[1]);
        assert_eq!(words[3].parse::<i64>().unwrap() + 1, words[4].parse::<i64>().unwrap());
        assert_ne!(fill("<<tool:a>>", 7, "c"), fill("<<tool:a>>", 8, "c"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let bad = |text| fill(text, 1, "c").unwrap_err();
        assert_eq!(bad("\n<<tol:a>>").line, 2);
        assert_eq!(bad("<<tol:a>>").help.as_deref(), Some("did you mean `tool`?"));
        assert!(bad("<<int:n>>").help.unwrap().contains("2..=9"));
        assert!(bad("<<int:n 2..=9>> <<int:n+9223372036854775807>>").message.contains("64 bits"));
        assert!(bad("<<tool:a").message.contains("without"));
    }
}
