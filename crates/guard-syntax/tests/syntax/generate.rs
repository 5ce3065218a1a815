//! Generated trees: every item, clause and expression form, chosen by a string of bytes.
//!
//! A byte is a choice; when they run out the first choice is taken, so that shorter strings give smaller
//! trees and failures shrink.

use guard_syntax::ast::*;
use guard_syntax::span::Span;

/// A source of choices.
pub struct Choices<'b> {
    bytes: &'b [u8],
    /// Inside a message, where regular expressions are left out.
    in_message: bool,
}

const NAMES: [&str; 12] =
    ["a", "b", "xs", "path", "count", "probe", "limit", "name", "order_id", "sum", "key", "max"];
/// Names that begin no clause and no step.
const PLAIN: [&str; 6] = ["lint", "build", "deploy", "t1", "Env", "other_one"];
const STRINGS: [&str; 8] =
    ["", "a b", "say \"x\"", "back\\slash", "line\nbreak\t", "{braces} }}", "é😀", "//no comment"];
const REGEXES: [&str; 3] = ["^[a-z]+$", "a/b", "\\d+"];

fn ident(text: &str) -> Ident {
    Spanned { node: text.to_owned(), span: Span::default() }
}

fn here() -> SpanEq {
    SpanEq(Span::default())
}

impl<'b> Choices<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Choices { bytes, in_message: false }
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    fn below(&mut self, n: usize) -> usize {
        self.byte() as usize % n
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    fn of<'s>(&mut self, pool: &[&'s str]) -> &'s str {
        pool[self.below(pool.len())]
    }

    fn name(&mut self) -> Ident {
        ident(self.of(&NAMES))
    }

    fn plain(&mut self) -> Ident {
        ident(self.of(&PLAIN))
    }

    fn string(&mut self) -> Str {
        ident(self.of(&STRINGS))
    }

    fn number(&mut self) -> Literal {
        ident(self.of(&["5", "0", "50.00", "100"]))
    }

    fn duration(&mut self) -> Literal {
        ident(self.of(&["30s", "1h30m", "250ms", "2d"]))
    }

    fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.coin() { Some(make(self)) } else { None }
    }

    fn many<T>(
        &mut self,
        least: usize,
        most: usize,
        mut make: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let n = least + self.below(most - least + 1);
        (0..n).map(|_| make(self)).collect()
    }

    fn docs(&mut self) -> Vec<String> {
        if self.below(4) == 1 {
            vec!["About it.".to_owned(), String::new(), "  More".to_owned()]
        } else {
            Vec::new()
        }
    }

    pub fn expr(&mut self, depth: usize) -> Expr {
        Expr { kind: self.expr_kind(depth), span: Span::default() }
    }

    fn boxed(&mut self, depth: usize) -> Box<Expr> {
        Box::new(self.expr(depth))
    }

    fn expr_kind(&mut self, depth: usize) -> ExprKind {
        if depth == 0 {
            return self.atom();
        }
        let d = depth - 1;
        match self.below(16) {
            0 => self.atom(),
            1..=4 => self.binary(d),
            5 => ExprKind::Else(self.boxed(d), self.boxed(d)),
            6 => ExprKind::If(self.boxed(d), self.boxed(d), self.boxed(d)),
            7 | 8 => self.unary(d),
            9 => ExprKind::Is(self.boxed(d), self.coin()),
            10 => ExprKind::Field(self.boxed(d), self.name()),
            11 if self.coin() => ExprKind::Each(self.boxed(d)),
            11 => ExprKind::Index(self.boxed(d), self.many(1, 2, |g| g.expr(d))),
            12 => self.quantified(d),
            13 => ExprKind::Call(self.name(), self.args(d)),
            14 => ExprKind::List(self.many(0, 3, |g| g.expr(d))),
            _ if self.coin() => ExprKind::Set(self.many(0, 3, |g| g.expr(d))),
            _ => ExprKind::Map(
                self.many(1, 2, |g| (if g.coin() { g.string() } else { g.name() }, g.expr(d))),
            ),
        }
    }

    fn atom(&mut self) -> ExprKind {
        match self.below(9) {
            0 => ExprKind::Name(self.name().node),
            1 => ExprKind::Number(self.number().node),
            2 => ExprKind::Duration(self.duration().node),
            3 => ExprKind::String(self.string().node),
            4 => ExprKind::Bool(self.coin()),
            5 => ExprKind::None,
            6 => ExprKind::Probe(self.plain()),
            7 => ExprKind::Known(self.name(), self.args(0)),
            _ => ExprKind::Number("1MiB".to_owned()),
        }
    }

    fn binary(&mut self, d: usize) -> ExprKind {
        use BinaryOp as B;
        let all = [
            B::Implies,
            B::Or,
            B::And,
            B::Eq,
            B::Ne,
            B::Lt,
            B::Le,
            B::Gt,
            B::Ge,
            B::In,
            B::Contains,
            B::Within,
            B::Since,
            B::Add,
            B::Sub,
            B::Mul,
            B::Div,
            B::Rem,
            B::Matches,
        ];
        match all[self.below(all.len())] {
            B::Matches if self.in_message => ExprKind::Binary(B::Eq, self.boxed(d), self.boxed(d)),
            B::Matches => {
                let regex = Expr {
                    kind: ExprKind::Regex(self.of(&REGEXES).to_owned()),
                    span: Span::default(),
                };
                ExprKind::Binary(B::Matches, self.boxed(d), Box::new(regex))
            }
            op => ExprKind::Binary(op, self.boxed(d), self.boxed(d)),
        }
    }

    fn unary(&mut self, d: usize) -> ExprKind {
        let all =
            [UnaryOp::Not, UnaryOp::Neg, UnaryOp::Once, UnaryOp::Historically, UnaryOp::Previous];
        ExprKind::Unary(all[self.below(all.len())], self.boxed(d))
    }

    fn quantified(&mut self, d: usize) -> ExprKind {
        let all = [Quantifier::All, Quantifier::Any, Quantifier::Count, Quantifier::Sum];
        let op = all[self.below(all.len())];
        ExprKind::Quantified {
            op,
            binders: self.many(1, 2, Self::name),
            over: self.boxed(d),
            body: self.boxed(d),
        }
    }

    fn args(&mut self, d: usize) -> Vec<Arg> {
        self.many(0, 2, |g| Arg { name: g.some(Self::name), value: g.expr(d) })
    }

    fn template(&mut self) -> Template {
        self.in_message = true;
        let mut parts: Vec<TemplatePart> = Vec::new();
        for _ in 0..self.below(4) {
            let text_before = matches!(parts.last(), Some(TemplatePart::Text(_)));
            if text_before || self.coin() {
                parts.push(TemplatePart::Expr(self.expr(2)));
            } else {
                parts.push(TemplatePart::Text(self.of(&STRINGS[1..]).to_owned()));
            }
        }
        self.in_message = false;
        Template { parts, span: Span::default() }
    }

    fn ty(&mut self, depth: usize, max: bool) -> Type {
        let kind = match self.below(if depth == 0 { 1 } else { 4 }) {
            0 => TypeKind::Name(ident(self.of(&["int", "string", "Env", "path", "time"]))),
            1 => TypeKind::List(Box::new(self.ty(depth - 1, true))),
            2 => TypeKind::Set(Box::new(self.ty(depth - 1, true))),
            _ => TypeKind::Map(
                Box::new(self.ty(depth - 1, true)),
                Box::new(self.ty(depth - 1, true)),
            ),
        };
        let optional = self.coin();
        let refinements = self.many(0, 2, |g| g.refinement(max));
        Type { kind, optional, refinements, span: Span::default() }
    }

    fn refinement(&mut self, max: bool) -> Refinement {
        match self.below(6) {
            0 if max => Refinement::Max(self.number()),
            1 => Refinement::Matches(ident(self.of(&REGEXES))),
            2 => Refinement::Format(self.string()),
            3 => Refinement::Range {
                low: Some(self.number()),
                high: None,
                inclusive: false,
                span: here(),
            },
            4 => Refinement::Range {
                low: None,
                high: Some(self.number()),
                inclusive: self.coin(),
                span: here(),
            },
            _ => Refinement::Range {
                low: Some(ident("-5")),
                high: Some(self.number()),
                inclusive: self.coin(),
                span: here(),
            },
        }
    }

    fn field(&mut self) -> Field {
        let docs = self.docs();
        let name = self.name();
        Field {
            docs,
            name,
            ty: self.ty(2, true),
            secret: self.coin(),
            key: self.coin(),
            forms: self.forms(),
            wire: self.some(Self::string),
            span: here(),
        }
    }

    fn forms(&mut self) -> OtherForms {
        let places = self.coin().then(|| self.number());
        OtherForms {
            from: self.some(Self::plain),
            rounded: self.coin().then(|| Rounding { places, span: here() }),
            timezone: self.some(Self::string),
            fallback: self.some(Self::plain),
        }
    }

    fn tool_set(&mut self) -> ToolSet {
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

    fn guard(&mut self) -> Guard {
        Guard { unless: self.coin(), condition: self.expr(4) }
    }

    fn clause(&mut self) -> Clause {
        Clause { docs: self.docs(), shadow: self.coin(), kind: self.clause_kind(), span: here() }
    }

    fn each(&mut self) -> Vec<(Vec<Ident>, Expr)> {
        self.many(0, 2, |g| (g.many(1, 2, Self::name), g.expr(2)))
    }

    fn result_part(&mut self) -> PartPath {
        PartPath {
            of: if self.coin() { ident("result") } else { self.plain() },
            steps: self.many(0, 2, |g| match g.below(2) {
                0 => ResultStep::Field(g.name()),
                _ => ResultStep::Elements(here()),
            }),
        }
    }

    fn trusted(&mut self) -> ClauseKind {
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

    fn clause_kind(&mut self) -> ClauseKind {
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

    fn requirement(&mut self) -> Requirement {
        Requirement {
            latest: self.coin(),
            tool: self.plain(),
            keys: self.args(2),
            since: self.some(Self::plain),
            within: self.some(Self::duration),
            span: here(),
        }
    }

    fn limit(&mut self) -> Limit {
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

    fn effect(&mut self) -> Effect {
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
        Effect { kind, target: self.target(), span: here() }
    }

    fn target(&mut self) -> Target {
        let path = self
            .many(0, 2, |g| if g.coin() { Step::Field(g.name()) } else { Step::Index(g.expr(2)) });
        Target { var: self.name(), path, span: here() }
    }

    fn learn(&mut self) -> Learn {
        Learn {
            fact: self.plain(),
            args: self.args(2),
            each: self.each(),
            when: self.some(|g| g.expr(2)),
        }
    }

    fn check(&mut self, depth: usize) -> Check {
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

    fn call(&mut self) -> ToolCall {
        ToolCall { tool: self.plain(), args: self.args(2) }
    }

    fn step(&mut self) -> TestStep {
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
            4 => TestStepKind::Waits { call: self.call(), for_tool: self.some(Self::plain) },
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

    fn spanned<T>(node: T) -> Spanned<T> {
        Spanned { node, span: Span::default() }
    }

    fn lifecycle_clause(&mut self) -> LifecycleClause {
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

    fn probe_clause(&mut self) -> ProbeClause {
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

    fn trigger(&mut self) -> Trigger {
        match self.below(5) {
            0 => Trigger::Calls(self.number()),
            1 => Trigger::Every(self.duration()),
            2 => Trigger::Created(self.string()),
            3 => Trigger::Denied(self.some(Self::tool_set)),
            _ => Trigger::When(self.expr(3)),
        }
    }

    fn block(&mut self) -> FeedbackBlock {
        let condition = match self.below(3) {
            0 => BlockCondition::Always,
            1 => BlockCondition::Guard(self.guard()),
            _ => BlockCondition::Otherwise,
        };
        FeedbackBlock {
            severity: ident(self.of(&["info", "caution", "warning"])),
            condition,
            message: self.template(),
            notes: self.many(0, 2, |g| Note { suggest: g.coin(), text: g.template() }),
            span: here(),
        }
    }

    fn items_clause(&mut self) -> ItemsClause {
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

    fn whole(&mut self) -> Option<Whole> {
        match self.below(4) {
            0 => Some(Whole::Value(self.ty(2, true))),
            1 => Some(Whole::Items(self.items_clause(), here())),
            _ => None,
        }
    }

    fn contract_clause(&mut self) -> ContractClause {
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

    fn invariant(&mut self) -> Invariant {
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

    fn property(&mut self) -> Property {
        let modes = [PropertyMode::Claimed, PropertyMode::Monitor, PropertyMode::Proved];
        let (mode, of_all) = (modes[self.below(3)], self.coin());
        let name = self.plain();
        let all = ToolSet { members: vec![Member::All(here())], bare: true, span: here() };
        let tools = if of_all { all } else { self.tool_set() };
        let except = if of_all { None } else { self.some(Self::tool_set) };
        let clauses = self.many(0, 4, Self::clause);
        Property { mode, of_all, policy: Policy { name, tools, except, shadow: false, clauses } }
    }

    fn item_kind(&mut self) -> ItemKind {
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
                let variant = |g: &mut Self| match g.coin() {
                    true => Variant { name: g.string(), quoted: true },
                    false => Variant { name: g.name(), quoted: false },
                };
                ItemKind::Enum(Enum { name: self.plain(), variants: self.many(0, 4, variant) })
            }
            3 => ItemKind::Record(Record {
                name: self.plain(),
                fields: self.many(0, 3, Self::field),
            }),
            4 if self.coin() => ItemKind::Union(Union {
                name: self.plain(),
                tag: self.plain(),
                wire: self.some(Self::string),
                cases: self.many(0, 3, |g| Case { record: g.plain(), wire: g.some(Self::string) }),
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
            15 => ItemKind::Fact(Fact {
                name: self.plain(),
                columns: self.many(0, 3, Self::field),
                max: self.some(Self::number),
            }),
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
            _ => ItemKind::Test(Test { title: self.string(), steps: self.many(0, 5, Self::step) }),
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
        let items = self.many(1, 5, |g| Item { docs: g.docs(), kind: g.item_kind(), span: here() });
        File { docs, header: Some(header), items }
    }
}
