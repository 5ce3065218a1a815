//! Requests to the server, and the passing on of its responses: a status, one message, or a stream
//! of events.

use super::exchange::AnswerPart;
use super::request::{SESSION_HEADER, own_headers, passing};
use super::sse::{SseEvent, SseReader};
use super::{EVENTS, HttpProxy, JSON};
use guard_mcp::{MAX_LINE, McpLink};
use guard_plan::json::Json;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode};
use std::sync::{Arc, PoisonError};

impl HttpProxy {
    /// Sends a message to the server, with the headers of its exchange.
    pub(super) fn send(self: &Arc<Self>, link: McpLink, mut line: Vec<u8>) {
        let shared = Arc::clone(self);
        let mut open = self.open();
        let Some(exchange) = open.get_mut(&link.exchange) else { return };
        let message = Json::parse_bytes(&line).unwrap_or(Json::Null);
        let main = exchange.is_main(&message);
        let mut headers = exchange.headers.clone();
        if !main {
            own_headers(&mut headers, &message);
        }
        line.truncate(line.trim_ascii_end().len());
        let answered = message.get("id").is_some() && message.get("method").is_some();
        let task = tokio::spawn(async move {
            let sent = shared.request(link, Method::POST, headers, line, main).await;
            if main || answered {
                shared.ended(link, sent, main);
            }
        });
        exchange.tasks.push(task.abort_handle());
    }

    /// Handles the end of the server's part of a request.
    fn ended(self: &Arc<Self>, link: McpLink, sent: Result<ServerResponse, String>, main: bool) {
        let why = match sent {
            // The client resumes the stream where it broke.
            Ok(ServerResponse { resumable: true, .. }) => None,
            Ok(ServerResponse { status, .. }) if status.is_success() => {
                Some("the server has ended its answer without a result".to_owned())
            }
            Ok(ServerResponse { status, .. }) => {
                Some(format!("the server answered with HTTP status {status}"))
            }
            Err(why) => {
                self.say(link, AnswerPart::Head(StatusCode::BAD_GATEWAY, HeaderMap::new(), false));
                Some(why)
            }
        };
        if let Some(why) = why {
            let outputs = self.step(|proxy, now| proxy.exchange_ended(link, now, &why));
            self.deliver(outputs);
        }
        if main {
            self.say(link, AnswerPart::End);
        }
    }

    /// Sends a request to the server, and passes on the response.
    async fn request(
        self: &Arc<Self>,
        link: McpLink,
        method: Method,
        headers: HeaderMap,
        body: Vec<u8>,
        main: bool,
    ) -> Result<ServerResponse, String> {
        let mut request = Request::new(Full::new(Bytes::from(body)));
        (*request.method_mut(), *request.uri_mut()) = (method, self.upstream.clone());
        *request.headers_mut() = headers;
        let response = self.client.request(request).await;
        let (head, mut body) = response
            .map_err(|error| format!("the server cannot be reached: {}", cause(&error)))?
            .into_parts();
        if let Some(id) =
            head.headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok()).filter(|_| main)
        {
            self.remember(id, link.peer);
        }
        let mut served = ServerResponse { status: head.status, resumable: false };
        let kind =
            head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let plain = !head.headers.contains_key("content-encoding");
        let streams = plain && head.status.is_success() && kind == EVENTS;
        if head.status.is_redirection() {
            // A client that follows the redirect would bypass the proxy.
            return Err(format!(
                "the server answers with {}: give `--upstream` the URL that it is at",
                head.status
            ));
        }
        if main {
            let mut headers = passing(&head.headers);
            if let Some(kind) = [EVENTS, JSON].into_iter().find(|known| *known == kind) {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            }
            // A call without an answer is not accepted either.
            let is_empty = matches!(head.status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT);
            let status =
                if is_empty && self.is_call(link) { StatusCode::BAD_GATEWAY } else { head.status };
            self.say(link, AnswerPart::Head(status, headers, streams));
        }
        if streams {
            let mut reader = SseReader::default();
            loop {
                self.keep_up(link).await;
                let Some(frame) = body.frame().await else { break };
                // A stream that breaks counts as a stream that ends.
                let Ok(frame) = frame else { break };
                for event in
                    frame.data_ref().map(|data| reader.feed(data)).transpose()?.unwrap_or_default()
                {
                    served.resumable |= event.has_id && main && self.is_legacy(link);
                    self.event(link, event, main);
                }
            }
        } else if plain && kind == JSON {
            let body = Limited::new(body, MAX_LINE).collect().await;
            let body = body
                .map_err(|error| format!("the server's answer cannot be read: {error}"))?
                .to_bytes();
            // The body of a failure is for people, unless it is the error of a request.
            let is_error = Json::parse_bytes(&body).is_ok_and(|json| {
                json.get("id").is_some_and(|id| *id != Json::Null) && json.get("error").is_some()
            });
            if head.status.is_success() || is_error {
                let outputs = self.step(|proxy, now| proxy.server_line(link, &body, now));
                self.deliver(outputs);
            }
        }
        Ok(served)
    }

    /// Waits until the client has read enough of the server's messages, so that a slow client slows
    /// its server down and does not fill the memory. Returns immediately if the client has left.
    async fn keep_up(&self, link: McpLink) {
        let room = self.open().get(&link.exchange).map(|open| open.to_client.room());
        if let Some(room) = room {
            room.await;
        }
    }

    fn event(self: &Arc<Self>, link: McpLink, event: SseEvent, main: bool) {
        if event.data.is_empty() || event.is_comment {
            if main {
                self.say(link, AnswerPart::Message(event));
            }
            return;
        }
        let outputs = self.step(|proxy, now| proxy.server_line(link, &event.data, now));
        self.deliver_event(outputs, link, Some(event).filter(|_| main));
    }

    /// Returns true if the client waits for an answer to a request.
    fn is_call(&self, link: McpLink) -> bool {
        self.open().get(&link.exchange).is_some_and(|exchange| exchange.is_call)
    }

    fn is_legacy(&self, link: McpLink) -> bool {
        self.open().get(&link.exchange).is_some_and(|exchange| !exchange.modern)
    }

    /// Sends a request without a message to the server, in parallel to the others. A session that
    /// the request deletes is over.
    pub(super) fn pass_on(
        self: &Arc<Self>,
        link: McpLink,
        method: Method,
        headers: HeaderMap,
        session: Option<String>,
    ) {
        let shared = Arc::clone(self);
        let task = tokio::spawn(async move {
            let ends = method == Method::DELETE;
            let sent = shared.request(link, method, headers, Vec::new(), true).await;
            let is_ended = ends && sent.as_ref().is_ok_and(|sent| sent.status.is_success());
            if let Some(session) = session.filter(|_| is_ended) {
                shared.peers.lock().unwrap_or_else(PoisonError::into_inner).remove(&session);
                shared.step(|proxy, _| proxy.peer_ended(link.peer));
            }
            shared.ended(link, sent, true);
        });
        if let Some(exchange) = self.open().get_mut(&link.exchange) {
            exchange.tasks.push(task.abort_handle());
        }
    }
}

/// The server's response to a request: its status, and whether its stream can be resumed.
struct ServerResponse {
    status: StatusCode,
    /// True if the client can resume the stream.
    resumable: bool,
}

/// Returns the innermost cause of an error, which is the most specific one.
fn cause(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
