//! Gemini CLI. Its calls have no ids, and its shell reports a failed command as a result.

use crate::vocabulary::{AnswerForm, EventMeaning, TimeUnit, Vocabulary};

/// The events of Gemini CLI 0.61.
pub(crate) const GEMINI: Vocabulary = Vocabulary {
    name: "gemini",
    title: "Gemini CLI",
    events: &[
        ("BeforeTool", EventMeaning::BeforeTool),
        ("AfterTool", EventMeaning::AfterTool),
        ("BeforeAgent", EventMeaning::Prompt),
        ("AfterAgent", EventMeaning::Stop),
        ("SessionStart", EventMeaning::SessionStart),
        ("SessionEnd", EventMeaning::Pass),
        ("BeforeModel", EventMeaning::Pass),
        ("AfterModel", EventMeaning::Pass),
        ("BeforeToolSelection", EventMeaning::Pass),
        ("PreCompress", EventMeaning::Pass),
        ("Notification", EventMeaning::Pass),
    ],
    call_id: None,
    exit_status: Some("Exit Code: "),
    prompt_source: None,
    form: AnswerForm::Decision,
    registered: &[
        ("SessionStart", None),
        ("BeforeAgent", None),
        ("BeforeTool", Some("*")),
        ("AfterTool", Some("*")),
        ("AfterAgent", None),
    ],
    settings: ".gemini/settings.json",
    time_unit: TimeUnit::Milliseconds,
    fail_closed: &[],
    program: "gemini",
    versions: &["0.61"],
    project: &["GEMINI_PROJECT_DIR"],
    marks: &["GEMINI_CLI"],
};
