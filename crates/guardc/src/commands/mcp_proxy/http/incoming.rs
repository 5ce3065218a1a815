//! Requests of clients: their limits, the session that each belongs to, and the exchange that each
//! opens. `request` checks their headers and messages.

use super::exchange::{self, AnswerBody, AnswerPart, ExchangeGuard, OpenExchange, refusal};
use super::request::{self, SESSION_HEADER, is_modern, passing, read};
use super::{AnyBody, HttpProxy, JSON, READ_TIME};
use guard_mcp::{MAX_LINE, McpLink, ProxyOutput};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

/// The maximum number of simultaneous exchanges.
const MAX_EXCHANGES: usize = 1_000;

/// The maximum number of clients' sessions whose announcements are remembered.
const MAX_PEERS: usize = 10_000;

/// A request whose body is being read.
struct PendingBody<'a>(&'a AtomicUsize);

impl<'a> PendingBody<'a> {
    fn begin(count: &'a AtomicUsize) -> PendingBody<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        PendingBody(count)
    }

    /// Returns the number of other requests whose bodies are being read.
    fn others(&self) -> usize {
        self.0.load(Ordering::Relaxed).saturating_sub(1)
    }
}

impl Drop for PendingBody<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl HttpProxy {
    /// Answers a request of a client.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<AnyBody>, Infallible> {
        let (head, body) = request.into_parts();
        let checked = request::check(
            &head.method,
            &head.uri,
            &head.headers,
            self.upstream.path(),
            self.loopback,
            &self.origins,
        );
        if let Err((status, why)) = checked {
            return Ok(refusal(status, -32600, &why));
        }
        let reading = PendingBody::begin(&self.reading);
        if self.open().len() + reading.others() >= MAX_EXCHANGES {
            return Ok(refusal(
                StatusCode::SERVICE_UNAVAILABLE,
                -32603,
                "too many requests are open",
            ));
        }
        let body = match tokio::time::timeout(READ_TIME, Limited::new(body, MAX_LINE).collect())
            .await
        {
            Err(_) => {
                return Ok(refusal(
                    StatusCode::REQUEST_TIMEOUT,
                    -32600,
                    "the message did not come in time",
                ));
            }
            Ok(Err(_)) => {
                let why =
                    format!("the message is longer than {} MiB, or was cut off", MAX_LINE >> 20);
                return Ok(refusal(StatusCode::PAYLOAD_TOO_LARGE, -32600, &why));
            }
            Ok(Ok(body)) => body.to_bytes(),
        };
        let message = match head.method {
            Method::POST => match read(&head.headers, &body) {
                Ok(message) => Some(message),
                Err(refusal) => return Ok(*refusal),
            },
            _ => None,
        };
        drop(reading);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let session = head.headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok());
        let link = McpLink { peer: self.peer(session, number), exchange: number };
        let (to_client, answers) = exchange::answers();
        let modern = is_modern(&head.headers);
        let mut headers = passing(&head.headers);
        if message.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        }
        let id = message.as_ref().and_then(|message| message.get("id").cloned());
        let is_request =
            message.as_ref().is_some_and(|message| message.get("method").is_some()) && id.is_some();
        let exchange = OpenExchange {
            to_client,
            headers: headers.clone(),
            id,
            is_call: is_request,
            modern,
            tasks: Vec::new(),
        };
        self.open().insert(number, exchange);
        let guard = ExchangeGuard::new(Arc::clone(&self), link);
        match message {
            Some(_) => {
                let outputs = self.step(|proxy, now| proxy.client_line(link, &body, now));
                let ours = |output: &ProxyOutput| match output {
                    ProxyOutput::ToClient(at, _) | ProxyOutput::ToServer(at, _) => *at == link,
                    ProxyOutput::Note(_) => false,
                };
                // The answer to a question of the proxy is not passed on.
                let over = !is_request && !outputs.iter().any(ours);
                self.deliver(outputs);
                if over {
                    self.say(link, AnswerPart::End);
                }
            }
            None => self.pass_on(link, head.method, headers, session.map(str::to_owned)),
        }
        Ok(AnswerBody::respond(answers, guard).await)
    }

    fn peer(&self, session: Option<&str>, new: u64) -> u64 {
        let peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = session.and_then(|session| peers.get(session).copied());
        drop(peers);
        if let (None, Some(session)) = (known, session) {
            self.remember(session, new);
        }
        known.unwrap_or(new)
    }

    /// Remembers the session that the server has assigned to a client.
    pub(super) fn remember(&self, session: &str, peer: u64) {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= MAX_PEERS && !peers.contains_key(session) {
            // The oldest session has the lowest number.
            let oldest = peers.iter().min_by_key(|(_, peer)| **peer).map(|(id, _)| id.clone());
            oldest.into_iter().for_each(|id| _ = peers.remove(&id));
        }
        peers.insert(session.to_owned(), peer);
    }
}
