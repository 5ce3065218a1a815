//! HTTP requests: the checks before a message is parsed, the message, and the headers that are
//! passed on.

use super::exchange::refusal_of;
use super::{AnyBody, HEADER_MISMATCH, JSON};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use guard_mcp::IdScanner;
use guard_plan::json::Json;
use hyper::header::{
    CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
};
use hyper::{Method, Response, StatusCode, Uri};

/// The header that names a client's session in the eras with a handshake.
pub const SESSION_HEADER: &str = "mcp-session-id";

/// The first version of the protocol without a handshake.
const MODERN: &str = "2026-07-28";

/// Headers that concern one connection, or that the proxy writes itself.
const OWN_HEADERS: [&str; 15] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "location",
    "origin",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The refusal of a request: the status and the reason.
pub type HttpRefusal = (StatusCode, String);

/// Returns the headers that are passed to the other side.
pub fn passing(headers: &HeaderMap) -> HeaderMap {
    let mut passing = headers.clone();
    // A header that `Connection` names also concerns that connection.
    let named: Vec<HeaderName> = headers
        .get_all("connection")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    OWN_HEADERS.iter().for_each(|name| _ = passing.remove(*name));
    named.into_iter().for_each(|name| _ = passing.remove(name));
    passing
}

/// Returns true for a client of the era without a handshake.
pub fn is_modern(headers: &HeaderMap) -> bool {
    let version = headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
    version.is_some_and(|version| version >= MODERN)
}

/// Refuses requests from web pages, to other names of this machine, to other paths, and with bodies
/// that are not JSON.
pub fn check(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    path: &str,
    loopback: bool,
    origins: &[String],
) -> Result<(), HttpRefusal> {
    // Of two headers, one reader uses the first and another the last.
    let is_twice = |name: &&HeaderName| headers.get_all(*name).iter().nth(1).is_some();
    if let Some(name) = [&ORIGIN, &HOST, &CONTENT_TYPE].iter().find(|name| is_twice(name)) {
        return Err((StatusCode::BAD_REQUEST, format!("the header `{name}` is there twice")));
    }
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(origin) = text(ORIGIN) {
        // A page of this machine may ask: it comes from a program that could connect without a
        // browser too.
        let local = origin.parse::<Uri>().is_ok_and(|uri| is_local(uri.host()));
        if !local && !origins.iter().any(|allowed| allowed == origin) {
            return Err((StatusCode::FORBIDDEN, "the origin is not allowed".into()));
        }
    }
    // A foreign page whose name resolves to this machine still sends its own name as host.
    let host = text(HOST).unwrap_or_default().parse::<Uri>();
    if loopback && !host.is_ok_and(|uri| is_local(uri.host())) {
        return Err((StatusCode::FORBIDDEN, "the host is not this machine".into()));
    }
    if uri.path() != path {
        return Err((StatusCode::NOT_FOUND, format!("the endpoint is {path}")));
    }
    if ![Method::POST, Method::GET, Method::DELETE].contains(method) {
        return Err((StatusCode::METHOD_NOT_ALLOWED, "a message is sent by POST".into()));
    }
    // An encoded body would be decoded by the server and not by the proxy, which would judge other
    // bytes.
    let is_plain = is_plain_json(text(CONTENT_TYPE).unwrap_or_default())
        && !headers.contains_key(CONTENT_ENCODING);
    if *method == Method::POST && !is_plain {
        let why = "a message is `application/json` in UTF-8, without an encoding";
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, why.into()));
    }
    Ok(())
}

/// Returns true for JSON in UTF-8. With any other character set, a server would read another text
/// than the proxy.
fn is_plain_json(kind: &str) -> bool {
    let mut parts = kind.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    let is_utf8 = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        name.eq_ignore_ascii_case("charset")
            && value.trim_matches('"').eq_ignore_ascii_case("utf-8")
    };
    is_json && parts.all(|part| part.is_empty() || is_utf8(part))
}

fn is_local(host: Option<&str>) -> bool {
    matches!(host, Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// Checks that the headers do not contradict the body, because a server, or a component before it,
/// may rely on the headers.
///
/// # Errors
///
/// Returns the difference.
pub fn headers_agree(headers: &HeaderMap, body: &Json) -> Result<(), String> {
    let params = body.get("params");
    let text = |member| params.and_then(|params| params.get(member)).and_then(Json::as_str);
    for name in headers.keys() {
        let name = name.as_str();
        let param = name.strip_prefix("mcp-param-");
        if !matches!(name, "mcp-method" | "mcp-name" | SESSION_HEADER) && param.is_none() {
            continue;
        }
        let mut values = headers.get_all(name).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return Err(format!("the header `{name}` is there twice"));
        };
        let value = value.to_str().ok().and_then(decoded);
        let value = value.ok_or_else(|| format!("the header `{name}` cannot be read"))?;
        let agrees = match name {
            "mcp-method" => body.get("method").and_then(Json::as_str) == Some(&value),
            "mcp-name" => match body.get("method").and_then(Json::as_str).and_then(named_by) {
                Some(member) => text(member) == Some(&value),
                None => true,
            },
            SESSION_HEADER => true,
            _ => params.and_then(|params| params.get("arguments")).is_some_and(|arguments| {
                param_agrees(arguments, param.unwrap_or_default(), &value)
            }),
        };
        if !agrees {
            return Err(format!("the header `{name}` differs from the message"));
        }
    }
    Ok(())
}

/// Returns the parameter that `Mcp-Name` repeats; `None` for methods without such a name.
fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => Some("uri"),
        _ if method.starts_with("tasks/") => Some("taskId"),
        _ => None,
    }
}

/// Returns true if an argument has this text. If an argument has the header's name, only that one
/// counts.
fn param_agrees(arguments: &Json, name: &str, text: &str) -> bool {
    let mut named = Vec::new();
    members_named(arguments, name, &mut named);
    if named.is_empty() {
        holds(arguments, text)
    } else {
        named.iter().any(|value| holds(value, text))
    }
}

/// Adds the members with this name, ignoring case and marks, because the name of a header has
/// neither.
fn members_named<'j>(value: &'j Json, name: &str, found: &mut Vec<&'j Json>) {
    let folded = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    match value {
        Json::Array(items) => items.iter().for_each(|item| members_named(item, name, found)),
        Json::Object(members) => {
            for (member, value) in members {
                if folded(member) == folded(name) {
                    found.push(value);
                }
                members_named(value, name, found);
            }
        }
        _ => {}
    }
}

/// Returns true if some value of the arguments has this text.
fn holds(value: &Json, text: &str) -> bool {
    match value {
        Json::String(held) => **held == *text,
        Json::Array(items) => items.iter().any(|item| holds(item, text)),
        Json::Object(members) => members.iter().any(|(_, member)| holds(member, text)),
        other => other.to_string() == text,
    }
}

/// Decodes a header's value, which may be `=?base64?…?=`.
fn decoded(value: &str) -> Option<String> {
    let Some(inner) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(value.to_owned());
    };
    let bytes = STANDARD.decode(inner).ok()?;
    String::from_utf8(bytes).ok()
}

/// Parses the message of a request.
pub fn read(headers: &HeaderMap, body: &[u8]) -> Result<Json, Box<Response<AnyBody>>> {
    // The id is found without parsing, so that a message that cannot be parsed is answered under
    // its id.
    let mut scanner = IdScanner::default();
    scanner.feed(body);
    let id = scanner.id();
    let bad =
        |code, why: &str| Box::new(refusal_of(id.as_ref(), StatusCode::BAD_REQUEST, code, why));
    match Json::parse_bytes(body) {
        Err(error) => Err(bad(-32700, &format!("the message cannot be read: {error}"))),
        Ok(message @ Json::Object(_)) => match headers_agree(headers, &message) {
            Ok(()) => Ok(message),
            Err(why) => Err(bad(HEADER_MISMATCH, &why)),
        },
        Ok(_) => Err(bad(-32600, "one message is sent at a time")),
    }
}

/// Adds the headers of a message of the proxy.
pub fn own_headers(headers: &mut HeaderMap, message: &Json) {
    // These headers repeat the client's message, and would contradict the one of the proxy.
    let about: Vec<_> =
        headers.keys().filter(|name| name.as_str().starts_with("mcp-param-")).cloned().collect();
    about.into_iter().for_each(|name| _ = headers.remove(name));
    headers.remove("mcp-name");
    let method = message.get("method").and_then(Json::as_str);
    match method.and_then(|method| HeaderValue::from_str(method).ok()) {
        Some(method) if headers.contains_key("mcp-method") => {
            _ = headers.insert("mcp-method", method)
        }
        _ => _ = headers.remove("mcp-method"),
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
}

#[cfg(test)]
mod tests {
    use super::{HeaderMap, HeaderName, Json, decoded, headers_agree, is_plain_json};

    #[test]
    fn only_json_in_utf8_is_taken() {
        for kind in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json;charset=\"utf-8\"",
        ] {
            assert!(is_plain_json(kind), "{kind}");
        }
        for kind in [
            "",
            "text/plain",
            "application/json; charset=utf-7",
            "application/json; charset=utf-16",
            "application/json; q=1",
        ] {
            assert!(!is_plain_json(kind), "{kind}");
        }
    }

    #[test]
    fn headers_cannot_name_another_call_than_the_body() {
        let body = r#"{"method":"tools/call","params":{"name":"read","arguments":{"a":{"region":"eu"},"n":3,"t":"é"}}}"#;
        let body = Json::parse(body).unwrap();
        let agrees = |headers: &[(&str, &str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
            }
            headers_agree(&map, &body).is_ok()
        };
        assert!(agrees(&[
            ("mcp-method", "tools/call"),
            ("mcp-name", "read"),
            ("mcp-param-region", "eu")
        ]));
        assert!(agrees(&[
            ("mcp-param-n", "3"),
            ("mcp-param-t", "=?base64?w6k=?="),
            ("x-other", "1")
        ]));
        assert!(!agrees(&[("mcp-method", "tools/list")]));
        assert!(!agrees(&[("mcp-name", "write")]));
        assert!(!agrees(&[("mcp-name", "read"), ("mcp-name", "write")]));
        assert!(!agrees(&[("mcp-param-region", "us")]));
        assert!(!agrees(&[("mcp-param-region", "3")]), "another argument has this value");
        assert!(!agrees(&[("mcp-param-t", "=?base64?%%%?=")]));
        assert_eq!(decoded("=?base64?Z3VhcmQ=?=").unwrap(), "guard");
    }
}
