//! The normalised words of a text for comparison: characters that look alike to readers are equal.

use crate::builtin::is_hidden;
use crate::hex;
use std::borrow::Cow;

/// Returns the normalised words of a text. Letters become lower case, without accents, and the
/// Latin letter that they look like. Invisible characters are omitted. Between two words is a space
/// if the text has whitespace there, and a hyphen if it has only punctuation. URL escapes such as
/// `%20` are decoded.
pub fn fold(text: &str) -> String {
    let text = &*unescaped(text);
    let mut out = String::with_capacity(text.len());
    let mut gap: Option<char> = None;
    for c in text.chars() {
        // A line break is a control character as well, so whitespace is tested first.
        if c.is_whitespace() {
            gap = Some(' ');
            continue;
        }
        if is_dropped(c) {
            continue;
        }
        let c = plain(c);
        let mut buffer = [0; 4];
        let letters = letters_of(c).unwrap_or_else(|| c.encode_utf8(&mut buffer)).chars();
        // Some letters become two in lower case.
        let letters = letters.flat_map(char::to_lowercase).filter(|c| !is_dropped(*c));
        let own_word = has_no_blanks(c);
        if own_word {
            gap = gap.or(Some('-'));
        }
        for letter in letters.map(look_alike) {
            if !letter.is_alphanumeric() {
                gap = gap.or(Some('-'));
                continue;
            }
            if let Some(gap) = gap.take().filter(|_| !out.is_empty()) {
                out.push(gap);
            }
            out.push(letter);
        }
        if own_word {
            gap = gap.or(Some('-'));
        }
    }
    out
}

/// Returns a text with each `%` and two hexadecimal digits replaced by the byte that they encode.
fn unescaped(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find('%') else { return Cow::Borrowed(text) };
    let mut bytes = text.as_bytes()[..first].to_vec();
    let mut rest = &text.as_bytes()[first..];
    while let [byte, after @ ..] = rest {
        let escape = match after {
            [high, low, ..] if *byte == b'%' => hex::digit(*high).zip(hex::digit(*low)),
            _ => None,
        };
        bytes.push(escape.map_or(*byte, |(high, low)| high << 4 | low));
        rest = if escape.is_some() { &after[2..] } else { after };
    }
    Cow::Owned(
        String::from_utf8(bytes)
            .unwrap_or_else(|bytes| String::from_utf8_lossy(bytes.as_bytes()).into_owned()),
    )
}

/// Returns true for a character that readers do not see, or see as a part of the letter before it.
fn is_dropped(c: char) -> bool {
    let joins = matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}');
    let blank_letter =
        matches!(c, '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}');
    is_hidden(c) || c.is_control() || joins || blank_letter
}

/// Returns true for a character of a script without spaces between words. Each such character is a
/// word.
fn has_no_blanks(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
        && c.is_alphanumeric()
}

/// Returns the plain form of a styled letter or digit: full width, mathematical, circled, squared,
/// raised.
fn plain(c: char) -> char {
    let code = c as u32;
    let letter = |n: u32| char::from(b'a' + (n % 26) as u8);
    let digit = |n: u32| char::from(b'0' + (n % 10) as u8);
    match code {
        0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(c),
        // Capital and small letters alternate, 26 of each.
        0x1d400..=0x1d6a3 => letter(code - 0x1d400),
        0x1d7ce..=0x1d7ff => digit(code - 0x1d7ce),
        0x24b6..=0x24e9 => letter(code - 0x24b6),
        0x1f130..=0x1f149 => letter(code - 0x1f130),
        0x1f150..=0x1f169 => letter(code - 0x1f150),
        0x1f170..=0x1f189 => letter(code - 0x1f170),
        0x1f1e6..=0x1f1ff => letter(code - 0x1f1e6),
        0x2460..=0x2468 => digit(code - 0x2460 + 1),
        0x660..=0x669 => digit(code - 0x660),
        0x6f0..=0x6f9 => digit(code - 0x6f0),
        0x966..=0x96f => digit(code - 0x966),
        0x2070 | 0x2074..=0x2079 => digit(code - 0x2070),
        0x2080..=0x2089 => digit(code - 0x2080),
        0x2102 | 0x212d => 'c',
        0x210a => 'g',
        0x210b..=0x210e => 'h',
        0x2110 | 0x2111 => 'i',
        0x2112 | 0x2113 => 'l',
        0x2115 => 'n',
        0x2119 => 'p',
        0x211a => 'q',
        0x211b..=0x211d => 'r',
        0x2124 | 0x2128 => 'z',
        0x212c => 'b',
        0x212f | 0x2130 => 'e',
        0x2131 => 'f',
        0x2133 => 'm',
        0x2134 => 'o',
        0xb9 => '1',
        0xb2 => '2',
        0xb3 => '3',
        _ => c,
    }
}

/// The plain letters of `À` (U+00C0) to `ɏ`, and of `Ḁ` (U+1E00) to `ỿ`. A dot means that the
/// letter is its own plain letter.
const LATIN: &str = concat!(
    "aaaaaa.ceeeeiiii.nooooo.ouuuuy..aaaaaa.ceeeeiiii.nooooo.ouuuuy.yaaaaaaccccccccddddeeeeeeeeeegggggggg",
    "hhhhiiiiiiiiii..jjkkkllllllllllnnnnnn...oooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzsb.......",
    "...............i........oo.............uu....zz......................aaiioouuuuuuuuuu.aaaa..ggggkkoo",
    "oo..j...gg..nnaa....aaaaeeeeiiiioooorrrruuuusstt..hh......aaeeooooooooyy............................",
);
const LATIN_ADDITIONAL: &str = concat!(
    "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrrssss",
    "ssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwy.s....aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeee",
    "iiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy......",
);

/// Returns the letters that one character replaces.
fn letters_of(c: char) -> Option<&'static str> {
    Some(match c {
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ß' | 'ẞ' => "ss",
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' | 'ﬆ' => "st",
        'ĳ' | 'Ĳ' => "ij",
        'ǉ' | 'ǈ' | 'Ǉ' => "lj",
        'ǌ' | 'ǋ' | 'Ǌ' => "nj",
        'ǆ' | 'ǅ' | 'Ǆ' | 'ǳ' | 'ǲ' | 'Ǳ' => "dz",
        _ => return None,
    })
}

/// Returns the letter without accents.
fn without_accents(c: char) -> char {
    let (table, first) = match c {
        '\u{c0}'..='\u{24f}' => (LATIN, 0xc0),
        '\u{1e00}'..='\u{1eff}' => (LATIN_ADDITIONAL, 0x1e00),
        _ => return c,
    };
    let letter = table.as_bytes().get((c as u32 - first) as usize).copied();
    letter.filter(|letter| *letter != b'.').map_or(c, char::from)
}

/// Returns the Latin letter that a lower-case letter looks like, or the letter of another script
/// without its accent.
fn look_alike(c: char) -> char {
    match c {
        '\0'..='\u{7f}' => c,
        'а' | 'α' | 'ά' | 'ɑ' | 'ᴀ' => 'a',
        'в' | 'ь' | 'ʙ' => 'b',
        'с' | 'ϲ' | 'ⅽ' | 'ᴄ' => 'c',
        'ԁ' | 'ⅾ' | 'ᴅ' => 'd',
        'е' | 'ё' | 'ε' | 'έ' | 'ᴇ' => 'e',
        'ꜰ' => 'f',
        'ɡ' | 'ɢ' => 'g',
        'һ' | 'н' | 'ʜ' => 'h',
        'і' | 'ї' | 'ι' | 'ί' | 'ϊ' | 'ΐ' | 'ⅰ' | 'ɪ' => 'i',
        'ј' | 'ϳ' | 'ᴊ' => 'j',
        'к' | 'ќ' | 'κ' | 'ᴋ' => 'k',
        'ӏ' | 'ⅼ' | 'ʟ' => 'l',
        'м' | 'ⅿ' | 'ᴍ' => 'm',
        'η' | 'ή' | 'ɴ' => 'n',
        'о' | 'ο' | 'ό' | 'ᴏ' => 'o',
        'р' | 'ρ' | 'ᴘ' => 'p',
        'ԛ' => 'q',
        'г' | 'ѓ' | 'ʀ' => 'r',
        'ѕ' | 'ſ' | 'ꜱ' => 's',
        'т' | 'τ' | 'ᴛ' => 't',
        'υ' | 'ύ' | 'ϋ' | 'ΰ' | 'ᴜ' => 'u',
        'ν' | 'ѵ' | 'ⅴ' | 'ᴠ' => 'v',
        'ԝ' | 'ω' | 'ώ' | 'ᴡ' => 'w',
        'х' | 'χ' | 'ⅹ' => 'x',
        'у' | 'ў' | 'γ' | 'ʏ' => 'y',
        'ᴢ' => 'z',
        'й' | 'ѝ' => 'и',
        _ => without_accents(c),
    }
}
