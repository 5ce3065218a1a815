//! Clauses of tools and policies.

use super::*;

impl Choices<'_> {
    pub(super) fn tool_set(&mut self) -> ToolSet {
        let bare = self.coin();
        let member = |g: &mut Self| match g.below(4) {
            0 => Member::Name(g.plain()),
            1 => Member::Tag(g.plain()),
            2 => Member::Glob(g.string()),
            _ => Member::All(here()),
        };
        let members = if bare { vec![member(self)] } else { self.many(0, 3, member) };
        ToolSet { members, bare, span: here() }
    }

    pub(super) fn guard(&mut self) -> ClauseCondition {
        ClauseCondition { unless: self.coin(), condition: self.expr(4) }
    }

    pub(super) fn clause(&mut self) -> Clause {
        Clause { docs: self.docs(), shadow: self.coin(), kind: self.clause_kind(), span: here() }
    }

    pub(super) fn each(&mut self) -> Vec<(Vec<Ident>, Expr)> {
        self.many(0, 2, |g| (g.many(1, 2, Self::name), g.expr(2)))
    }

    pub(super) fn result_part(&mut self) -> PartPath {
        PartPath {
            of: if self.coin() { ident("result") } else { self.plain() },
            steps: self.many(0, 2, |g| match g.below(2) {
                0 => ResultStep::Field(g.name()),
                _ => ResultStep::Elements(here()),
            }),
        }
    }

    pub(super) fn trusted(&mut self) -> ClauseKind {
        let mut part = self.some(Self::result_part);
        let extractor = part.as_ref().and(self.some(|g| ident(g.of(&["emails", "ibans"]))));
        let mut each = self.each();
        // Without `for` only `result` begins a part.
        match &mut part {
            Some(part) if extractor.is_none() && each.is_empty() => part.of = ident("result"),
            None => each.clear(),
            _ => {}
        }
        ClauseKind::Trusted { extractor, part, each, guard: self.some(Self::guard) }
    }

    pub(super) fn clause_kind(&mut self) -> ClauseKind {
        match self.below(22) {
            21 => ClauseKind::Private {
                part: self.result_part(),
                to: self.some(|g| g.expr(3)),
                each: self.each(),
                guard: self.some(Self::guard),
            },
            20 => ClauseKind::Transform {
                target: self.plain(),
                path: self.many(0, 2, Self::name),
                value: self.expr(3),
                guard: self.some(Self::guard),
                because: self.some(Self::template),
            },
            19 => ClauseKind::Let { name: self.plain(), value: self.expr(3) },
            18 => ClauseKind::Undecoded(self.name()),
            0 => ClauseKind::Requires {
                all: self.many(1, 3, |g| g.many(1, 2, Self::requirement)),
                guard: self.some(Self::guard),
            },
            1 | 2 => ClauseKind::Deny { guard: self.guard(), because: self.some(Self::template) },
            3 => ClauseKind::Limit(self.limit()),
            4 => ClauseKind::Costs {
                amount: self.expr(3),
                unit: self.plain(),
                returned: self.coin(),
            },
            5 => ClauseKind::Risk {
                level: ident(self.of(&["low", "medium", "high", "critical"])),
                guard: self.some(Self::guard),
            },
            6 => ClauseKind::Irreversible,
            7 => ClauseKind::Approval {
                role: self.plain(),
                within: self.some(Self::duration),
                guard: self.some(Self::guard),
                because: self.some(Self::template),
            },
            8 => ClauseKind::Ready(self.plain()),
            9 => ClauseKind::Effect(self.many(1, 4, Self::effect)),
            10 => ClauseKind::Observe {
                target: self.target(),
                value: self.expr(3),
                on_break: self.some(|g| ident(g.of(&["halt", "warn"]))),
            },
            11 => ClauseKind::Learn(self.learn()),
            12 => ClauseKind::Reconcile {
                condition: self.expr(3),
                because: self.some(Self::template),
            },
            13 => ClauseKind::Prior { alpha: self.expr(2), beta: self.expr(2) },
            14 => ClauseKind::Returns(self.ty(2, true), self.forms()),
            15 => ClauseKind::Tags(self.many(1, 3, Self::plain)),
            16 => ClauseKind::Name(self.string()),
            _ if self.coin() => self.trusted(),
            _ => ClauseKind::Untrusted(self.many(0, 2, Self::name)),
        }
    }

    pub(super) fn requirement(&mut self) -> Requirement {
        Requirement {
            latest: self.coin(),
            tool: self.plain(),
            keys: self.args(2),
            since: self.some(Self::plain),
            within: self.some(Self::duration),
            span: here(),
        }
    }

    pub(super) fn limit(&mut self) -> Limit {
        let count = self.number();
        let scope = match self.below(4) {
            0 => LimitScope::Window(self.duration()),
            1 => LimitScope::Session,
            2 => LimitScope::InFlight,
            _ => LimitScope::Identical,
        };
        let success = self.below(4) == 0;
        let by = self.some(|g| g.expr(2));
        Limit { count, success, scope, by, ask: self.some(Self::name) }
    }

    pub(super) fn effect(&mut self) -> Effect {
        let kind = match self.below(8) {
            0 => EffectKind::Set(self.expr(3)),
            1 => EffectKind::Add(self.expr(3)),
            2 => EffectKind::Subtract(self.expr(3)),
            3 => EffectKind::Multiply(self.expr(3)),
            4 => EffectKind::Append(self.expr(3)),
            5 => EffectKind::Insert(self.expr(3)),
            6 => EffectKind::Remove(self.expr(3)),
            _ => EffectKind::Delete,
        };
        let each = self.each();
        let when = if each.is_empty() { None } else { self.some(|g| g.expr(2)) };
        Effect { kind, target: self.target(), each, when, span: here() }
    }

    pub(super) fn target(&mut self) -> Target {
        let path = self
            .many(0, 2, |g| if g.coin() { Step::Field(g.name()) } else { Step::Index(g.expr(2)) });
        Target { var: self.name(), path, span: here() }
    }

    pub(super) fn learn(&mut self) -> Learn {
        Learn {
            fact: self.plain(),
            args: self.args(2),
            each: self.each(),
            when: self.some(|g| g.expr(2)),
        }
    }
}
