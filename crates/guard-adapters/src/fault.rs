//! Faults: each one duty forgotten, as a tired engineer would forget it.

/// What an adapter gets wrong. It is looked at where the duty is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// Runs the tool before the guard is asked.
    RunsFirst,
    /// Treats *ask* as *allow*.
    AskIsAllow,
    /// Treats *wait* as *deny* for good.
    WaitIsDeny,
    /// Settles every call as a success.
    FailureIsSuccess,
    /// Shows the first line of a denial only.
    FirstReason,
    /// Drops feedback.
    NoFeedback,
    /// Stops although it was blocked.
    StopsBlocked,
    /// Lets the framework's own tools around the gate.
    NativeAround,
    /// Tells the guard the time of the beginning.
    FrozenClock,
    /// Hands over no trace.
    NoTrace,
    /// Keeps one session for all.
    OneSession,
}

impl Fault {
    /// All but [`Fault::None`].
    pub const ALL: &[Fault] = &[
        Fault::RunsFirst,
        Fault::AskIsAllow,
        Fault::WaitIsDeny,
        Fault::FailureIsSuccess,
        Fault::FirstReason,
        Fault::NoFeedback,
        Fault::StopsBlocked,
        Fault::NativeAround,
        Fault::FrozenClock,
        Fault::NoTrace,
        Fault::OneSession,
    ];
}
