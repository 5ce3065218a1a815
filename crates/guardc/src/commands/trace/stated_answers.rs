//! The answers of the world as a test has stated them so far. It converts a question with its answer
//! to the step that states it.

use super::stated_files::StatedFiles;
use super::test_nodes::{TestValues, node};
use guard_plan::record::{Asked, Ran, RunEnd};
use guard_syntax::ast::TestStepKind;
use std::collections::BTreeMap;

/// The stated answers, each as its question and its step.
#[derive(Default)]
pub struct StatedAnswers {
    answers: BTreeMap<String, String>,
    files: StatedFiles,
}

impl StatedAnswers {
    /// Returns the step that states an answer, if the test has not stated it yet.
    ///
    /// # Errors
    ///
    /// Returns a description of the answer if a test cannot state it.
    pub fn step(
        &mut self,
        question: &Asked,
        values: &TestValues,
    ) -> Result<Option<TestStepKind>, &'static str> {
        let step = match question {
            Asked::Exists { path, answer: Some(there) }
            | Asked::File { path, answer: Some(there) } => {
                let path = values.relocated(path);
                self.files.exists(&path, *there).map(|step| (format!("file {path}"), step))
            }
            Asked::Contains { path, text, answer: Some(contained) } => {
                let path = values.relocated(path);
                let step = self.files.contains(&path, text, *contained);
                step.map(|step| (format!("file {path}"), step))
            }
            Asked::Probe { name, answered: false, .. }
                if !self.answers.contains_key(&format!("probe {name}")) =>
            {
                None
            }
            Asked::Probe { name, answered: true, answer } => {
                let value = values.value(answer);
                Some((format!("probe {name}"), TestStepKind::Probe(node(name.to_string()), value)))
            }
            Asked::Run { command, answer: Some(ran) } => Some(step_of_run(command, ran)?),
            Asked::Committed { answer: Some(answer) } => {
                Some(("git".to_owned(), TestStepKind::Git(*answer)))
            }
            _ => return Err("an answer of the world that a test cannot state"),
        };
        let Some((question, step)) = step else { return Ok(None) };
        let says = format!("{step:?}");
        if self.answers.get(&question) == Some(&says) {
            return Ok(None);
        }
        self.answers.insert(question, says);
        Ok(Some(step))
    }
}

/// Returns a command as a question, and the step that states its outcome.
fn step_of_run(command: &[String], ran: &Ran) -> Result<(String, TestStepKind), &'static str> {
    let exits = match ran.ended {
        RunEnd::Exited(status) if (0..=255).contains(&status) => Some(node(status.to_string())),
        RunEnd::TimedOut => None,
        _ => return Err("a command that did not end by itself"),
    };
    let said = if ran.stdout.is_empty() { &ran.output } else { &ran.stdout };
    let output = (exits.is_some() && !said.is_empty()).then(|| node(said.clone()));
    let argv = command.iter().map(|word| node(word.clone())).collect();
    Ok((format!("command {command:?}"), TestStepKind::Command { argv, exits, output }))
}
