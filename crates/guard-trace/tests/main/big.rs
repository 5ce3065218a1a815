//! Tests that a trace of any length is verified with the same amount of memory.
//!
//! `GUARD_TRACE_BYTES=10737418240` sets the length to 10 GiB.

use crate::child::{Heard, Kind, command};
use crate::lines;
use guard_plan::record::Chain;
use guard_trace::verify::{self, Against, Watch};
use std::io::Read;

/// A trace that is generated while it is read.
struct Endless {
    chain: Chain,
    line: Vec<u8>,
    from: usize,
    left: u64,
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.from == self.line.len() {
            if self.left == 0 {
                return Ok(0);
            }
            let content = "a line of what an agent has written\\n".repeat(12);
            self.line = lines::resume(&mut self.chain, &content).into_bytes();
            self.line.push(b'\n');
            self.from = 0;
            self.left = self.left.saturating_sub(self.line.len() as u64);
        }
        let some = out.len().min(self.line.len() - self.from);
        out[..some].copy_from_slice(&self.line[self.from..self.from + some]);
        self.from += some;
        Ok(some)
    }
}

/// Verifies a trace of `bytes` bytes, and reports the memory in kilobytes.
pub fn verified(bytes: u64) -> String {
    let mut trace = Endless { chain: Chain::default(), line: Vec::new(), from: 0, left: bytes };
    let against = Against { tree: true, session: Some("s".into()), ..Against::default() };
    let found = verify::reader(&mut trace, &against, 2, &Watch::default()).unwrap();
    assert!(found.is_sound() && found.bytes >= bytes);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    format!(
        "peak {} kB, {} records, {} bytes",
        peak.trim().trim_end_matches(" kB"),
        found.records,
        found.bytes
    )
}

#[test]
#[cfg(target_os = "linux")]
fn a_long_trace_is_verified_in_little_memory() {
    let bytes = std::env::var("GUARD_TRACE_BYTES").ok().and_then(|bytes| bytes.parse().ok());
    let folder = tempfile::tempdir().unwrap();
    let bytes = bytes.unwrap_or(128 << 20);
    let mut child = command("verify", Kind::Off, folder.path(), "s", bytes).spawn().unwrap();
    let mut heard = Heard::new(&mut child);
    heard.listen(u64::MAX);
    assert!(child.wait().unwrap().success(), "{:?}", heard.said);
    let peak = heard.said.iter().find_map(|line| line.strip_prefix("peak ")).unwrap();
    println!("{peak}");
    let kilobytes: u64 = peak.split(' ').next().unwrap().parse().unwrap();
    assert!(kilobytes < 40 << 10, "{kilobytes} kB for {bytes} bytes");
}
