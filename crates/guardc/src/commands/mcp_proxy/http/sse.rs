//! Server-sent events: parsing of bytes to events, and writing of events.

use guard_mcp::MAX_LINE;

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The message; empty for an event that only names a position in the stream.
    pub data: Vec<u8>,
    /// The other fields, as lines with their line feeds.
    pub fields: String,
    /// True if a field names the position from which the stream can be resumed.
    pub has_id: bool,
    /// True for an event with only a comment, which shows that the connection is alive.
    pub is_comment: bool,
}

impl SseEvent {
    /// Returns the written form of the event.
    pub fn written(&self) -> Vec<u8> {
        if self.is_comment {
            // The server's own comment is not passed on, because it was not checked.
            return b": alive\n\n".to_vec();
        }
        let mut out = self.fields.clone().into_bytes();
        let data = self.data.strip_suffix(b"\n").unwrap_or(&self.data);
        for line in data.split(|byte| *byte == b'\n') {
            out.extend_from_slice(b"data: ");
            out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
            out.push(b'\n');
        }
        out.push(b'\n');
        out
    }
}

/// A reader of events.
#[derive(Debug, Default)]
pub struct SseReader {
    line: Vec<u8>,
    after_return: bool,
    event: SseEvent,
    has_data: bool,
    begun: bool,
}

impl SseReader {
    /// Parses more bytes. Returns the events that they complete.
    ///
    /// # Errors
    ///
    /// Returns an error if an event is longer than [`MAX_LINE`].
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, String> {
        let mut events = Vec::new();
        for byte in bytes {
            let after_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                // A carriage return has ended the line already, even if its line feed came with
                // later bytes.
                b'\n' if after_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                byte => self.line.push(*byte),
            }
            if self.line.len() + self.event.data.len() + self.event.fields.len() > MAX_LINE {
                return Err(format!(
                    "an event of the server is longer than {} MiB",
                    MAX_LINE >> 20
                ));
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let mark: &[u8] = "\u{feff}".as_bytes();
        let first = !std::mem::replace(&mut self.begun, true);
        let line = if first { line.strip_prefix(mark).unwrap_or(&line) } else { &line[..] };
        if line.is_empty() {
            self.has_data = false;
            let event = std::mem::take(&mut self.event);
            return (event != SseEvent::default()).then_some(event);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = match colon {
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &b""[..]),
        };
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"id" | b"event" | b"retry" => {
                self.event.has_id |= name == b"id";
                let field = [name, b": ", value, b"\n"].concat();
                self.event.fields.push_str(&String::from_utf8_lossy(&field));
            }
            b"" if self.event == SseEvent::default() && !self.has_data => {
                return Some(SseEvent { is_comment: true, ..SseEvent::default() });
            }
            // This is a comment within an event, or an unknown field.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{SseEvent, SseReader};

    fn events(bytes: &[u8], size: usize) -> Vec<SseEvent> {
        let mut reader = SseReader::default();
        bytes.chunks(size).flat_map(|part| reader.feed(part).expect("short")).collect()
    }

    #[test]
    fn events_are_read_alike_in_any_pieces_and_with_any_line_ends() {
        let text = "\u{feff}: hello\nid: 1\ndata:\n\nevent: message\ndata: {\"a\":\ndata: 1}\n\n\ndata: cut";
        let read = events(text.as_bytes(), 1_000);
        assert_eq!(read.len(), 3, "{read:?}");
        assert!(read[0].is_comment);
        assert!(read[1].has_id && read[1].data.is_empty());
        assert_eq!(read[2].data, b"{\"a\":\n1}");
        for size in 1..9 {
            assert_eq!(events(text.as_bytes(), size), read);
            assert_eq!(events(text.replace('\n', "\r\n").as_bytes(), size), read);
            assert_eq!(events(text.replace('\n', "\r").as_bytes(), size), read);
        }
        let written: Vec<u8> = read.iter().flat_map(SseEvent::written).collect();
        assert_eq!(events(&written, 7), read);
    }
}
