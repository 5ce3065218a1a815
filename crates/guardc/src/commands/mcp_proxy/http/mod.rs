//! The proxy over Streamable HTTP. It listens for clients (`incoming`), and sends the permitted
//! messages to the server's URL (`outgoing`). This file has the state that both share.
//!
//! Each request of a client is an exchange. Its message passes through the protocol, a message to
//! the server is one request there, and each response is written to the exchange that it belongs
//! to. No data of a guard's session is bound to a connection. Headers are passed on, except those
//! about one connection.

mod exchange;
mod incoming;
mod outgoing;
mod request;
mod sse;

use super::gate::SessionGate;
use super::{Args, LAST_WORDS, ProxyEvent, TICK, note};
use crate::failure::{CommandResult, Exit, Failure};
use crate::term::Console;
use exchange::{AnswerPart, OpenExchange};
use guard_mcp::{McpLink, McpProxy, ProxyOutput};
use http_body_util::Full;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::Uri;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use sse::SseEvent;
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The time limit for the head of a request, and for its body.
const READ_TIME: Duration = Duration::from_secs(30);

/// The time limit for connecting to the server.
const CONNECT_TIME: Duration = Duration::from_secs(10);

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
