//! Answers of the world: every question has a few possible answers, and a run takes one of each.
//!
//! Files are consistent within a run: what contains a text is there, and what is there exists.

use crate::analysis::reference::Ask;
use crate::hir::{ProbeAsks, Program, Type};
use guard_plan::json::Json;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A hash that a file may have.
const HASH: &str = "0000000000000000000000000000000000000000000000000000000000000001";

/// The index of the chosen answer, by question. The default is the first answer.
type WorldChoices = BTreeMap<String, usize>;

/// The answers of one run, and what was asked in it.
pub(crate) struct Oracle<'p> {
    program: &'p Program,
    /// What a probe may answer beyond what its type says.
    probes: &'p [Vec<Json>],
    choices: WorldChoices,
    /// Answers that are fixed.
    told: Vec<(Ask, Json)>,
    asked: RefCell<Vec<(String, usize)>>,
    answers: RefCell<Vec<(Ask, Json)>>,
    /// Things are there and pass, where nothing else is chosen.
    pub kind: bool,
}

impl<'p> Oracle<'p> {
    /// A world in which nothing is there (`kind`: everything), and nothing else is chosen.
    pub fn new(program: &'p Program, probes: &'p [Vec<Json>], kind: bool) -> Self {
        let (asked, answers) = Default::default();
        Oracle {
            program,
            probes,
            choices: WorldChoices::new(),
            told: Vec::new(),
            asked,
            answers,
            kind,
        }
    }

    /// The answer to a question, kept.
    pub fn answer(&self, ask: &Ask) -> Option<Json> {
        if let Some((_, known)) = self.answers.borrow().iter().find(|(known, _)| known == ask) {
            return Some(known.clone());
        }
        let told = self.told.iter().find(|(known, _)| known == ask);
        let answer = told.map_or_else(|| self.fresh(ask), |(_, answer)| answer.clone());
        self.answers.borrow_mut().push((ask.clone(), answer.clone()));
        Some(answer)
    }

    /// Returns true if the worlds that differ in one answer, or in all answers, are all possible worlds.
    pub fn is_simple(&self) -> bool {
        let asked = self.asked.borrow();
        asked.len() <= 2 && asked.iter().all(|(_, options)| *options == 2)
    }

    /// Returns true if this world was asked a question that the other was not.
    pub fn is_asked_more(&self, other: &Oracle) -> bool {
        let known = other.asked.borrow();
        self.asked.borrow().iter().any(|question| !known.contains(question))
    }

    /// The same questions in a world of the other kind.
    pub fn reversed(&self) -> Oracle<'p> {
        Oracle::new(self.program, self.probes, !self.kind)
    }

    /// Returns the answers, in order.
    pub fn answers(&self) -> Vec<(Ask, Json)> {
        self.answers.borrow().clone()
    }

    /// A world that answers so, and is unkind to other questions.
    pub fn told(program: &'p Program, probes: &'p [Vec<Json>], answers: &[(Ask, Json)]) -> Self {
        let oracle = Oracle::new(program, probes, false);
        Oracle { told: answers.to_vec(), ..oracle }
    }

    /// The same world, asked nothing yet.
    pub fn again(&self) -> Oracle<'p> {
        let choices = self.choices.clone();
        let told = self.told.clone();
        Oracle { choices, told, ..Oracle::new(self.program, self.probes, self.kind) }
    }

    /// The worlds that differ in one answer to a question that came after the first few.
    pub fn others_after(&self, first: usize) -> Vec<Oracle<'p>> {
        if self.answers.borrow().len() <= first {
            return Vec::new();
        }
        self.others()
    }

    /// The worlds that differ from this one in one answer, and the one that differs in all. Nothing is kept of what
    /// was asked here.
    pub fn others(&self) -> Vec<Oracle<'p>> {
        let asked = self.asked.borrow();
        let with = |choices: WorldChoices| Oracle {
            choices,
            ..Oracle::new(self.program, self.probes, self.kind)
        };
        let mut others = Vec::new();
        for (question, options) in asked.iter() {
            for option in 1..*options {
                let mut choices = self.choices.clone();
                choices.insert(question.clone(), option);
                others.push(with(choices));
            }
        }
        if asked.len() > 1 {
            let all = asked.iter().map(|(question, _)| (question.clone(), 1));
            others.push(with(all.collect()));
        }
        others
    }

    fn choose(&self, question: String, options: usize) -> usize {
        let chosen = self.choices.get(&question).copied().unwrap_or(0).min(options - 1);
        let mut asked = self.asked.borrow_mut();
        if options > 1 && !asked.iter().any(|(known, _)| *known == question) {
            asked.push((question, options));
        }
        chosen
    }

    fn truth(&self, question: String) -> bool {
        (self.choose(question, 2) == 1) != self.kind
    }

    fn is_there(&self, path: &str) -> bool {
        // A file that was said to contain a text is there.
        let contains = self.answers.borrow().iter().any(|(ask, answer)| {
            matches!(ask, Ask::Contains(of, _) if of == path) && *answer == Json::Bool(true)
        });
        contains || self.truth(format!("file {path}"))
    }

    fn fresh(&self, ask: &Ask) -> Json {
        match ask {
            Ask::Exists(path) | Ask::File(path) => Json::Bool(self.is_there(path)),
            Ask::Contains(path, text) => {
                let known = |ask: &Ask| {
                    let answers = self.answers.borrow();
                    answers.iter().find(|(known, _)| known == ask).map(|(_, is)| is.clone())
                };
                // A file that was said to be missing contains nothing.
                let absent = [Ask::File(path.clone()), Ask::Exists(path.clone())]
                    .iter()
                    .any(|ask| known(ask) == Some(Json::Bool(false)));
                Json::Bool(!absent && self.truth(format!("file {path} contains {text}")))
            }
            Ask::Sha256(path) if self.is_there(path) => Json::string(HASH),
            // What conforms to a contract is not made up: such a file is missing, and nothing is said to be all.
            Ask::Sha256(_) | Ask::Text(_) => Json::Null,
            Ask::Committed => Json::Bool(self.truth("committed".into())),
            Ask::Probe(name) => self.probe(name),
            Ask::Run(argv) => self.command(argv),
        }
    }

    fn probe(&self, name: &str) -> Json {
        let at = self.program.probes.iter().position(|probe| probe.name == name);
        let Some(at) = at else { return Json::Null };
        if *self.program.probes[at].returns.required() == Type::Bool {
            return Json::Bool(self.truth(format!("probe {name}")));
        }
        let options = self.options(at);
        match options.len() {
            0 => Json::Null,
            count => options[self.choose(format!("probe {name}"), count)].clone(),
        }
    }

    /// The answers of a probe; none are known in a world that was made without them.
    fn options(&self, probe: usize) -> &'p [Json] {
        self.probes.get(probe).map_or(&[], Vec::as_slice)
    }

    fn command(&self, argv: &[String]) -> Json {
        let asks = |asks: &ProbeAsks| matches!(asks, ProbeAsks::Command(c) if c.argv == argv);
        let printing = self
            .program
            .probes
            .iter()
            .position(|p| asks(&p.asks) && *p.returns.required() != Type::Bool);
        if let Some(at) = printing {
            let options = self.options(at);
            let chosen = match options.len() {
                0 => None,
                count => Some(&options[self.choose(format!("run {argv:?}"), count)]),
            };
            let printed = match chosen {
                Some(Json::String(text)) => text.to_string(),
                Some(other) => {
                    let mut text = String::new();
                    other.write(&mut text);
                    text
                }
                None => String::new(),
            };
            return Json::Array(vec![Json::Int(0), Json::string(&printed)]);
        }
        let passes = self.expected(argv);
        let status = if self.truth(format!("run {argv:?}")) {
            passes
        } else if passes == 0 {
            1
        } else {
            0
        };
        Json::Array(vec![Json::Int(status), Json::string("")])
    }

    /// The status that some check expects of a command.
    fn expected(&self, argv: &[String]) -> i64 {
        let mut status = 0;
        self.program.each_check(&mut |check| match &check.kind {
            crate::hir::CheckKind::Command(command, exits) if command.argv == argv => {
                status = i64::from(*exits);
            }
            _ => {}
        });
        status
    }
}
