//! The replay itself: several files in parallel, one record of each at a time.

use super::files::ReplayInput;
use super::logs::{ReadLog, read_log};
use super::meter::ReplayMeter;
use super::summary::ReplaySummary;
use crate::failure::reason;
use guard_plan::record::{Payload, Record};
use guard_plan::replay_report::SkippedLines;
use guard_trace::Keys;
use guard_trace::import::Form;
use guard_trace::reading::{Flaw, Records};
use guard_trace::replay::{Judge, Options, Replay};
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// The number of differences kept in full per session.
const KEEP: usize = 50;
/// The number of marks in a timeline row.
const MARKS: usize = 400;
/// The progress interval of a large file, in bytes.
const HEARD: u64 = 1 << 20;

/// The common inputs of all files.
pub struct Work<'w> {
    /// The deciding plans.
    pub judges: &'w [Judge],
    /// The format of a foreign log, if given.
    pub from: Option<Option<Form>>,
    /// The key of sealed secrets.
    pub keys: Option<&'w Keys>,
    /// True if a broken chain does not stop the replay.
    pub allow_broken: bool,
    /// The maximum number of listed differences.
    pub list: usize,
}

/// Replays everything. The result does not depend on the number of threads.
pub fn all(
    work: &Work<'_>,
    sources: &[ReplayInput],
    jobs: Option<usize>,
    meter: &ReplayMeter,
) -> ReplaySummary {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = jobs.unwrap_or(cores).clamp(1, sources.len().max(1));
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let send = send.clone();
            let next = &next;
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(source) = sources.get(index) else { return };
                    if send.send((index, work.file(source, meter))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut whole = ReplaySummary::new(work.judges.len(), work.list);
        let mut waiting = BTreeMap::new();
        // Sums are merged in the order of the files, because the lists keep only the first entries.
        let mut turn = 0;
        for (index, sum) in receive {
            waiting.insert(index, sum);
            while let Some(sum) = waiting.remove(&turn) {
                whole.merge(sum);
                turn += 1;
            }
        }
        whole
    })
}

impl Work<'_> {
    fn file(&self, source: &ReplayInput, meter: &ReplayMeter) -> ReplaySummary {
        let mut sum = ReplaySummary::new(self.judges.len(), self.list);
        match source.open() {
            Err(error) => sum.failed(&source.name, None, reason(&error)),
            Ok(reader) => match self.from {
                None => self.trace(source, reader, meter, &mut sum),
                Some(form) => self.log(source, form, reader, meter, &mut sum),
            },
        }
        sum
    }

    fn options(&self) -> Options<'_> {
        let foreign = self.from.is_some();
        Options { keys: self.keys, keep: KEEP.min(self.list), marks: MARKS, foreign }
    }

    /// Returns the judge of a session that was recorded with this plan.
    fn judge(&self, plan: &str) -> Result<usize, String> {
        // A single plan decides every session: that is how a new guard is compared with an old
        // record.
        if let [_] = self.judges {
            return Ok(0);
        }
        let place = self.judges.iter().position(|judge| judge.hash() == plan);
        place.ok_or_else(|| {
            format!("the session was recorded with the plan {plan}, which no `--plan` names; a single `--plan` decides every session")
        })
    }

    /// Replays a trace of Guard: its sessions one after the other.
    fn trace(
        &self,
        source: &ReplayInput,
        reader: Box<dyn BufRead + '_>,
        meter: &ReplayMeter,
        sum: &mut ReplaySummary,
    ) {
        let file = &source.name;
        let mut records = Records::new(reader);
        let mut live: Option<(usize, Replay<'_>)> = None;
        // A session that cannot be replayed is skipped to its end.
        let mut lost = false;
        let mut heard = 0;
        loop {
            let entry = match records.next_record() {
                Ok(None) => break,
                Ok(Some(entry)) => entry,
                // A crash between a write and its answer leaves such a record, and nobody acted on
                // it.
                Err(Flaw::Cut) => {
                    let why = "the last record is cut; it was never answered".into();
                    let file = file.clone();
                    let first = records.number();
                    sum.passed_over(SkippedLines { file, why, first, lines: 1 });
                    break;
                }
                Err(flaw) => {
                    sum.failed(file, Some(records.number()), flaw.to_string());
                    return;
                }
            };
            let number = entry.number;
            if let Some(flaw) = entry.flaw {
                let why = format!("the chain is broken here: {flaw}");
                if !self.allow_broken {
                    sum.failed(
                        file,
                        Some(number),
                        why + "; `--allow-broken` decides it all the same",
                    );
                    return;
                }
                sum.passed_over(SkippedLines { file: file.clone(), why, first: number, lines: 1 });
            }
            // Only the number 0 begins a chain; a later opening is an error, which the replay
            // reports.
            let opens = matches!(entry.record.payload, Payload::Open(_) if entry.record.seq == 0);
            if opens {
                if let Some((judge, replay)) = live.take() {
                    sum.session(file, judge, replay.end());
                }
                lost = false;
            }
            let fed = match &mut live {
                _ if lost => Ok(()),
                Some((judge, replay)) => self.feed(judge, replay, entry.record, Some(entry.line)),
                None => self.begin(entry.record, Some(entry.line)).map(|begun| live = Some(begun)),
            };
            if let Err(why) = fed {
                sum.failed(file, Some(number), why);
                (live, lost) = (None, true);
            }
            if records.bytes() - heard > HEARD {
                meter.add(records.bytes() - heard);
                heard = records.bytes();
            }
        }
        meter.add(records.bytes() - heard);
        if let Some((judge, replay)) = live {
            sum.session(file, judge, replay.end());
        }
    }

    /// Passes a record to a replay. If each session is replayed with the plan that it was recorded
    /// with, an upgrade switches to the next one.
    fn feed<'w>(
        &'w self,
        judge: &mut usize,
        replay: &mut Replay<'w>,
        record: Record,
        line: Option<&[u8]>,
    ) -> Result<(), String> {
        let fed = match &record.payload {
            Payload::Upgrade(upgrade) if self.judges.len() > 1 => {
                *judge = self.judge(&upgrade.snapshot.plan)?;
                replay.upgrade(&self.judges[*judge], record, line)
            }
            _ => replay.record(record, line),
        };
        fed.map_err(|error| error.to_string())
    }

    fn begin(&self, record: Record, line: Option<&[u8]>) -> Result<(usize, Replay<'_>), String> {
        let plan = match &record.payload {
            Payload::Open(open) if self.from.is_none() => self.judge(&open.plan)?,
            Payload::Snapshot(snapshot) => self.judge(&snapshot.plan)?,
            _ => 0,
        };
        let replay = Replay::begin(&self.judges[plan], self.options(), record, line);
        replay.map(|replay| (plan, replay)).map_err(|error| error.to_string())
    }

    /// Replays a foreign log.
    fn log(
        &self,
        source: &ReplayInput,
        form: Option<Form>,
        reader: Box<dyn BufRead + '_>,
        meter: &ReplayMeter,
        sum: &mut ReplaySummary,
    ) {
        let mut sessions =
            Sessions { work: self, order: Vec::new(), by_name: HashMap::new(), failed: Vec::new() };
        let mut give = |name: &str, record: Record| sessions.give(name, record);
        let ReadLog { importer, failed, lines, bytes } = read_log(source, form, reader, &mut give);
        meter.add(bytes);
        if let Some(why) = failed {
            sum.failed(&source.name, Some(lines), why);
        }
        importer.form().into_iter().for_each(|form| sum.form(form.name()));
        importer.passed_over().iter().for_each(|passed| sum.passed_over(passed.clone()));
        sessions.failed.into_iter().for_each(|why| sum.failed(&source.name, None, why));
        for replay in sessions.order.into_iter().flatten() {
            sum.session(&source.name, 0, replay.end());
        }
    }
}

/// The sessions of a log, which may be interleaved.
struct Sessions<'w> {
    work: &'w Work<'w>,
    order: Vec<Option<Replay<'w>>>,
    by_name: HashMap<String, usize>,
    failed: Vec<String>,
}

impl Sessions<'_> {
    fn give(&mut self, name: &str, record: Record) {
        let fed = match self.by_name.get(name) {
            Some(place) => match &mut self.order[*place] {
                Some(replay) => replay.record(record, None).map_err(|error| error.to_string()),
                None => Ok(()),
            },
            None => self.work.begin(record, None).map(|(_, replay)| {
                self.by_name.insert(name.to_owned(), self.order.len());
                self.order.push(Some(replay));
            }),
        };
        if let Err(why) = fed {
            // The name stays known, so that later records of a broken session begin no second one.
            let place = *self.by_name.entry(name.to_owned()).or_insert(self.order.len());
            if place == self.order.len() {
                self.order.push(None);
            }
            self.order[place] = None;
            self.failed.push(format!("session `{name}`: {why}"));
        }
    }
}
