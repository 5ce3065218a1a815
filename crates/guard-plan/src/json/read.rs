//! The strict JSON parser: one pass, bounded depth.

use super::{Json, JsonError, MAX_DEPTH};
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum number of members for which duplicate keys are searched for pair by pair.
const FEW_MEMBERS: usize = 12;

/// The initial capacity for the members of an object, or the elements of an array, that is not
/// empty.
const FEW_AT_FIRST: usize = 4;

/// For each byte, true if it cannot occur unescaped in a string.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = true;
        byte += 1;
    }
    special[b'"' as usize] = true;
    special[b'\\' as usize] = true;
    special
};

struct ReadFailure(usize, &'static str);

type JsonResult<T> = Result<T, ReadFailure>;

struct JsonReader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

pub(super) fn parse(text: &str) -> Result<Json, JsonError> {
    let mut reader = JsonReader { text, bytes: text.as_bytes(), at: 0, depth: 0 };
    let document = reader.document();
    document.map_err(|ReadFailure(at, message)| error(text, at, message.into()))
}

/// Returns the error at a byte offset, with its line and column.
pub(super) fn error(text: &str, at: usize, message: Cow<'static, str>) -> JsonError {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    JsonError {
        offset: at,
        line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message,
    }
}

impl JsonReader<'_> {
    fn document(&mut self) -> JsonResult<Json> {
        self.blanks();
        let value = self.value()?;
        self.blanks();
        match self.peek() {
            None => Ok(value),
            Some(_) => self.fail("unexpected text after the value"),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn fail<T>(&self, message: &'static str) -> JsonResult<T> {
        let message =
            if self.at < self.bytes.len() { message } else { "unexpected end of the text" };
        Err(ReadFailure(self.at, message))
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn value(&mut self) -> JsonResult<Json> {
        match self.peek() {
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => self.fail("expected a value"),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> JsonResult<Json> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(ReadFailure(self.at, "expected a value"))
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> JsonResult<Json>) -> JsonResult<Json> {
        if self.depth == MAX_DEPTH {
            return self.fail("more than 128 levels of nesting");
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn array(&mut self) -> JsonResult<Json> {
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(Vec::new()));
        }
        let mut items = Vec::with_capacity(FEW_AT_FIRST);
        loop {
            self.blanks();
            items.push(self.value()?);
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return self.fail("expected `,` or `]`"),
            }
        }
        self.at += 1;
        Ok(Json::Array(items))
    }

    fn object(&mut self) -> JsonResult<Json> {
        let start = self.at - 1;
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(Vec::new()));
        }
        let mut members: Vec<(Box<str>, Json)> = Vec::with_capacity(FEW_AT_FIRST);
        loop {
            self.blanks();
            let key_at = self.at;
            if self.peek() != Some(b'"') {
                return self.fail("expected a key");
            }
            let key = self.string()?;
            // Many members are compared after the object by a set, which keeps the time linear.
            if members.len() < FEW_MEMBERS && members.iter().any(|(name, _)| *name == key) {
                return Err(duplicate(key_at));
            }
            self.blanks();
            if self.peek() != Some(b':') {
                return self.fail("expected `:`");
            }
            self.at += 1;
            self.blanks();
            let value = self.value()?;
            members.push((key, value));
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return self.fail("expected `,` or `}`"),
            }
        }
        self.at += 1;
        if members.len() > FEW_MEMBERS {
            distinct(start, &members)?;
        }
        Ok(Json::Object(members))
    }

    fn number(&mut self) -> JsonResult<Json> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.fail("expected a digit"),
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = false;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.some_digits()?;
        }
        if let Some(b'0'..=b'9') = self.peek() {
            return self.fail("a number has no leading zeros");
        }
        let text = &self.text[start..self.at];
        // An `i64` would lose the sign of `-0`.
        if integer
            && text != "-0"
            && let Ok(number) = text.parse()
        {
            return Ok(Json::Int(number));
        }
        Ok(Json::Number(text.into()))
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> JsonResult<()> {
        let start = self.at;
        self.digits();
        if self.at == start { self.fail("expected a digit") } else { Ok(()) }
    }

    /// Advances to the next quote, backslash or control character.
    fn plain(&mut self) {
        while let Some(byte) = self.peek()
            && !SPECIAL[byte as usize]
        {
            self.at += 1;
        }
    }

    #[inline]
    fn string(&mut self) -> JsonResult<Box<str>> {
        self.at += 1;
        let start = self.at;
        self.plain();
        if self.peek() == Some(b'"') {
            let text = &self.text[start..self.at];
            self.at += 1;
            return Ok(text.into());
        }
        let mut out = String::from(&self.text[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return self.fail("a control character in a string"),
                None => return self.fail("unexpected end of the text"),
            }
            let from = self.at;
            self.plain();
            out.push_str(&self.text[from..self.at]);
        }
        self.at += 1;
        Ok(out.into_boxed_str())
    }

    fn escape(&mut self) -> JsonResult<char> {
        let at = self.at;
        self.at += 1;
        let Some(byte) = self.peek() else {
            return self.fail("unexpected end of the text");
        };
        self.at += 1;
        Ok(match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.unicode(at)?,
            _ => return Err(ReadFailure(at, "unknown escape")),
        })
    }

    fn unicode(&mut self, at: usize) -> JsonResult<char> {
        let lone = || ReadFailure(at, "a lone surrogate");
        let first = self.hex4()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first).ok_or_else(lone);
        }
        if !self.bytes[self.at..].starts_with(b"\\u") {
            return Err(lone());
        }
        self.at += 2;
        let second = self.hex4()?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(lone());
        }
        char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or_else(lone)
    }

    fn hex4(&mut self) -> JsonResult<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| (byte as char).to_digit(16));
            let Some(digit) = digit else {
                return self.fail("expected four hexadecimal digits");
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}

/// Returns the error of a duplicate key. The message does not contain the key, which may be a
/// secret: that is unknown for a text that cannot be parsed.
fn duplicate(at: usize) -> ReadFailure {
    ReadFailure(at, "an object has the same key twice")
}

fn distinct(start: usize, members: &[(Box<str>, Json)]) -> JsonResult<()> {
    let mut seen = HashSet::with_capacity(members.len());
    for (key, _) in members {
        if !seen.insert(&**key) {
            return Err(duplicate(start));
        }
    }
    Ok(())
}
