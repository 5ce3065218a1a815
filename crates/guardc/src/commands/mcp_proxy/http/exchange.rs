//! One request of a client and its answer: one message as JSON, or a stream of events.

use super::sse::SseEvent;
use super::{AnyBody, HttpProxy, JSON};
use guard_mcp::McpLink;
use guard_plan::json::Json;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// A part of the answer to a client.
#[derive(Debug)]
pub enum AnswerPart {
    /// The server's status and headers, and true if events follow.
    Head(StatusCode, HeaderMap, bool),
    /// A message.
    Message(SseEvent),
    /// The end of the answer.
    End,
}

impl AnswerPart {
    /// Returns the size of a message in bytes.
    fn size(&self) -> usize {
        match self {
            AnswerPart::Message(event) => event.data.len(),
            AnswerPart::Head(..) | AnswerPart::End => 0,
        }
    }
}

/// The maximum number of unread bytes of a client before the server's stream waits for it.
const MAX_BACKLOG: usize = 1 << 20;

/// Creates the channel of answers to a client's connection.
pub fn answers() -> (AnswerSender, AnswerReceiver) {
    // The queue itself has no bound, because the gate's thread must never wait for a slow client.
    let (sender, receiver) = mpsc::unbounded_channel();
    let backlog = Arc::new(watch::Sender::new(0));
    (AnswerSender { sender, backlog: Arc::clone(&backlog) }, AnswerReceiver { receiver, backlog })
}

/// The sender of answers to a client's connection.
#[derive(Debug)]
pub struct AnswerSender {
    sender: UnboundedSender<AnswerPart>,
    /// The number of bytes that the client has not read yet.
    backlog: Arc<watch::Sender<usize>>,
}

impl AnswerSender {
    fn send(&self, answer: AnswerPart) {
        self.backlog.send_modify(|bytes| *bytes += answer.size());
        // A client that has left reads nothing.
        let _ = self.sender.send(answer);
    }

    /// Waits until the client has read enough, or has left.
    pub fn room(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut backlog = self.backlog.subscribe();
        async move {
            // An error means that both ends are gone.
            let _ = backlog.wait_for(|bytes| *bytes < MAX_BACKLOG).await;
        }
    }
}

/// The receiver of answers at a client's connection.
pub struct AnswerReceiver {
    receiver: UnboundedReceiver<AnswerPart>,
    backlog: Arc<watch::Sender<usize>>,
}

impl AnswerReceiver {
    async fn recv(&mut self) -> Option<AnswerPart> {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<AnswerPart>> {
        let polled = self.receiver.poll_recv(context);
        if let Poll::Ready(Some(answer)) = &polled {
            self.backlog.send_modify(|bytes| *bytes -= answer.size());
        }
        polled
    }
}

/// An exchange whose answer is not complete.
#[derive(Debug)]
pub struct OpenExchange {
    /// The sender to the client.
    pub to_client: AnswerSender,
    /// The client's headers in the form in which they pass to the server.
    pub headers: HeaderMap,
    /// The id of the client's request, or of its response.
    pub id: Option<Json>,
    /// True for a request, which gets an answer.
    pub is_call: bool,
    /// True for a client of the era without a handshake.
    pub modern: bool,
    /// The requests to the server.
    pub tasks: Vec<AbortHandle>,
}

impl OpenExchange {
    /// Returns true for the message of the client, as opposed to those of the proxy.
    pub fn is_main(&self, message: &Json) -> bool {
        message.get("id") == self.id.as_ref()
    }

    /// Sends an answer to the client's connection.
    pub fn say(&self, answer: AnswerPart) {
        let over = match &answer {
            AnswerPart::Message(event) => self.is_response(&event.data),
            _ => false,
        };
        self.to_client.send(answer);
        if over {
            self.end();
        }
    }

    /// Ends the answer.
    pub fn end(&self) {
        self.to_client.send(AnswerPart::End);
    }

    /// Returns true for the response to the client's request.
    fn is_response(&self, line: &[u8]) -> bool {
        let Ok(message) = Json::parse_bytes(line) else { return false };
        message.get("method").is_none()
            && (message.get("id") == self.id.as_ref() || message.get("id") == Some(&Json::Null))
    }
}

/// Closes an exchange when its connection drops it.
pub struct ExchangeGuard {
    shared: Arc<HttpProxy>,
    link: McpLink,
    over: bool,
}

impl ExchangeGuard {
    /// Creates the guard of an open exchange.
    pub fn new(shared: Arc<HttpProxy>, link: McpLink) -> ExchangeGuard {
        ExchangeGuard { shared, link, over: false }
    }
}

impl Drop for ExchangeGuard {
    fn drop(&mut self) {
        let shared = Arc::clone(&self.shared);
        let link = self.link;
        let left = !self.over;
        tokio::spawn(async move { shared.close(link, left) });
    }
}

/// A stream of events to a client.
pub struct AnswerBody {
    first: Option<Bytes>,
    answers: AnswerReceiver,
    guard: ExchangeGuard,
}

impl AnswerBody {
    /// Waits for the first message, and answers with it alone, or with a stream.
    pub async fn respond(
        mut answers: AnswerReceiver,
        mut guard: ExchangeGuard,
    ) -> Response<AnyBody> {
        let mut status = None;
        let mut headers = HeaderMap::new();
        let mut first = None;
        let mut streams = false;
        while let Some(answer) = answers.recv().await {
            match answer {
                AnswerPart::Head(code, passed, stream) => {
                    (status, headers, streams) = (Some(code), passed, stream);
                    if streams {
                        break;
                    }
                }
                AnswerPart::Message(event) => {
                    let message = Json::parse_bytes(&event.data).unwrap_or(Json::Null);
                    streams = message.get("method").is_some();
                    if status.is_none() && message.get("error").is_some() {
                        status = Some(StatusCode::BAD_REQUEST);
                    }
                    first = Some(event);
                    break;
                }
                AnswerPart::End => break,
            }
        }
        let none = if first.is_some() || streams { StatusCode::OK } else { StatusCode::ACCEPTED };
        let kind = match (streams, &first) {
            (true, _) => Some("text/event-stream"),
            (false, Some(_)) => Some("application/json"),
            (false, None) => None,
        };
        match kind {
            Some(kind) => _ = headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind)),
            None => _ = headers.remove(CONTENT_TYPE),
        }
        let body = if streams {
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            let first = first.map(|event| event.written().into());
            AnswerBody { first, answers, guard }.boxed_unsync()
        } else {
            guard.over = true;
            full(first.map(|event| event.data.trim_ascii_end().to_vec()).unwrap_or_default())
        };
        let mut response = Response::new(body);
        (*response.status_mut(), *response.headers_mut()) = (status.unwrap_or(none), headers);
        response
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        loop {
            match self.answers.poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(AnswerPart::Message(event))) => {
                    return Poll::Ready(Some(Ok(Frame::data(event.written().into()))));
                }
                // The stream has begun already.
                Poll::Ready(Some(AnswerPart::Head(..))) => {}
                Poll::Ready(Some(AnswerPart::End) | None) => {
                    self.guard.over = true;
                    return Poll::Ready(None);
                }
            }
        }
    }
}

/// Returns a body of known bytes.
pub fn full(bytes: Vec<u8>) -> AnyBody {
    Full::new(Bytes::from(bytes)).boxed_unsync()
}

/// Returns a refusal by the proxy itself.
pub fn refusal(status: StatusCode, code: i64, why: &str) -> Response<AnyBody> {
    refusal_of(None, status, code, why)
}

/// Returns a refusal of a message with an id.
pub fn refusal_of(
    id: Option<&Json>,
    status: StatusCode,
    code: i64,
    why: &str,
) -> Response<AnyBody> {
    let text = Json::string(&format!("guard: {why}"));
    let id = id.unwrap_or(&Json::Null);
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{text}}}}}"#);
    let mut response = Response::new(full(body.into_bytes()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Waker;

    #[test]
    fn a_server_waits_for_a_client_that_reads_nothing_until_it_reads_or_leaves() {
        let message = || {
            AnswerPart::Message(SseEvent {
                data: vec![b'x'; MAX_BACKLOG / 2],
                ..SseEvent::default()
            })
        };
        let mut context = Context::from_waker(Waker::noop());
        let (sender, mut receiver) = answers();
        let mut has_room =
            |sender: &AnswerSender| pin!(sender.room()).poll(&mut context).is_ready();
        sender.send(message());
        assert!(has_room(&sender), "half is read soon");
        sender.send(message());
        assert!(!has_room(&sender), "the client is behind");
        assert!(receiver.poll(&mut Context::from_waker(Waker::noop())).is_ready());
        assert!(has_room(&sender), "the client has read");
        sender.send(message());
        let mut left = Box::pin(sender.room());
        drop((sender, receiver));
        assert!(left.as_mut().poll(&mut context).is_ready(), "the client has left");
    }
}
