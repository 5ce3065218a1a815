//! Checks, calls and steps of tests.

use super::*;

impl Choices<'_> {
    pub(super) fn check(&mut self, depth: usize) -> Check {
        let kind = match self.below(if depth == 0 { 8 } else { 10 }) {
            0 => CheckKind::Expr(self.expr(3)),
            1 => CheckKind::File(self.string()),
            2 => CheckKind::FileContains(self.string(), self.string()),
            3 => CheckKind::FileConforms(self.string(), self.plain()),
            4 => CheckKind::Command {
                argv: self.many(1, 3, Self::string),
                env: self.many(0, 2, Self::string),
                exits: self.number(),
                within: self.some(Self::duration),
            },
            5 => CheckKind::GitCommitted,
            6 => CheckKind::Every { lifecycle: self.plain(), state: self.plain() },
            7 => CheckKind::Attest(self.plain()),
            8 => CheckKind::All(self.many(0, 2, |g| g.check(depth - 1))),
            _ => CheckKind::Any(self.many(0, 2, |g| g.check(depth - 1))),
        };
        Check { kind, span: here() }
    }

    pub(super) fn call(&mut self) -> TestCall {
        TestCall { tool: self.plain(), args: self.args(2) }
    }

    pub(super) fn step(&mut self) -> TestStep {
        let kind = match self.below(32) {
            0 => TestStepKind::Run {
                success: self.coin(),
                call: self.call(),
                name: self.some(Self::plain),
                returns: self.some(|g| g.expr(2)),
                undecoded: self.coin(),
            },
            1 => TestStepKind::Allowed(self.call()),
            2 => {
                let by = self.some(Self::plain);
                let names = if by.is_some() { self.many(0, 2, Self::plain) } else { Vec::new() };
                TestStepKind::Denied {
                    call: self.call(),
                    by,
                    names,
                    because: self.some(Self::string),
                }
            }
            3 => TestStepKind::Asks { call: self.call(), of: self.some(Self::plain) },
            4 => TestStepKind::Waits {
                call: self.call(),
                by: self.some(Self::plain),
                for_tool: self.some(Self::plain),
            },
            5 => TestStepKind::Start(self.plain(), self.call()),
            6 => TestStepKind::Finish {
                name: self.plain(),
                success: self.coin(),
                returns: self.some(|g| g.expr(2)),
                undecoded: self.coin(),
            },
            7 => TestStepKind::Approve {
                call: self.call(),
                role: self.plain(),
                within: self.some(Self::duration),
            },
            8 => TestStepKind::After(self.duration()),
            9 => TestStepKind::At(self.string()),
            10 => TestStepKind::Exists(self.coin(), self.string()),
            11 => TestStepKind::File(self.string(), self.string()),
            12 => TestStepKind::Probe(self.plain(), self.expr(2)),
            13 => TestStepKind::Usage(self.number(), self.plain()),
            14 => TestStepKind::Prompt(self.string()),
            15 => TestStepKind::Expect(self.expr(3)),
            16 => TestStepKind::Halted,
            29 => TestStepKind::Shows(self.expr(3)),
            30 => TestStepKind::Revoke { call: self.call(), role: self.plain() },
            17 => TestStepKind::Resume(self.plain()),
            18 => TestStepKind::Feedback(self.plain(), self.some(Self::string)),
            19 => TestStepKind::NoFeedback(self.some(Self::plain)),
            20 => TestStepKind::Data(Expr {
                kind: ExprKind::List(self.many(0, 2, |g| g.expr(2))),
                span: Span::default(),
            }),
            21 => TestStepKind::Command {
                argv: self.many(1, 3, Self::string),
                exits: Some(self.number()),
                output: self.some(Self::string),
            },
            22 => TestStepKind::Command {
                argv: self.many(1, 3, Self::string),
                exits: None,
                output: None,
            },
            23 => TestStepKind::Git(self.coin()),
            24 => TestStepKind::Verify(self.string(), self.some(Self::string)),
            25 => TestStepKind::Move(self.string(), self.plain(), self.some(Self::string)),
            26 => TestStepKind::Item(self.string(), self.plain()),
            27 => TestStepKind::Advice(self.plain(), self.plain(), self.some(Self::string)),
            28 => TestStepKind::Report {
                contract: self.plain(),
                lines: self.many(1, 3, Self::string),
                state: self.plain(),
                truncated: self.coin(),
                items: self.some(Self::number),
                quarantined: self.many(0, 2, Self::plain),
                contains: self.some(Self::string),
            },
            _ => TestStepKind::Stop(
                ident(self.of(&["allowed", "blocked", "bypassed"])),
                self.some(Self::string),
            ),
        };
        TestStep { kind, span: here() }
    }
}
