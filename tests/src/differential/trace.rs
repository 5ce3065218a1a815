//! The trace of a played session, and the law that a session is again what it was from its trace alone.

use super::heard::EventReply;
use super::kernel;
use super::world::Answering;
use crate::generate::Event;
use guard_plan::record::verify_chain;
use guard_runtime::{Kernel, Recorder, Secrets, SessionState};
use guard_trace::{Keys, resume};
use std::sync::Arc;

/// The value of the secret parameter of generated calls.
const SECRET: &str = "hunter2";

/// The records of a session.
pub(super) struct Trace {
    secrets: Arc<dyn Secrets>,
    recorder: Recorder,
    lines: Vec<String>,
}

impl Trace {
    /// With the first record.
    pub fn new(kernel: &Kernel, session: &SessionState) -> Trace {
        let secrets: Arc<dyn Secrets> = Arc::new(Keys::new([7; 32]).session(session.id()));
        let mut recorder = Recorder::new(Arc::clone(&secrets));
        let lines = vec![text(recorder.open(kernel, session, None))];
        Trace { secrets, recorder, lines }
    }

    /// Returns the kernel's reply to an event, and records the event.
    pub fn step(
        &mut self,
        kernel: &Kernel,
        session: &mut SessionState,
        event: &Event,
        now: i64,
        at: usize,
    ) -> Result<EventReply, ()> {
        let Some(event) = kernel::taken(event, now) else { return Ok(EventReply::default()) };
        let outcome = kernel.step(session, &event, &mut Answering(at)).map_err(drop)?;
        self.lines.push(text(self.recorder.event(kernel, session, &event, &outcome)));
        Ok(kernel::said(&event, session, outcome))
    }

    /// Its lines.
    pub fn into_lines(self) -> Vec<String> {
        self.lines
    }

    /// Checks that the hash chain is intact, that it shows no secret, and that the session resumes from it unchanged.
    pub fn check(&self, kernel: &Kernel, session: &SessionState) -> Result<(), String> {
        let lines = || self.lines.iter().map(String::as_str);
        verify_chain(lines()).map_err(|error| error.to_string())?;
        if let Some(line) = lines().find(|line| line.contains(SECRET)) {
            return Err(format!("a secret stands in the trace: {line}"));
        }
        let again = resume(kernel, &self.secrets, lines()).map_err(|error| error.to_string())?;
        if again.session.memory() != session.memory() {
            return Err(format!("was {session:?}\nis  {:?}", again.session));
        }
        if again.recorder.hash() != self.recorder.hash() {
            return Err("the recorder goes on elsewhere".into());
        }
        Ok(())
    }
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}
