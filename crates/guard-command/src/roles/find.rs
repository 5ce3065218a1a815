//! The files of `find`, and the commands that it runs.

use crate::raw_commands::{InnerCommand, Raw};
use crate::word::Word;

/// Handles `find`: the files that it removes and writes, and the commands that it runs.
pub(crate) fn find(raw: &mut Raw, inner: &mut Vec<InnerCommand>) {
    let args = raw.args.clone();
    let (mut roots, mut at) = roots(&args);
    // An unknown word could be an action.
    raw.known &= roots.iter().all(|word| word.known || word.under.is_some());
    if roots.is_empty() {
        roots.push(Word::literal("."));
    }
    raw.reads.extend(roots.clone());
    let roots_known = roots.iter().all(|word| word.known && !word.home);
    let found = Word {
        text: "{}".into(),
        under: roots_known.then(|| roots.iter().map(|word| word.text.clone()).collect()),
        known: false,
        ..Word::default()
    };
    let below = found.under.as_ref().map(|under| {
        let files = under.iter().map(|root| format!("{root}/*{{}}"));
        files.collect::<Vec<String>>()
    });
    // Tests before an action exclude most files, unless an alternative or a negated group lets
    // others pass.
    let (mut narrowed, mut open, mut negates) = (false, false, false);
    while let Some(word) = args.get(at) {
        at += 1;
        let negated = std::mem::replace(&mut negates, matches!(&*word.text, "!" | "-not"));
        if !word.known {
            // It is not the value of a test, so it could be an action.
            raw.known = false;
            continue;
        }
        match word.text.as_str() {
            "-delete" => match below.as_ref().filter(|_| narrowed && !open) {
                Some(below) => raw.removes.extend(below.iter().map(Word::literal)),
                None => raw.removes.extend(roots.clone()),
            },
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let mut found = found.clone();
                if narrowed && !open {
                    found.under.clone_from(&below);
                }
                let rest = &args[at..];
                let end = rest.iter().enumerate().position(|(place, word)| {
                    word.text == ";"
                        || (word.text == "+" && place > 0 && rest[place - 1].text == "{}")
                });
                let words: Vec<Word> = rest[..end.unwrap_or(rest.len())]
                    .iter()
                    .map(|word| {
                        if word.text == "{}" {
                            found.clone()
                        } else if word.text.contains("{}") {
                            Word::unknown(word.text.clone())
                        } else {
                            word.clone()
                        }
                    })
                    .collect();
                raw.known &= end.is_some() && !words.is_empty();
                inner.push(InnerCommand::Words(words));
                at += end.map_or(rest.len(), |end| end + 1);
            }
            "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
                raw.writes.extend(args.get(at).cloned());
                at += 1 + usize::from(word.text == "-fprintf");
            }
            "-files0-from" => raw.known = false,
            "-o" | "-or" | "," => open = true,
            "(" if negated => open = true,
            "-empty" => narrowed |= !negated,
            text if text.starts_with("-newer") || FIND_VALUES.contains(&text) => {
                let value = args.get(at).map_or("", |word| &word.text);
                let excludes = value.contains(char::is_alphanumeric);
                narrowed |= !negated && FIND_FILTERS.contains(&text) && excludes;
                at += 1;
            }
            text if text.starts_with('-') || matches!(text, "(" | ")" | "!" | ",") => {}
            // Another root, or the value of a test that is not understood.
            _ => raw.known = false,
        }
    }
}

/// Returns the roots of `find`, and the place of its first test or action.
pub(super) fn roots(args: &[Word]) -> (Vec<Word>, usize) {
    let mut roots = Vec::new();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        match word.text.as_str() {
            "-H" | "-L" | "-P" if word.known => {}
            "-D" | "-O" if word.known => at += 1,
            text if word.known && text.starts_with("-O") => {}
            text if word.known && text.starts_with(['-', '(', '!', ',']) => break,
            _ => roots.push(word.clone()),
        }
        at += 1;
    }
    (roots, at)
}

/// Tests of `find` with a value that exclude most files.
const FIND_FILTERS: &[&str] =
    &["-name", "-iname", "-path", "-wholename", "-regex", "-newer", "-mtime", "-mmin"];

/// Tests of `find` with a value.
const FIND_VALUES: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-newer",
    "-newermt",
    "-mtime",
    "-mmin",
    "-size",
    "-type",
    "-maxdepth",
    "-mindepth",
    "-user",
    "-group",
    "-perm",
    "-printf",
    "-amin",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-context",
    "-ctime",
    "-fstype",
    "-gid",
    "-ilname",
    "-inum",
    "-iwholename",
    "-links",
    "-lname",
    "-regextype",
    "-samefile",
    "-uid",
    "-used",
    "-xtype",
];
