//! The proxy over Streamable HTTP. It listens for clients, and sends the permitted messages to the
//! server's URL.
//!
//! Each request of a client is an exchange. Its message passes through the protocol, a message to
//! the server is one request there, and each response is written to the exchange that it belongs
//! to. No data of a guard's session is bound to a connection. Headers are passed on, except those
//! about one connection.

mod exchange;
mod request;
mod sse;

use super::gate::SessionGate;
use super::{Args, LAST_WORDS, ProxyEvent, TICK, note};
use crate::failure::{CommandResult, Exit, Failure};
use crate::term::Console;
use exchange::{AnswerBody, AnswerPart, ExchangeGuard, OpenExchange, refusal, refusal_of};
use guard_mcp::{MAX_LINE, McpLink, McpProxy, ProxyOutput};
use guard_plan::json::Json;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use request::{SESSION_HEADER, is_modern, own_headers, passing, read};
use sse::{SseEvent, SseReader};
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The time limit for the head of a request, and for its body.
const READ_TIME: Duration = Duration::from_secs(30);

/// The time limit for connecting to the server.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// The maximum number of simultaneous exchanges.
const MAX_EXCHANGES: usize = 1_000;

/// The maximum number of clients' sessions whose announcements are remembered.
const MAX_PEERS: usize = 10_000;

/// The content types that are sent: a message, and a stream of events.
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// The code of a header that differs from its message.
const HEADER_MISMATCH: i64 = -32020;

type AnyBody = UnsyncBoxBody<Bytes, Infallible>;

/// Parses the URL of a server.
///
/// # Errors
///
/// Returns the problem of the URL.
pub fn upstream(text: &str) -> Result<Uri, String> {
    let uri: Uri = text.parse().map_err(|error| format!("it is not a URL: {error}"))?;
    match (uri.scheme_str(), uri.authority()) {
        (Some("http" | "https"), Some(authority)) if !authority.as_str().contains('@') => Ok(uri),
        (Some("http" | "https"), Some(_)) => {
            Err("a URL cannot contain user information here: send a header".into())
        }
        _ => Err("it is like `https://host/mcp`".into()),
    }
}

/// The state that all exchanges share.
struct HttpProxy {
    proxy: Mutex<McpProxy<SessionGate>>,
    begun: Instant,
    upstream: Uri,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    loopback: bool,
    origins: Vec<String>,
    open: Mutex<HashMap<u64, OpenExchange>>,
    /// The sessions of clients, in the eras that have sessions.
    peers: Mutex<HashMap<String, u64>>,
    /// The number of requests whose bodies are being read.
    reading: AtomicUsize,
    next: AtomicU64,
    awake: Notify,
}

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

/// Listens until the process is asked to end.
pub fn serve(
    args: &Args,
    upstream: &Uri,
    proxy: McpProxy<SessionGate>,
    events: Receiver<ProxyEvent>,
    term: &Console,
) -> CommandResult {
    let fail = |what: &str, error: &dyn std::fmt::Display| Failure::new(format!("{what}: {error}"));
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_io().enable_time().build();
    let runtime = runtime.map_err(|error| fail("no thread can be started", &error))?;
    let at = args.listen.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 8484)));
    runtime.block_on(async {
        let listener = TcpListener::bind(at).await;
        let listener = listener.map_err(|error| {
            fail(&format!("cannot listen on {at}"), &crate::failure::reason(&error))
        })?;
        let address = listener.local_addr().map_err(|error| fail("cannot listen", &error))?;
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_connect_timeout(Some(CONNECT_TIME));
        let https = HttpsConnectorBuilder::new().with_native_roots();
        let https = https
            .map_err(|error| fail("the certificates of this machine cannot be read", &error))?;
        let https = https.https_or_http().enable_http1().wrap_connector(http);
        let shared = Arc::new(HttpProxy {
            proxy: Mutex::new(proxy),
            begun: Instant::now(),
            upstream: upstream.clone(),
            client: Client::builder(TokioExecutor::new()).build(https),
            loopback: address.ip().is_loopback(),
            origins: args.allow_origin.clone(),
            open: Mutex::default(),
            peers: Mutex::default(),
            reading: AtomicUsize::new(0),
            next: AtomicU64::new(1),
            awake: Notify::new(),
        });
        term.note(&format!("guard: listening on http://{address}{}", upstream.path()));
        if !shared.loopback {
            term.note(
                "guard: other machines can reach this address, and anyone who reaches it can use the server",
            );
        }
        tokio::spawn(Arc::clone(&shared).tick_on());
        let accepting = tokio::spawn(accept(Arc::clone(&shared), listener));
        let _ = tokio::task::spawn_blocking(move || events.recv()).await;
        accepting.abort();
        shared.stop().await;
        Ok::<(), Failure>(())
    })?;
    // Streams that a client keeps open end with the process.
    runtime.shutdown_background();
    Ok(Exit::Fine)
}

async fn accept(shared: Arc<HttpProxy>, listener: TcpListener) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // There is no file descriptor left, or the client is gone.
            tokio::time::sleep(TICK).await;
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| Arc::clone(&shared).answer(request));
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(READ_TIME);
            // A broken connection is detected by its exchange.
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl HttpProxy {
    fn open(&self) -> MutexGuard<'_, HashMap<u64, OpenExchange>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a step of the protocol. The step may wait for a session and for the disk.
    fn step<T>(&self, work: impl FnOnce(&mut McpProxy<SessionGate>, Duration) -> T) -> T {
        let stepped = tokio::task::block_in_place(|| {
            let mut proxy = self.proxy.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut proxy, self.begun.elapsed())
        });
        self.awake.notify_one();
        stepped
    }

    /// Checks deadlines while there are any, and closes sessions that are not used.
    async fn tick_on(self: Arc<Self>) {
        loop {
            let (outputs, active) = tokio::task::block_in_place(|| {
                let mut proxy = self.proxy.lock().unwrap_or_else(PoisonError::into_inner);
                let now = self.begun.elapsed();
                let due = proxy.next_deadline().is_some_and(|deadline| deadline <= now);
                let outputs = if due { proxy.tick(now) } else { Vec::new() };
                proxy.gate().rest();
                (outputs, proxy.next_deadline().is_some() || proxy.gate().is_active())
            });
            self.deliver(outputs);
            if active { tokio::time::sleep(TICK).await } else { self.awake.notified().await }
        }
    }

    /// Ends all calls, and waits a moment for clients to read the last messages.
    async fn stop(&self) {
        let outputs = self.step(|proxy, now| proxy.server_ended(now, "the proxy was stopped"));
        for output in outputs {
            if let ProxyOutput::ToClient(link, line) = output {
                self.say(link, AnswerPart::Message(SseEvent { data: line, ..SseEvent::default() }));
            }
        }
        let last = Instant::now() + LAST_WORDS;
        self.open().values().for_each(OpenExchange::end);
        while !self.open().is_empty() && Instant::now() < last {
            tokio::time::sleep(TICK).await;
        }
        self.step(|proxy, _| proxy.gate().leave());
    }

    /// Sends messages to their destinations.
    fn deliver(self: &Arc<Self>, outputs: Vec<ProxyOutput>) {
        self.deliver_event(outputs, McpLink::default(), None);
    }

    /// Sends messages to their destinations. The first one for the exchange of an event keeps the
    /// event's fields.
    fn deliver_event(
        self: &Arc<Self>,
        outputs: Vec<ProxyOutput>,
        at: McpLink,
        mut event: Option<SseEvent>,
    ) {
        for output in outputs {
            match output {
                ProxyOutput::ToClient(link, data) => {
                    let fields = if link == at { event.take() } else { None };
                    self.say(
                        link,
                        AnswerPart::Message(SseEvent { data, ..fields.unwrap_or_default() }),
                    );
                }
                ProxyOutput::ToServer(link, line) => self.send(link, line),
                ProxyOutput::Note(text) => note(&text),
            }
        }
    }

    fn say(&self, link: McpLink, answer: AnswerPart) {
        if let Some(exchange) = self.open().get(&link.exchange) {
            exchange.say(answer);
        }
    }

    /// Sends a message to the server, with the headers of its exchange.
    fn send(self: &Arc<Self>, link: McpLink, mut line: Vec<u8>) {
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

    /// Remembers the session that the server has assigned to a client.
    fn remember(&self, session: &str, peer: u64) {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= MAX_PEERS && !peers.contains_key(session) {
            // The oldest session has the lowest number.
            let oldest = peers.iter().min_by_key(|(_, peer)| **peer).map(|(id, _)| id.clone());
            oldest.into_iter().for_each(|id| _ = peers.remove(&id));
        }
        peers.insert(session.to_owned(), peer);
    }

    /// Answers a request of a client.
    async fn answer(
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

    /// Sends a request without a message to the server, in parallel to the others. A session that
    /// the request deletes is over.
    fn pass_on(
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

    fn peer(&self, session: Option<&str>, new: u64) -> u64 {
        let peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = session.and_then(|session| peers.get(session).copied());
        drop(peers);
        if let (None, Some(session)) = (known, session) {
            self.remember(session, new);
        }
        known.unwrap_or(new)
    }

    /// Closes an exchange, because its client has its answer or has left.
    fn close(self: &Arc<Self>, link: McpLink, left: bool) {
        let Some(exchange) = self.open().remove(&link.exchange) else { return };
        // Without sessions, closing an exchange cancels it. With sessions, the tool continues to
        // run and its result is still processed.
        if exchange.modern {
            exchange.tasks.iter().for_each(tokio::task::AbortHandle::abort);
            if left {
                let outputs = self.step(|proxy, now| proxy.exchange_left(link, now));
                self.deliver(outputs);
            }
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
