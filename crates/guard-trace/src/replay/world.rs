//! The world as recorded, and the missing answers.

use guard_plan::json::Json;
use guard_plan::plan::Command;
use guard_plan::record::{Asked, Content, Ran};
use guard_runtime::World;

/// The answers of a record. A question that was not asked in the recording has no answer, and is
/// noted as missing.
#[derive(Debug)]
pub(super) struct RecordedAnswers<'a> {
    asked: &'a [Asked],
    /// The assumed answer to a missing yes-or-no question.
    supposed: Option<bool>,
    /// The first missing question, as text.
    pub missing: Option<String>,
    /// True if a second question is missing, or a question that is not a yes-or-no question.
    pub open: bool,
}

impl<'a> RecordedAnswers<'a> {
    pub fn new(asked: &'a [Asked]) -> RecordedAnswers<'a> {
        RecordedAnswers { asked, supposed: None, missing: None, open: false }
    }

    /// Returns the same world with this answer to the missing question.
    pub fn supposing(&self, answer: bool) -> RecordedAnswers<'a> {
        RecordedAnswers { supposed: Some(answer), ..RecordedAnswers::new(self.asked) }
    }

    fn find<T>(
        &mut self,
        find: impl Fn(&Asked) -> Option<Option<T>>,
        question: impl Fn() -> String,
    ) -> Option<T> {
        if let Some(known) = self.asked.iter().find_map(find) {
            return known;
        }
        self.miss(question());
        // An answer that is no yes or no cannot be supposed, since there are too many.
        self.open = true;
        None
    }

    /// Answers a yes-or-no question.
    fn whether(
        &mut self,
        find: impl Fn(&Asked) -> Option<Option<bool>>,
        question: impl Fn() -> String,
    ) -> Option<bool> {
        if let Some(known) = self.asked.iter().find_map(find) {
            return known;
        }
        self.miss(question());
        self.supposed
    }

    fn miss(&mut self, question: String) {
        match &self.missing {
            None => self.missing = Some(question),
            Some(first) => self.open |= *first != question,
        }
    }
}

impl World for RecordedAnswers<'_> {
    fn exists(&mut self, wanted: &str) -> Option<bool> {
        let find = |asked: &Asked| match asked {
            Asked::Exists { path, answer } if **path == *wanted => Some(*answer),
            _ => None,
        };
        self.whether(find, || format!("whether `{wanted}` exists"))
    }

    fn probe(&mut self, wanted: &str) -> Option<Json> {
        let find = |asked: &Asked| match asked {
            Asked::Probe { name, answered, answer } if **name == *wanted => {
                Some(answered.then(|| answer.clone()))
            }
            _ => None,
        };
        self.find(find, || format!("what the probe `{wanted}` returns"))
    }

    fn file(&mut self, wanted: &str) -> Option<bool> {
        let find = |asked: &Asked| match asked {
            Asked::File { path, answer } if **path == *wanted => Some(*answer),
            _ => None,
        };
        self.whether(find, || format!("whether the file `{wanted}` exists"))
    }

    fn contains(&mut self, wanted: &str, part: &str) -> Option<bool> {
        let find = |asked: &Asked| match asked {
            Asked::Contains { path, text, answer } if **path == *wanted && **text == *part => {
                Some(*answer)
            }
            _ => None,
        };
        self.whether(find, || format!("whether `{wanted}` contains `{part}`"))
    }

    fn text(&mut self, wanted: &str) -> Option<Content> {
        let find = |asked: &Asked| match asked {
            Asked::Text { path, answer } if **path == *wanted => Some(answer.clone()),
            _ => None,
        };
        self.find(find, || format!("what `{wanted}` holds"))
    }

    fn sha256(&mut self, wanted: &str) -> Option<Option<String>> {
        let find = |asked: &Asked| match asked {
            Asked::Sha256 { path, answered, answer } if **path == *wanted => {
                Some(answered.then(|| answer.clone()))
            }
            _ => None,
        };
        self.find(find, || format!("the hash of `{wanted}`"))
    }

    fn run(&mut self, wanted: &Command) -> Option<Ran> {
        let find = |asked: &Asked| match asked {
            Asked::Run { command, answer } if *command == wanted.argv => Some(answer.clone()),
            _ => None,
        };
        self.find(find, || format!("what `{}` does", wanted.argv.join(" ")))
    }

    fn committed(&mut self) -> Option<bool> {
        let find = |asked: &Asked| match asked {
            Asked::Committed { answer } => Some(*answer),
            _ => None,
        };
        self.whether(find, || "whether everything is committed".into())
    }
}
