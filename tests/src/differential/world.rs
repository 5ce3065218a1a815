//! The world of a generated session: it changes every few events, and is silent now and then.

use guard_compiler::reference::Ask;
use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::random::Rng;
use guard_plan::record::{Content, Ran, RunEnd};
use guard_runtime::World;

/// The world as it is at an event.
pub(super) struct Answering(pub usize);

impl Answering {
    fn truth(&self, ask: &Ask) -> Option<bool> {
        match answer(ask, self.0) {
            Some(Json::Bool(is)) => Some(is),
            _ => None,
        }
    }
}

impl World for Answering {
    fn exists(&mut self, path: &str) -> Option<bool> {
        self.truth(&Ask::Exists(path.into()))
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        answer(&Ask::Probe(name.into()), self.0)
    }

    fn file(&mut self, path: &str) -> Option<bool> {
        self.truth(&Ask::File(path.into()))
    }

    fn contains(&mut self, path: &str, text: &str) -> Option<bool> {
        self.truth(&Ask::Contains(path.into(), text.into()))
    }

    fn text(&mut self, path: &str) -> Option<Content> {
        let none = [Content::Missing, Content::TooLarge, Content::NotText];
        match answer(&Ask::Text(path.into()), self.0)? {
            Json::String(text) => Some(Content::Text(text)),
            _ => Some(none[self.0 % 3].clone()),
        }
    }

    fn sha256(&mut self, path: &str) -> Option<Option<String>> {
        match answer(&Ask::Sha256(path.into()), self.0)? {
            Json::String(hash) => Some(Some(hash.into())),
            _ => Some(None),
        }
    }

    fn run(&mut self, command: &Command) -> Option<Ran> {
        let Json::Array(parts) = answer(&Ask::Run(command.argv.clone()), self.0)? else {
            let ends = [RunEnd::TimedOut, RunEnd::Signalled(9), RunEnd::NotStarted("no".into())];
            let ended = ends[self.0 % 3].clone();
            return Some(Ran { ended, output: "…".into(), stdout: "0".into() });
        };
        match parts.as_slice() {
            [Json::Int(status), Json::String(printed)] => Some(Ran {
                ended: RunEnd::Exited(*status as i32),
                output: printed.to_string(),
                stdout: printed.to_string(),
            }),
            _ => None,
        }
    }

    fn committed(&mut self) -> Option<bool> {
        self.truth(&Ask::Committed)
    }
}

/// Returns the world's answer at an event; sometimes none.
pub(super) fn answer(ask: &Ask, at: usize) -> Option<Json> {
    let drawn = weight(&format!("{ask:?}"), at / 3) >> 5;
    let odd = weight(&format!("{ask:?}?"), at / 2) >> 7;
    if odd.is_multiple_of(12) {
        return None;
    }
    Some(match ask {
        Ask::Probe(name) if name == "level" => match odd % 9 {
            1 => Json::Null,
            2 => Json::string("high"),
            _ => Json::Int((drawn % 9) as i64),
        },
        Ask::Probe(_) if odd % 12 == 1 => Json::Null,
        Ask::Text(_) if drawn.is_multiple_of(8) => Json::Null,
        Ask::Text(_) => Json::string(&crate::generate::document(&mut Rng::new(drawn))),
        Ask::Sha256(_) if drawn.is_multiple_of(4) => Json::Null,
        Ask::Sha256(_) => Json::string(&format!("{:064x}", drawn % 3)),
        Ask::Run(_) if odd % 9 == 1 => Json::Null,
        Ask::Run(words) => {
            let printed = match words.last().map(String::as_str) {
                Some("level") => [" 5\n", "2", "high", ""][(drawn / 3) as usize % 4],
                _ => ["up\n", " down ", "", "{}"][(drawn / 3) as usize % 4],
            };
            let status = i64::from(drawn.is_multiple_of(3));
            Json::Array(vec![Json::Int(status), Json::string(printed)])
        }
        _ => Json::Bool(!drawn.is_multiple_of(3)),
    })
}

/// A number that depends on a text and a time.
fn weight(text: &str, at: usize) -> u64 {
    let seed = 0xcbf2_9ce4_8422_2325 ^ (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed =
        text.bytes().fold(seed, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
    mixed ^ (mixed >> 29)
}
