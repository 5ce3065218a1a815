//! URLs, parsed strictly so that a rule on the host cannot be fooled.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A parsed URL. The scheme and the host are in lower case, also in `text`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Url {
    /// The whole URL.
    pub text: Box<str>,
    /// The scheme, without the colon.
    pub scheme: Box<str>,
    /// The host; empty if there is none. An IPv6 address keeps its brackets.
    pub host: Box<str>,
    /// The port as written, or 80 or 443 for `http` and `https`, or 0.
    pub port: u16,
    /// The path, up to the query or fragment.
    pub path: Box<str>,
    /// The query, without the question mark; empty if there is none.
    pub query: Box<str>,
}

/// The reason why a string is not a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlError(Cow<'static, str>);

impl std::fmt::Display for UrlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UrlError {}

fn fail<T>(message: &'static str) -> Result<T, UrlError> {
    Err(UrlError(message.into()))
}

impl Url {
    /// Parses `scheme://[host][:port][/path][?query][#fragment]`, or `scheme:rest`.
    ///
    /// # Errors
    ///
    /// Returns the reason why the text is not a URL.
    pub fn parse(text: &str) -> Result<Url, UrlError> {
        // Browsers read a backslash as a slash and drop line breaks, so another host could be
        // meant.
        if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
            return fail("a url cannot contain whitespace, control characters or backslashes");
        }
        let Some((scheme, rest)) = text.split_once(':') else {
            return fail("a url begins with its scheme and a colon");
        };
        let mut letters = scheme.bytes();
        if !letters.next().is_some_and(|byte| byte.is_ascii_alphabetic())
            || !letters.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        {
            return fail("the scheme of a url is letters, digits and `+-.`");
        }
        let scheme = scheme.to_ascii_lowercase();
        match rest.strip_prefix("//") {
            Some(rest) => with_authority(scheme, rest),
            // Browsers accept `http:host`, which must not count as a URL without a host.
            None if matches!(&*scheme, "http" | "https" | "ws" | "wss" | "ftp") => {
                fail("`//` and a host follow the scheme of such a url")
            }
            None => {
                let (path, query) = path_and_query(rest);
                Ok(Url {
                    text: format!("{scheme}:{rest}").into(),
                    host: "".into(),
                    port: default_port(&scheme),
                    path: path.into(),
                    query: query.into(),
                    scheme: scheme.into(),
                })
            }
        }
    }
}

fn with_authority(scheme: String, rest: &str) -> Result<Url, UrlError> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    // `https://good.com@evil.com` looks like one host and leads to another.
    if authority.contains('@') {
        return fail("a url cannot contain user information");
    }
    let (host, port) = host_and_port(authority)?;
    if host.is_empty() && scheme != "file" {
        return fail("a host follows `//`");
    }
    let host = host.to_ascii_lowercase();
    if !is_canonical(&host) {
        return fail(
            "the host of a url must be in its one spelling: without a dot at its end, and an address as `127.0.0.1` or `[::1]`",
        );
    }
    let (path, query) = path_and_query(tail);
    if path.split('/').any(is_dots) {
        return fail("the path of a url cannot contain the components `.` and `..`");
    }
    let port_text = port.map(|port| format!(":{port}")).unwrap_or_default();
    Ok(Url {
        text: format!("{scheme}://{host}{port_text}{tail}").into(),
        host: host.into(),
        port: port.unwrap_or_else(|| default_port(&scheme)),
        path: path.into(),
        query: query.into(),
        scheme: scheme.into(),
    })
}

fn host_and_port(authority: &str) -> Result<(&str, Option<u16>), UrlError> {
    let colon = match authority.strip_prefix('[') {
        Some(address) => {
            let Some(end) = address.find(']') else {
                return fail("an IPv6 host ends with `]`");
            };
            if address[..end].parse::<Ipv6Addr>().is_err() {
                return fail("the host in brackets is not an IPv6 address");
            }
            // Both brackets belong to the host.
            end + 2
        }
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(colon);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte);
    if !host.starts_with('[') && !host.bytes().all(plain) {
        return fail("the host of a url must be ASCII, without percent signs");
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => return Ok((host, None)),
        None => return fail("the port of a url must be a number up to 65535"),
        Some("") => return Ok((host, None)),
        Some(digits) => digits,
    };
    match port.parse::<u16>() {
        // `parse` also accepts a sign.
        Ok(number) if port.bytes().all(|byte| byte.is_ascii_digit()) => Ok((host, Some(number))),
        _ => fail("the port of a url must be a number up to 65535"),
    }
}

/// Returns true if a host in lower case has no other spelling. Name resolution takes `h.` for `h`,
/// and `127.1` and `0x7f000001` for `127.0.0.1`, so that a rule about a host would not see them.
fn is_canonical(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().is_ok_and(|parsed| parsed.to_string() == address);
    }
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
    // An empty last label counts as a number: only the host of `file:///` is empty as a whole.
    !is_number || host.is_empty() || host.parse::<Ipv4Addr>().is_ok()
}

/// Returns true for a component of a path that clients and servers resolve, and rules do not.
fn is_dots(component: &str) -> bool {
    let plain = component.to_ascii_lowercase().replace("%2e", ".");
    matches!(&*plain, "." | "..")
}

fn path_and_query(tail: &str) -> (&str, &str) {
    let tail = tail.split_once('#').map_or(tail, |(before, _)| before);
    tail.split_once('?').unwrap_or((tail, ""))
}

fn default_port(scheme: &str) -> u16 {
    match scheme {
        "http" => 80,
        "https" => 443,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::Url;

    fn check(text: &str, expected: &str) {
        let actual = match Url::parse(text) {
            Ok(Url { scheme, host, port, path, query, .. }) => {
                format!("{scheme} {host} {port} {path} {query}")
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(actual, expected, "{text}");
    }

    #[test]
    fn parts() {
        check("HTTPS://Example.COM/a?b=c#d", "https example.com 443 /a b=c");
        check("http://h:8080", "http h 8080  ");
        check("http://h:", "http h 80  ");
        check("file:///etc/x", "file  0 /etc/x ");
        check("mailto:a@b.c?subject=x", "mailto  0 a@b.c subject=x");
        check("http://[::1]:9/", "http [::1] 9 / ");
        check("http://127.0.0.1/...?../#/..", "http 127.0.0.1 80 /... ../");
        check("http://1.2.3.x0/a..b/.c", "http 1.2.3.x0 80 /a..b/.c ");
        assert_eq!(&*Url::parse("HTTP://A:080/B").unwrap().text, "http://a:80/B");
    }

    #[test]
    fn refusals() {
        let host = "the host of a url must be ASCII, without percent signs";
        check("http://a%2eb/", host);
        check("http://exämple.com/", host);
        check("http://good.com@evil.com/", "a url cannot contain user information");
        check(
            "http://a\\@b/",
            "a url cannot contain whitespace, control characters or backslashes",
        );
        check("http:///x", "a host follows `//`");
        check("http://h:70000/", "the port of a url must be a number up to 65535");
        check("http://h:+80/", "the port of a url must be a number up to 65535");
        check("http://[::1]x/", "the port of a url must be a number up to 65535");
        check("no scheme", "a url cannot contain whitespace, control characters or backslashes");
        check("/a/b", "a url begins with its scheme and a colon");
        let spelling = "the host of a url must be in its one spelling: without a dot at its end, and an address as `127.0.0.1` or `[::1]`";
        for host in [
            "evil.com.",
            ".",
            "2130706433",
            "0x7f000001",
            "0X7F.1",
            "127.1",
            "127.0.0.01",
            "1.2.3.4.5",
            "a.0x",
            "[0:0:0:0:0:0:0:1]",
            "[::FFFF:7F00:1]",
        ] {
            check(&format!("http://{host}:80/x"), spelling);
        }
        let dots = "the path of a url cannot contain the components `.` and `..`";
        for path in ["/public/../admin", "/.", "/a/./b", "/%2e%2E/x", "/.%2e?a"] {
            check(&format!("http://h{path}"), dots);
        }
        check("http:good.com", "`//` and a host follow the scheme of such a url");
    }
}
