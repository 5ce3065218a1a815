//! The vocabulary of a host, as data: the names of its events, the location of a call's id, the
//! form of its answers, and the path of its settings.

/// The meaning of a host's event for the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventMeaning {
    /// A tool is about to run.
    BeforeTool,
    /// A tool has run.
    AfterTool,
    /// A tool has failed.
    AfterFailure,
    /// All calls of one step of the model have ended.
    AfterBatch,
    /// The host itself refused a call that the guard may have allowed.
    Refused,
    /// The user has written a message.
    Prompt,
    /// The agent wants to stop.
    Stop,
    /// A sub-agent wants to stop.
    SubagentStop,
    /// A session begins or is resumed.
    SessionStart,
    /// There is nothing to decide; the event passes.
    Pass,
}

/// The form of a host's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerForm {
    /// `hookSpecificOutput.permissionDecision` before a tool, `decision: "block"` elsewhere.
    Permission,
    /// `decision: "deny"` everywhere.
    Decision,
}

/// The unit of the time limit in a host's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

/// The form in which a shell tool reports the ending of a command within its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellResult {
    /// The name of the tool.
    pub tool: &'static str,
    /// The text before the output of the command.
    pub output: &'static str,
    /// The beginnings of the lines after the output that state the ending, each with its values for
    /// a success.
    pub endings: &'static [(&'static str, &'static [&'static str])],
    /// The beginnings of the results of commands that did not run to their end.
    pub unfinished: &'static [&'static str],
}

/// The properties of one host.
#[derive(Debug)]
pub struct Vocabulary {
    /// The name on the command line.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The events by the host's names. An event that is not listed passes, unless it carries a tool call.
    pub events: &'static [(&'static str, EventMeaning)],
    /// The member with the id of a call. Without one, calls are identified by tool and arguments.
    pub call_id: Option<&'static str>,
    /// The form of the results of the shell tool, if the host reports failed commands as results.
    pub shell_result: Option<ShellResult>,
    /// The values of a prompt's `source` when the user typed it, if the host has such a member.
    pub prompt_source: Option<&'static [&'static str]>,
    /// The form of the answers.
    pub form: AnswerForm,
    /// The events that the installed hook is registered for, each with its matcher.
    pub registered: &'static [(&'static str, Option<&'static str>)],
    /// The settings file, relative to the home directory or to a project.
    pub settings: &'static str,
    /// The unit of the time limit in the settings.
    pub time_unit: TimeUnit,
    /// Members of an installed hook that make the host fail closed.
    pub fail_closed: &'static [(&'static str, &'static str)],
    /// The file name of the host's program.
    pub program: &'static str,
    /// The versions that were tested.
    pub versions: &'static [&'static str],
    /// Environment variables with the folder of the project.
    pub project: &'static [&'static str],
    /// Environment variables that the host sets for the commands of its agent.
    pub marks: &'static [&'static str],
}

impl Vocabulary {
    /// Returns the meaning of an event, if it is a known event of the host.
    pub fn meaning(&self, event: &str) -> Option<EventMeaning> {
        self.events.iter().find(|(name, _)| *name == event).map(|(_, meaning)| *meaning)
    }
}
