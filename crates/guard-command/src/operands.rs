//! The options and operands of a command, by the conventions of most programs.

use crate::word::Word;

/// The options of a program with a value, and those without one.
#[derive(Clone, Copy, Default)]
pub(crate) struct OptionSet {
    /// Letters of short options with a value.
    pub values: &'static str,
    /// The letters of short options without a value, if only these are understood.
    pub flags: &'static str,
    /// Names of long options with a value.
    pub long_values: &'static [&'static str],
    /// The names of long options without a value, if only these are understood.
    pub long_flags: &'static [&'static str],
}

/// Returns the index of the first operand; `None` if an option is not understood or not known.
pub(crate) fn first_operand(args: &[Word], options: OptionSet) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.known()?;
        if text == "--" {
            return Some(at + 1);
        }
        if !text.starts_with('-') || text == "-" {
            return Some(at);
        }
        at += 1;
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
            if options.long_values.contains(&name) {
                at += usize::from(value.is_none());
            } else if !options.long_flags.contains(&name) {
                // An option that is not understood could take the next word, or run it.
                return None;
            }
            continue;
        }
        for (place, letter) in text.char_indices().skip(1) {
            if options.values.contains(letter) {
                at += usize::from(place + letter.len_utf8() == text.len());
                break;
            }
            if !options.flags.contains(letter) {
                return None;
            }
        }
    }
    Some(at.min(args.len()))
}

/// The operands of a command and the values of its options.
#[derive(Default)]
pub(crate) struct Split<'w> {
    pub operands: Vec<&'w Word>,
    /// The options with a value: `-o FILE`, `-oFILE`, `--output=FILE`.
    pub values: Vec<(String, Word)>,
    /// All options, by their names or letters.
    pub options: Vec<String>,
}

impl Split<'_> {
    /// Returns true if one of these options is given; a long one also by a prefix of its name.
    pub fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.iter().any(|name| is_option(option, name)))
    }

    /// Returns the values of one of these options; of a long one also by a prefix of its name.
    pub fn values_of<'s>(&'s self, names: &'s [&str]) -> impl Iterator<Item = &'s Word> {
        let is_one = |option: &str| names.iter().any(|name| is_option(option, name));
        self.values.iter().filter(move |(name, _)| is_one(name)).map(|(_, word)| word)
    }
}

/// Returns true if a word is this option, or a long one that is shortened.
fn is_option(option: &str, name: &str) -> bool {
    option == name || option.len() > 3 && option.starts_with("--") && name.starts_with(option)
}

/// Splits the words of a command. An unknown word counts as an operand.
pub(crate) fn split<'w>(args: &'w [Word], values: &str, long_values: &[&str]) -> Split<'w> {
    let mut split = Split::default();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        at += 1;
        let text = &word.text;
        if word.known && text == "--" {
            split.operands.extend(&args[at..]);
            break;
        }
        // The name of a long option is known even if its value is not.
        let named = text.split_once('=').filter(|(name, _)| {
            name.starts_with("--") && !name.contains(['$', '`', '*', '?', '[', '{', '~'])
        });
        if let Some((name, value)) = named {
            split.options.push(name.to_owned());
            split.values.push((name.to_owned(), word.part(value)));
            continue;
        }
        if !word.known || !text.starts_with('-') || text == "-" {
            split.operands.push(word);
            continue;
        }
        if text.starts_with("--") {
            split.options.push(text.clone());
            if long_values.iter().any(|name| is_option(text, name))
                && let Some(value) = args.get(at)
            {
                split.values.push((text.clone(), value.clone()));
                at += 1;
            }
            continue;
        }
        for (place, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            split.options.push(name.clone());
            if values.contains(letter) {
                let rest = &text[place + letter.len_utf8()..];
                let value = match (rest.is_empty(), args.get(at)) {
                    (false, _) => Some(word.part(rest)),
                    (true, Some(next)) => {
                        at += 1;
                        Some(next.clone())
                    }
                    (true, None) => None,
                };
                split.values.extend(value.map(|value| (name, value)));
                break;
            }
        }
    }
    split
}
