//! The metrics of a sidecar over HTTP: one page, and one connection at a time.

use super::stats::Stats;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
                Ok(stream) => drop(answer(stream, &stats, PATIENCE)),
                // There may be no file descriptors left, and they are needed more urgently
                // elsewhere.
                Err(_) => std::thread::sleep(PATIENCE / 50),
            }
        }
    })?;
    Ok(bound)
}

fn answer(mut stream: TcpStream, stats: &Stats, patience: Duration) -> io::Result<()> {
    let begun = Instant::now();
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < MAX_REQUEST {
        // A client that sends a byte from time to time must not hold the only thread.
        let left = patience.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            0 => break,
            read => request.extend_from_slice(&part[..read]),
        }
    }
    let first = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = first.split(|byte| *byte == b' ');
    let asked = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    // A web page can let its own name point to this machine, and would read the metrics.
    let is_foreign = stream.local_addr()?.ip().is_loopback() && names_another_host(&request);
    let (status, body) = match asked {
        _ if is_foreign => ("403 Forbidden", "`Host` is not this machine\n".to_owned()),
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

/// Returns true if a request names a host that is neither `localhost` nor an address.
fn names_another_host(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let fields = text.lines().skip(1).take_while(|line| !line.is_empty());
    let mut hosts = fields.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("host").then(|| value.trim())
    });
    hosts.any(|host| {
        let is_port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
        let name = host.rsplit_once(':').filter(|(_, port)| is_port(port));
        let name = name.map_or(host, |(name, _)| name);
        let inner = name.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
        let is_address = inner.unwrap_or(name).parse::<IpAddr>().is_ok();
        !is_address && !name.eq_ignore_ascii_case("localhost")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the first line of the answer to a request; empty if there is no answer.
    fn status(request: &str, patience: Duration) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let mut client =
            TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        client.write_all(request.as_bytes()).expect("sent");
        let (stream, _) = listener.accept().expect("connected");
        let _ = answer(stream, &Stats::default(), patience);
        let mut text = String::new();
        let _ = client.read_to_string(&mut text);
        text.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn only_this_machine_reads_the_metrics() {
        for (host, expected) in [
            ("", "200 OK"),
            ("Host: 127.0.0.1:9464\r\n", "200 OK"),
            ("host: LOCALHOST\r\n", "200 OK"),
            ("Host: [::1]:9464\r\n", "200 OK"),
            ("Host: attacker.example:9464\r\n", "403 Forbidden"),
            ("Host: 127.0.0.1\r\nHost: attacker.example\r\n", "403 Forbidden"),
            ("Host: 127.0.0.1.attacker.example\r\n", "403 Forbidden"),
        ] {
            let request = format!("GET /metrics HTTP/1.1\r\n{host}\r\n");
            assert_eq!(status(&request, PATIENCE), format!("HTTP/1.1 {expected}"), "{host}");
        }
    }

    #[test]
    fn a_request_has_one_time_limit() {
        assert_eq!(status("GET /metrics HTTP/1.1\r\n\r\n", Duration::ZERO), "");
    }
}
