//! Keys, colons and words.

use super::{ExpectedToken, PassEnd, Repairer};
use guard_plan::report::Fix;

impl Repairer<'_> {
    pub(super) fn key(&mut self, byte: u8) -> Result<ExpectedToken, PassEnd> {
        self.write_comma();
        if byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' {
            let rest = &self.bytes[self.at..];
            let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'-');
            let len = rest.iter().position(|b| !part(b)).ok_or(PassEnd::More)?;
            self.suspect = (self.at, self.nest);
            self.fix(Fix::Key);
            self.out.push(b'"');
            self.out.extend_from_slice(&rest[..len]);
            self.out.push(b'"');
            self.at += len;
        } else {
            self.string(byte)?;
        }
        self.colon()
    }

    fn colon(&mut self) -> Result<ExpectedToken, PassEnd> {
        self.over_gap()?;
        match self.bytes.get(self.at) {
            None => return Err(PassEnd::More),
            Some(b':') => self.at += 1,
            Some(_) => return self.bad("expected `:`"),
        }
        self.out.push(b':');
        Ok(ExpectedToken::Value)
    }

    pub(super) fn word(&mut self) -> Result<(), PassEnd> {
        let rest = &self.bytes[self.at..];
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.' | b'-');
        let end = rest.iter().position(|b| !part(b));
        let word = &rest[..end.unwrap_or(rest.len())];
        let json: &[u8] = match word {
            b"true" | b"True" | b"TRUE" => b"true",
            b"false" | b"False" | b"FALSE" => b"false",
            b"null" | b"Null" | b"NULL" | b"None" => b"null",
            _ if end.is_none() && word.len() < 6 => return Err(PassEnd::More),
            _ => return self.bad("expected a value"),
        };
        if end.is_none() && !self.end {
            return Err(PassEnd::More);
        }
        if json != word {
            self.fix(Fix::Literal);
        }
        self.out.extend_from_slice(json);
        self.at += word.len();
        Ok(())
    }
}
