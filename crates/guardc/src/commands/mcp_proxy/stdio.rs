//! The proxy over standard input and output. Two threads read, one from each side, and pass each
//! line through the protocol to its destination; a third one checks deadlines.

use super::gate::SessionGate;
use super::pipes::{Outlet, PipeLine, read_line};
use super::{Args, LAST_WORDS, ProxyEvent, TICK, note, start};
use crate::failure::{CommandResult, Exit, Failure};
use crate::term::Console;
use guard_hosts::Background;
use guard_mcp::{McpLink, McpProxy, ProxyOutput};
use std::io::{self, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The only connection between one client and one server.
const WAY: McpLink = McpLink { peer: 0, exchange: 0 };

/// The time that a server has to end after it was asked to.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// The state that all threads share.
struct SharedProxy {
    proxy: Mutex<McpProxy<SessionGate>>,
    to_client: Outlet,
    to_server: Outlet,
    begun: Instant,
    events: Mutex<Sender<ProxyEvent>>,
    /// True while the ticking thread has deadlines to check.
    active: Mutex<bool>,
    awake: Condvar,
}

/// A side of the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProxySide {
    Client,
    Server,
    /// Neither side: all lines are left to the outlets' threads.
    Neither,
}

/// Starts the server, and serves the client until one side ends.
pub fn serve(
    args: &Args,
    proxy: McpProxy<SessionGate>,
    event: Receiver<ProxyEvent>,
    events: &Sender<ProxyEvent>,
    term: &Console,
) -> CommandResult {
    let (mut server, input, output) = start(&args.server)?;
    if !server.is_watched() {
        term.note("guard: no shell watches the server; it may outlive a killed proxy");
    }
    let broken = |event: fn() -> ProxyEvent| {
        let events = events.clone();
        move || _ = events.send(event())
    };
    let shared = Arc::new(SharedProxy {
        proxy: Mutex::new(proxy),
        to_client: Outlet::new(Box::new(io::stdout()), broken(|| ProxyEvent::ClientGone)),
        // A server that no longer reads will end, or is detected by its silence.
        to_server: Outlet::new(Box::new(input), || {}),
        begun: Instant::now(),
        events: Mutex::new(events.clone()),
        active: Mutex::new(false),
        awake: Condvar::new(),
    });
    let spawn = |name: &str, work: Box<dyn FnOnce(&SharedProxy) + Send>| {
        let shared = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name(name.into());
        thread.spawn(move || work(&shared)).map(drop)
    };
    let threads =
        spawn("server", Box::new(move |shared| read_side(shared, ProxySide::Server, output)))
            .and_then(|()| {
                spawn(
                    "client",
                    Box::new(|shared| read_side(shared, ProxySide::Client, io::stdin())),
                )
            })
            .and_then(|()| spawn("ticks", Box::new(tick_on)));
    if let Err(error) = threads {
        server.stop(Duration::ZERO);
        return Err(Failure::new(format!("cannot start a thread: {error}")));
    }
    let ended = attend(args, &shared, &event, &mut server);
    shared.proxy.lock().unwrap_or_else(PoisonError::into_inner).gate().leave();
    // The other threads may be blocked for ever. They end with the process.
    ended.map_err(Failure::new)
}

/// Passes the lines of one side on until the side ends.
fn read_side(shared: &SharedProxy, side: ProxySide, from: impl Read) {
    let mut reader = BufReader::with_capacity(64 << 10, from);
    loop {
        let line = read_line(&mut reader);
        let passed = catch_unwind(AssertUnwindSafe(|| {
            let mut proxy = shared.proxy.lock().unwrap_or_else(PoisonError::into_inner);
            let now = shared.begun.elapsed();
            match (line, side) {
                (Ok(PipeLine::Whole(line)), ProxySide::Client) => {
                    Some(proxy.client_line(WAY, &line, now))
                }
                (Ok(PipeLine::Whole(line)), _) => Some(proxy.server_line(WAY, &line, now)),
                (Ok(PipeLine::TooLong(about)), ProxySide::Client) => {
                    Some(proxy.client_oversized(WAY, &about, now))
                }
                (Ok(PipeLine::TooLong(about)), _) => Some(proxy.server_oversized(WAY, &about, now)),
                (Ok(PipeLine::End) | Err(_), _) => None,
            }
        }));
        match passed {
            Ok(Some(outputs)) => {
                shared.wake();
                shared.deliver(outputs, side);
            }
            Ok(None) => break,
            Err(_) => return shared.tell(ProxyEvent::Failed("guardc panicked".into())),
        }
    }
    shared.tell(match side {
        ProxySide::Client => ProxyEvent::ClientEnded,
        _ => ProxyEvent::ServerEnded,
    });
}

/// Checks deadlines while there are any, and closes sessions that are not used.
fn tick_on(shared: &SharedProxy) {
    loop {
        {
            let mut active = shared.active.lock().unwrap_or_else(PoisonError::into_inner);
            while !*active {
                active = shared.awake.wait(active).unwrap_or_else(PoisonError::into_inner);
            }
        }
        std::thread::sleep(TICK);
        let ticked = catch_unwind(AssertUnwindSafe(|| {
            let mut proxy = shared.proxy.lock().unwrap_or_else(PoisonError::into_inner);
            let now = shared.begun.elapsed();
            let due = proxy.next_deadline().is_some_and(|deadline| deadline <= now);
            let outputs = if due { proxy.tick(now) } else { Vec::new() };
            proxy.gate().rest();
            if proxy.next_deadline().is_none() && !proxy.gate().is_active() {
                *shared.active.lock().unwrap_or_else(PoisonError::into_inner) = false;
            }
            outputs
        }));
        match ticked {
            Ok(outputs) => shared.deliver(outputs, ProxySide::Neither),
            Err(_) => return shared.tell(ProxyEvent::Failed("guardc panicked".into())),
        }
    }
}

impl SharedProxy {
    fn tell(&self, event: ProxyEvent) {
        let _ = self.events.lock().unwrap_or_else(PoisonError::into_inner).send(event);
    }

    fn wake(&self) {
        let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        if !*active {
            *active = true;
            self.awake.notify_one();
        }
    }

    /// Writes lines to their destinations. Only the reader of the other side waits for a side that
    /// does not read.
    fn deliver(&self, outputs: Vec<ProxyOutput>, from: ProxySide) {
        for output in outputs {
            match output {
                ProxyOutput::ToServer(_, line) if from == ProxySide::Client => {
                    // The reader of the server detects its end.
                    let _ = self.to_server.write(&line);
                }
                ProxyOutput::ToServer(_, line) => self.to_server.queue(line),
                ProxyOutput::ToClient(_, line) if from == ProxySide::Server => {
                    if self.to_client.write(&line).is_err() {
                        self.tell(ProxyEvent::ClientGone);
                    }
                }
                ProxyOutput::ToClient(_, line) => self.to_client.queue(line),
                ProxyOutput::Note(text) => note(&text),
            }
        }
    }

    /// Ends all calls, and waits a moment for the client to read the last messages.
    fn end_calls(&self, why: &str) {
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let mut proxy = self.proxy.lock().unwrap_or_else(PoisonError::into_inner);
            proxy.server_ended(self.begun.elapsed(), why)
        }));
        self.deliver(ended.unwrap_or_default(), ProxySide::Neither);
        // The proxy does not wait for a client that does not read.
        let _ = self.to_client.mark().recv_timeout(LAST_WORDS);
    }

    fn holds_calls(&self) -> bool {
        self.proxy.lock().unwrap_or_else(PoisonError::into_inner).holds_calls()
    }
}

/// Waits for the end of one side, and ends the other.
fn attend(
    args: &Args,
    shared: &SharedProxy,
    events: &Receiver<ProxyEvent>,
    server: &mut Background,
) -> Result<Exit, String> {
    match events.recv().unwrap_or(ProxyEvent::Stopped) {
        ProxyEvent::ClientEnded => {
            client_left(args, shared, events, server);
            Ok(Exit::Fine)
        }
        ProxyEvent::ClientGone => {
            server.stop(STOP_GRACE);
            shared.end_calls("the client has left");
            Ok(Exit::Fine)
        }
        ProxyEvent::ServerEnded => {
            // The pipe may be closed while the server continues to run.
            let status = server.wait(STOP_GRACE);
            server.stop(STOP_GRACE);
            let how = match status {
                Some(status) => format!("the server has ended ({status})"),
                None => "the server has closed its output".into(),
            };
            shared.end_calls(&how);
            Err(how)
        }
        ProxyEvent::Stopped => {
            server.stop(STOP_GRACE);
            shared.end_calls("the proxy was stopped");
            Ok(Exit::Fine)
        }
        ProxyEvent::Failed(why) => {
            server.stop(Duration::ZERO);
            Err(why)
        }
    }
}

/// Handles the end of the client's input. The client may still read, so pending calls are answered
/// within a time limit.
fn client_left(
    args: &Args,
    shared: &SharedProxy,
    events: &Receiver<ProxyEvent>,
    server: &mut Background,
) {
    let until = Instant::now() + args.linger;
    let outputs = {
        let mut proxy = shared.proxy.lock().unwrap_or_else(PoisonError::into_inner);
        proxy.client_ended(shared.begun.elapsed())
    };
    shared.deliver(outputs, ProxySide::Neither);
    let mut closed = false;
    loop {
        if !closed && !shared.holds_calls() {
            let _ = shared.to_server.mark().recv_timeout(LAST_WORDS);
            shared.to_server.close();
            closed = true;
        }
        let left = until.saturating_duration_since(Instant::now());
        let wait = if closed { left } else { left.min(TICK) };
        match events.recv_timeout(wait) {
            Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
            _ => break,
        }
    }
    if server.wait(if closed { STOP_GRACE } else { Duration::ZERO }).is_none() {
        server.stop(STOP_GRACE);
    }
    shared.end_calls("the client has left");
}
