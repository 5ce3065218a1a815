//! Codex CLI. It drops an answer with an unknown member, and exit code 2 without a reason on standard error.

use crate::vocabulary::{AnswerForm, EventMeaning, TimeUnit, Vocabulary};

/// The events of Codex CLI 0.16x.
pub(crate) const CODEX: Vocabulary = Vocabulary {
    name: "codex",
    title: "Codex CLI",
    events: &[
        ("PreToolUse", EventMeaning::BeforeTool),
        ("PostToolUse", EventMeaning::AfterTool),
        ("PermissionRequest", EventMeaning::Pass),
        ("UserPromptSubmit", EventMeaning::Prompt),
        ("Stop", EventMeaning::Stop),
        ("SubagentStop", EventMeaning::SubagentStop),
        ("SessionStart", EventMeaning::SessionStart),
        ("SessionEnd", EventMeaning::Pass),
        ("SubagentStart", EventMeaning::Pass),
        ("PreCompact", EventMeaning::Pass),
        ("PostCompact", EventMeaning::Pass),
        ("Interrupt", EventMeaning::Pass),
    ],
    call_id: Some("tool_use_id"),
    shell_result: None,
    prompt_source: None,
    form: AnswerForm::Permission,
    registered: &[
        ("SessionStart", None),
        ("UserPromptSubmit", None),
        ("PreToolUse", Some("*")),
        ("PostToolUse", Some("*")),
        ("Stop", None),
        ("SubagentStop", None),
    ],
    settings: ".codex/hooks.json",
    time_unit: TimeUnit::Seconds,
    fail_closed: &[],
    program: "codex",
    versions: &["0.163", "0.169"],
    project: &[],
    marks: &["CODEX_SANDBOX", "CODEX_THREAD_ID"],
};
