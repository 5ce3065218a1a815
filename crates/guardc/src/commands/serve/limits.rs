//! The limits of a sidecar, as they are given on the command line.

use guard_plan::time;
use std::time::Duration;

/// The limits of a sidecar. Each limit has an error of its own.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct SidecarLimits {
    /// The most sessions that are open at once
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub max_sessions: usize,
    /// The most memory of one session, such as `64MiB`; beyond it, none of its calls is decided
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    pub max_session_memory: u64,
    /// The longest line of input
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = size)]
    pub max_request_size: u64,
    /// The time for which a request may wait and run, such as `30s`, before it is answered with an
    /// error
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_request_time: Option<Duration>,
    /// The largest size of the store, such as `10GiB`; beyond it, no session begins and no call is
    /// decided
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_store_size: Option<u64>,
}

/// The units of a size, the longest name first.
const UNITS: [(&str, u64); 7] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];

/// Parses a number of bytes.
pub fn size(text: &str) -> Result<u64, String> {
    let unit = UNITS.iter().find(|(name, _)| text.ends_with(name));
    let (name, factor) = unit.copied().unwrap_or(("", 1));
    let number = text[..text.len() - name.len()].trim_end().parse::<u64>().ok();
    let bytes = number.and_then(|number| number.checked_mul(factor)).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "it is a number of bytes, `64MiB`, `10GB` or `1048576`".into())
}

/// Parses a span of time.
pub fn duration(text: &str) -> Result<Duration, String> {
    time::parse_span(text).ok_or_else(|| "it is a duration, `30s` or `2m`".into())
}

/// Writes a number of bytes in the largest unit that has no remainder.
pub fn shown(bytes: u64) -> String {
    let fits = UNITS[..3]
        .iter()
        .rev()
        .find(|(_, factor)| bytes >= *factor && bytes.is_multiple_of(*factor));
    match fits {
        Some((name, factor)) => format!("{} {name}", bytes / factor),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown() {
        for (text, expected) in [
            ("1", Some(1)),
            ("64MiB", Some(64 << 20)),
            ("10 GB", Some(10_000_000_000)),
            ("3KiB", Some(3072)),
            ("7B", Some(7)),
            ("0", None),
            ("-1", None),
            ("MiB", None),
            ("1.5MiB", None),
            ("99999999999GiB", None),
        ] {
            assert_eq!(size(text).ok(), expected, "{text}");
        }
        for (bytes, expected) in [(16 << 20, "16 MiB"), (1000, "1000 bytes"), (1 << 40, "1024 GiB")]
        {
            assert_eq!(shown(bytes), expected);
        }
    }
}
