//! Foreign logs, read line by line or as one document.

use super::files::ReplayInput;
use crate::failure::reason;
use guard_plan::json::Json;
use guard_plan::record::Record;
use guard_trace::import::{Form, Importer};
use guard_trace::reading::{LINE_BYTES, Lines, TraceLine};
use std::io::{BufRead, Read};

/// A log that was read.
pub struct ReadLog {
    /// The importer, which knows the format and the skipped lines.
    pub importer: Importer,
    /// The reason why it could not be read to its end.
    pub failed: Option<String>,
    /// The number of lines.
    pub lines: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// Reads a log in a format, or in the format that its first lines show, and passes its records on,
/// by session.
pub fn read_log(
    source: &ReplayInput,
    form: Option<Form>,
    reader: Box<dyn BufRead + '_>,
    give: &mut dyn FnMut(&str, Record),
) -> ReadLog {
    let mut importer = Importer::new(form, &source.name, &source.stem());
    let mut lines = Lines::new(reader);
    let mut first = true;
    let failed = loop {
        let number = lines.number() + 1;
        match lines.next_line() {
            Ok(None) => break None,
            Err(error) => break Some(reason(&error)),
            Ok(Some(TraceLine::TooLong)) => importer.too_long(number),
            Ok(Some(TraceLine::Whole(line) | TraceLine::Open(line))) => {
                // A document that spans several lines is read as a whole.
                let begins = line.trim_ascii_start().first().copied();
                let part = first
                    && matches!(begins, Some(b'{' | b'['))
                    && Json::parse_bytes(line).is_err();
                if part {
                    break document((number, line.to_vec()), &mut lines, &mut importer, give);
                }
                first &= begins.is_none();
                importer.line(number, line, give);
            }
        }
    };
    importer.end();
    ReadLog { importer, failed, lines: lines.number(), bytes: lines.bytes() }
}

/// Parses one document over several lines: a list of messages, or an object that holds one. Returns
/// the reason if there is none.
fn document(
    (number, first): (u64, Vec<u8>),
    lines: &mut Lines<Box<dyn BufRead + '_>>,
    importer: &mut Importer,
    give: &mut dyn FnMut(&str, Record),
) -> Option<String> {
    let mut bytes = first;
    bytes.push(b'\n');
    let rest = lines
        .rest()
        // One byte more than the limit tells a document of exactly this size from a longer one.
        .take((LINE_BYTES - bytes.len().min(LINE_BYTES)) as u64 + 1)
        .read_to_end(&mut bytes);
    if let Err(error) = rest {
        return Some(reason(&error));
    }
    if bytes.len() > LINE_BYTES {
        return Some("it is one document of more than 64 MiB".into());
    }
    let Ok(json) = Json::parse_bytes(&bytes) else {
        // The file consists of lines after all, and the first one is broken.
        for (number, line) in (number..).zip(bytes.split(|byte| *byte == b'\n')) {
            importer.line(number, line, give);
        }
        return None;
    };
    importer.value(number, &json, None, give);
    None
}
