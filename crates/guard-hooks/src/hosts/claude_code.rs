//! Claude Code.

use crate::vocabulary::{AnswerForm, EventMeaning, TimeUnit, Vocabulary};

/// The events of Claude Code 2.1.
pub(crate) const CLAUDE_CODE: Vocabulary = Vocabulary {
    name: "claude-code",
    title: "Claude Code",
    events: &[
        ("PreToolUse", EventMeaning::BeforeTool),
        ("PostToolUse", EventMeaning::AfterTool),
        ("PostToolUseFailure", EventMeaning::AfterFailure),
        ("PostToolBatch", EventMeaning::AfterBatch),
        ("PermissionDenied", EventMeaning::Refused),
        ("PermissionRequest", EventMeaning::Pass),
        ("UserPromptSubmit", EventMeaning::Prompt),
        ("Stop", EventMeaning::Stop),
        ("SubagentStop", EventMeaning::SubagentStop),
        ("SessionStart", EventMeaning::SessionStart),
        ("SessionEnd", EventMeaning::Pass),
        ("SubagentStart", EventMeaning::Pass),
    ],
    call_id: Some("tool_use_id"),
    shell_result: None,
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
