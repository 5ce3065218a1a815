//! The metrics of a sidecar over HTTP: one page, and one connection at a time.

use super::stats::Stats;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// The time limit for a client to send its request or to read the answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The maximum length of a request, in bytes.
const MAX_REQUEST: usize = 8 << 10;

const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Parses `PORT` or `ADDRESS:PORT`. A port alone is on the loopback address, which other machines
/// cannot reach.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let alone = text.strip_prefix(':').unwrap_or(text);
    let parsed = alone.parse().map(local).ok().or_else(|| text.parse().ok());
    parsed.ok_or_else(|| "it is a port, `9464`, or an address with a port, `127.0.0.1:9464`".into())
}

/// Answers at an address until the process ends. Returns the address, with its port.
///
/// # Errors
///
/// Returns an error if the address cannot be used for listening.
pub fn serve(address: SocketAddr, stats: Arc<Stats>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let bound = listener.local_addr()?;
    std::thread::Builder::new().name("guard-metrics".into()).spawn(move || {
        for stream in listener.incoming() {
            match stream {
                // A client that leaves early is not an error.
                Ok(stream) => drop(answer(stream, &stats)),
                // There may be no file descriptors left, and they are needed more urgently
                // elsewhere.
                Err(_) => std::thread::sleep(PATIENCE / 50),
            }
        }
    })?;
    Ok(bound)
}

fn answer(mut stream: TcpStream, stats: &Stats) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < MAX_REQUEST {
        match stream.read(&mut part)? {
            0 => break,
            read => request.extend_from_slice(&part[..read]),
        }
    }
    let first = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = first.split(|byte| *byte == b' ');
    let asked = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, body) = match asked {
        (b"GET", b"/metrics") => ("200 OK", stats.text()),
        (b"GET", _) => ("404 Not Found", "the metrics are at /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", String::new()),
    };
    let kind = if status.starts_with("200") { TYPE } else { "text/plain" };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}
