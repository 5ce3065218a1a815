//! One request of a client and what answers it: one message as JSON, or a stream of events.

use super::sse::SseEvent;
use super::{AnyBody, HttpProxy};
use guard_mcp::McpLink;
use guard_plan::json::Json;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::AbortHandle;

/// A part of the answer to a client.
#[derive(Debug)]
pub enum Answer {
    /// The server's status and headers, and whether events follow.
    Head(StatusCode, HeaderMap, bool),
    /// A message.
    Message(SseEvent),
    /// Nothing more follows.
    End,
}

/// An exchange without its whole answer.
#[derive(Debug)]
pub struct OpenExchange {
    /// The way to the client.
    pub to_client: UnboundedSender<Answer>,
    /// The client's headers, as they pass to the server.
    pub headers: HeaderMap,
    /// The id of the client's request, or of its response.
    pub id: Option<Json>,
    /// True for a request, which is answered.
    pub is_call: bool,
    /// True for a client of the era without a handshake.
    pub modern: bool,
    /// The requests to the server.
    pub tasks: Vec<AbortHandle>,
}

impl OpenExchange {
    /// Returns true for the message that the client has sent, as against those of the proxy.
    pub fn is_main(&self, message: &Json) -> bool {
        message.get("id") == self.id.as_ref()
    }

    /// Leaves an answer to the client's connection.
    pub fn say(&self, answer: Answer) {
        let over = match &answer {
            Answer::Message(event) => self.is_response(&event.data),
            _ => false,
        };
        // A client that has left reads nothing.
        let _ = self.to_client.send(answer);
        if over {
            self.end();
        }
    }

    /// Ends the answer.
    pub fn end(&self) {
        let _ = self.to_client.send(Answer::End);
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
    /// The guard of an exchange that is open.
    pub fn new(shared: Arc<HttpProxy>, link: McpLink) -> ExchangeGuard {
        ExchangeGuard { shared, link, over: false }
    }
}

impl Drop for ExchangeGuard {
    fn drop(&mut self) {
        let (shared, link, left) = (Arc::clone(&self.shared), self.link, !self.over);
        tokio::spawn(async move { shared.close(link, left) });
    }
}

/// A stream of events to a client.
pub struct AnswerBody {
    first: Option<Bytes>,
    answers: UnboundedReceiver<Answer>,
    guard: ExchangeGuard,
}

impl AnswerBody {
    /// Waits for the first message, and answers with it alone, or with a stream.
    pub async fn respond(
        mut answers: UnboundedReceiver<Answer>,
        mut guard: ExchangeGuard,
    ) -> Response<AnyBody> {
        let (mut status, mut headers, mut first, mut streams) =
            (None, HeaderMap::new(), None, false);
        while let Some(answer) = answers.recv().await {
            match answer {
                Answer::Head(code, passed, stream) => {
                    (status, headers, streams) = (Some(code), passed, stream);
                    if streams {
                        break;
                    }
                }
                Answer::Message(event) => {
                    let message = Json::parse_bytes(&event.data).unwrap_or(Json::Null);
                    streams = message.get("method").is_some();
                    if status.is_none() && message.get("error").is_some() {
                        status = Some(StatusCode::BAD_REQUEST);
                    }
                    first = Some(event);
                    break;
                }
                Answer::End => break,
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
        let body = match streams {
            true => {
                headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
                let first = first.map(|event| event.written().into());
                AnswerBody { first, answers, guard }.boxed_unsync()
            }
            false => {
                guard.over = true;
                full(first.map(|event| event.data.trim_ascii_end().to_vec()).unwrap_or_default())
            }
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
            match self.answers.poll_recv(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Answer::Message(event))) => {
                    return Poll::Ready(Some(Ok(Frame::data(event.written().into()))));
                }
                // The stream has begun already.
                Poll::Ready(Some(Answer::Head(..))) => {}
                Poll::Ready(Some(Answer::End) | None) => {
                    self.guard.over = true;
                    return Poll::Ready(None);
                }
            }
        }
    }
}

/// A body of known bytes.
pub fn full(bytes: Vec<u8>) -> AnyBody {
    Full::new(Bytes::from(bytes)).boxed_unsync()
}
