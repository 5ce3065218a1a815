//! Items, and the clauses of items other than tools.

use super::*;

impl Choices<'_> {
    pub(super) fn spanned<T>(node: T) -> Spanned<T> {
        Spanned { node, span: Span::default() }
    }

    pub(super) fn lifecycle_clause(&mut self) -> LifecycleClause {
        match self.below(6) {
            0 => LifecycleClause::Fields(self.many(0, 2, Self::field)),
            1 => LifecycleClause::Initial(self.plain()),
            2 => LifecycleClause::Final(self.many(1, 2, Self::plain)),
            3 => LifecycleClause::Criteria(self.many(1, 2, Self::plain)),
            4 => LifecycleClause::Escalate { role: self.plain(), after: self.number() },
            _ => LifecycleClause::Transition(Transition {
                actor: ident(self.of(&["agent", "harness"])),
                name: self.plain(),
                from: self.many(1, 2, Self::plain),
                to: self.plain(),
                evidence: self.coin(),
                criteria: self.some(Self::coin),
            }),
        }
    }

    pub(super) fn probe_clause(&mut self) -> ProbeClause {
        match self.below(8) {
            0 => ProbeClause::Returns(self.ty(1, true), self.forms()),
            1 => ProbeClause::Command {
                argv: self.many(1, 3, Self::string),
                env: self.many(0, 2, Self::string),
            },
            2 => ProbeClause::File(self.string()),
            3 => ProbeClause::Host,
            4 => ProbeClause::Every(self.duration()),
            5 => ProbeClause::Backoff { factor: self.number(), up_to: self.duration() },
            6 => ProbeClause::Timeout(self.duration()),
            _ => ProbeClause::Within(self.duration()),
        }
    }

    pub(super) fn trigger(&mut self) -> Trigger {
        match self.below(5) {
            0 => Trigger::Calls(self.number()),
            1 => Trigger::Every(self.duration()),
            2 => Trigger::Created(self.string()),
            3 => Trigger::Denied(self.some(Self::tool_set)),
            _ => Trigger::When(self.expr(3)),
        }
    }

    pub(super) fn block(&mut self) -> FeedbackBlock {
        let condition = match self.below(3) {
            0 => BlockCondition::Always,
            1 => BlockCondition::Guard(self.guard()),
            _ => BlockCondition::Otherwise,
        };
        FeedbackBlock {
            severity: ident(self.of(&["info", "caution", "warning"])),
            condition,
            message: self.template(),
            notes: self.many(0, 2, |g| FeedbackNote { suggest: g.coin(), text: g.template() }),
            span: here(),
        }
    }

    pub(super) fn items_clause(&mut self) -> ItemsClause {
        ItemsClause {
            shape: if self.coin() {
                ItemShape::Schema(self.string())
            } else {
                ItemShape::Type(self.ty(1, false))
            },
            max: self.some(Self::number),
            by: self.some(Self::plain),
            partial: self.coin().then(here),
        }
    }

    pub(super) fn whole(&mut self) -> Option<Whole> {
        match self.below(4) {
            0 => Some(Whole::Value(self.ty(2, true))),
            1 => Some(Whole::Items(self.items_clause(), here())),
            _ => None,
        }
    }

    pub(super) fn contract_clause(&mut self) -> ContractClause {
        match self.below(4) {
            0 => ContractClause::Field(self.field()),
            1 => ContractClause::Items {
                docs: Vec::new(),
                path: self.many(1, 3, Self::plain),
                list: self.items_clause(),
                wire: self.some(Self::string),
            },
            2 => ContractClause::Bounds(self.many(0, 3, |g| (g.plain(), g.number()))),
            _ => ContractClause::Reference {
                path: self.many(1, 3, Self::plain),
                allowed: self.expr(2),
            },
        }
    }

    pub(super) fn invariant(&mut self) -> Invariant {
        let modes = [
            InvariantMode::Enforced,
            InvariantMode::Monitor,
            InvariantMode::Proved,
            InvariantMode::Shadow,
        ];
        let mode = modes[self.below(4)];
        Invariant {
            name: self.plain(),
            mode,
            condition: self.expr(5),
            because: self.some(Self::template),
        }
    }

    pub(super) fn property(&mut self) -> Property {
        let modes = [PropertyMode::Claimed, PropertyMode::Monitor, PropertyMode::Proved];
        let mode = modes[self.below(3)];
        let of_all = self.coin();
        let name = self.plain();
        let all = ToolSet { members: vec![Member::All(here())], bare: true, span: here() };
        let tools = if of_all { all } else { self.tool_set() };
        let except = if of_all { None } else { self.some(Self::tool_set) };
        let clauses = self.many(0, 4, Self::clause);
        Property { mode, of_all, policy: Policy { name, tools, except, shadow: false, clauses } }
    }

    pub(super) fn item_kind(&mut self) -> ItemKind {
        match self.below(26) {
            24 | 25 => ItemKind::Define(Define {
                name: self.plain(),
                params: self.many(0, 3, Self::field),
                ty: self.ty(2, true),
                value: self.expr(4),
            }),
            0 if self.coin() => ItemKind::Use(UseTarget::File(self.string())),
            0 => ItemKind::Use(UseTarget::Std(self.plain())),
            1 => ItemKind::DefaultAllow,
            2 => {
                let variant = |g: &mut Self| {
                    if g.coin() {
                        Variant { name: g.string(), quoted: true }
                    } else {
                        Variant { name: g.name(), quoted: false }
                    }
                };
                ItemKind::Enum(Enum { name: self.plain(), variants: self.many(0, 4, variant) })
            }
            3 => ItemKind::Record(RecordDecl {
                name: self.plain(),
                fields: self.many(0, 3, Self::field),
            }),
            4 if self.coin() => ItemKind::Union(Union {
                name: self.plain(),
                tag: self.plain(),
                wire: self.some(Self::string),
                cases: self
                    .many(0, 3, |g| UnionCase { record: g.plain(), wire: g.some(Self::string) }),
            }),
            4 => ItemKind::Alias(Alias { name: self.plain(), ty: self.ty(3, true) }),
            5 => ItemKind::State(self.many(0, 3, |g| StateVar {
                docs: g.docs(),
                name: g.name(),
                ty: g.ty(2, true),
                init: g.expr(3),
                span: here(),
            })),
            6 => ItemKind::Budget(Budget {
                unit: self.plain(),
                amount: self.number(),
                host: self.coin(),
            }),
            7 => ItemKind::Deadline(self.duration()),
            8..=10 => ItemKind::Tool(Tool {
                real_name: self.some(Self::string),
                name: self.plain(),
                params: self.many(0, 3, Self::field),
                clauses: self.many(0, 4, Self::clause),
            }),
            11 => ItemKind::Group(Group { name: self.plain(), members: self.tool_set() }),
            12 => ItemKind::Policy(Policy {
                name: self.plain(),
                tools: self.tool_set(),
                except: self.some(Self::tool_set),
                shadow: self.coin(),
                clauses: self.many(0, 4, Self::clause),
            }),
            13 => ItemKind::Property(self.property()),
            14 => ItemKind::Invariant(self.invariant()),
            15 => {
                let name = self.plain();
                let columns = self.many(0, 3, Self::field);
                let max = self.some(Self::number);
                let halts = max.is_some() && self.coin();
                ItemKind::Fact(Fact { name, columns, max, halts })
            }
            16 if self.coin() => ItemKind::Statement(Statement {
                name: self.plain(),
                params: self.many(0, 3, Self::field),
                max: self.some(Self::number),
                approval: Clause {
                    docs: Vec::new(),
                    shadow: false,
                    kind: ClauseKind::Approval {
                        role: self.plain(),
                        within: self.some(Self::duration),
                        guard: None,
                        because: None,
                    },
                    span: here(),
                },
            }),
            16 => ItemKind::Source(Source {
                name: self.plain(),
                learns: self.many(0, 2, |g| Self::spanned(g.learn())),
            }),
            17 => ItemKind::Lifecycle(Lifecycle {
                name: self.plain(),
                clauses: self.many(0, 4, |g| Self::spanned(g.lifecycle_clause())),
            }),
            18 => ItemKind::Probe(Probe {
                name: self.plain(),
                clauses: self.many(0, 4, |g| Self::spanned(g.probe_clause())),
            }),
            19 => ItemKind::Feedback(Feedback {
                name: self.plain(),
                triggers: self.many(1, 3, |g| Self::spanned(g.trigger())),
                blocks: self.many(0, 3, Self::block),
            }),
            20 => ItemKind::Completion(Completion {
                at_most: self.some(Self::number),
                checks: self.many(0, 4, |g| g.check(2)),
            }),
            21 => ItemKind::Attest(Attest {
                name: self.plain(),
                dimensions: self.many(0, 3, |g| (g.plain(), g.check(1))),
            }),
            22 if self.coin() => ItemKind::Goal(Goal {
                name: self.plain(),
                conditions: self.many(0, 3, |g| g.expr(4)),
            }),
            22 => ItemKind::Contract(Contract {
                name: self.plain(),
                whole: self.whole(),
                clauses: self.many(0, 4, |g| Self::spanned(g.contract_clause())),
            }),
            _ => ItemKind::Test(Test {
                title: self.string(),
                after: self.some(Self::string),
                steps: self.many(0, 5, Self::step),
            }),
        }
    }

    pub fn file(&mut self) -> File {
        let docs = self.docs();
        let header = Header {
            name: self.plain(),
            edition: self.some(Self::number),
            shadow: self.coin(),
            span: here(),
        };
        let items =
            self.many(1, 5, |g| FileItem { docs: g.docs(), kind: g.item_kind(), span: here() });
        File { docs, header: Some(header), items }
    }
}
