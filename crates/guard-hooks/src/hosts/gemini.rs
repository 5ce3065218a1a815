//! Gemini CLI. Its calls have no ids, and its shell reports a failed command as a result.

use crate::vocabulary::{AnswerForm, EventMeaning, ShellResult, TimeUnit, Vocabulary};

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
    shell_result: Some(ShellResult {
        tool: "run_shell_command",
        output: "Output: ",
        endings: &[("Exit Code: ", &["0"]), ("Signal: ", &["0", "(none)"])],
        // A command in the background can still fail.
        unfinished: &[
            "Command was cancelled",
            "Command was automatically cancelled",
            "Command moved to background",
        ],
    }),
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
