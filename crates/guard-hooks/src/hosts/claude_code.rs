//! Claude Code.

use crate::vocabulary::{AnswerForm, Meaning, TimeUnit, Vocabulary};

/// The events of Claude Code 2.1.
pub(crate) const CLAUDE_CODE: Vocabulary = Vocabulary {
    name: "claude-code",
    title: "Claude Code",
    events: &[
        ("PreToolUse", Meaning::BeforeTool),
        ("PostToolUse", Meaning::AfterTool),
        ("PostToolUseFailure", Meaning::AfterFailure),
        ("PostToolBatch", Meaning::AfterBatch),
        ("PermissionDenied", Meaning::Refused),
        ("PermissionRequest", Meaning::Pass),
        ("UserPromptSubmit", Meaning::Prompt),
        ("Stop", Meaning::Stop),
        ("SubagentStop", Meaning::SubagentStop),
        ("SessionStart", Meaning::SessionStart),
        ("SessionEnd", Meaning::Pass),
        ("SubagentStart", Meaning::Pass),
    ],
    call_id: Some("tool_use_id"),
    exit_status: None,
    prompt_source: Some(&["user", "typed", "cli", "sdk"]),
    form: AnswerForm::Permission,
    registered: &[
        ("SessionStart", None),
        ("UserPromptSubmit", None),
        ("PreToolUse", Some("*")),
        ("PostToolUse", Some("*")),
        ("PostToolUseFailure", Some("*")),
        ("PostToolBatch", None),
        ("PermissionDenied", Some("*")),
        ("Stop", None),
        ("SubagentStop", None),
    ],
    settings: ".claude/settings.json",
    time_unit: TimeUnit::Seconds,
    fail_closed: &[("onFailure", "block")],
    program: "claude",
    versions: &["2.1"],
    project: &["CLAUDE_PROJECT_DIR"],
    marks: &["CLAUDECODE"],
};
