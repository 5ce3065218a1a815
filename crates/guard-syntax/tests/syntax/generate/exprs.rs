//! Expressions, templates and types.

use super::*;

impl Choices<'_> {
    pub(super) fn boxed(&mut self, depth: usize) -> Box<Expr> {
        Box::new(self.expr(depth))
    }

    pub(super) fn expr_kind(&mut self, depth: usize) -> ExprKind {
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

    pub(super) fn atom(&mut self) -> ExprKind {
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

    pub(super) fn binary(&mut self, d: usize) -> ExprKind {
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

    pub(super) fn unary(&mut self, d: usize) -> ExprKind {
        let all =
            [UnaryOp::Not, UnaryOp::Neg, UnaryOp::Once, UnaryOp::Historically, UnaryOp::Previous];
        ExprKind::Unary(all[self.below(all.len())], self.boxed(d))
    }

    pub(super) fn quantified(&mut self, d: usize) -> ExprKind {
        let all = [
            Quantifier::All,
            Quantifier::Any,
            Quantifier::First,
            Quantifier::Count,
            Quantifier::Sum,
        ];
        let op = all[self.below(all.len())];
        ExprKind::Quantified {
            op,
            binders: self.many(1, 2, Self::name),
            over: self.boxed(d),
            body: self.boxed(d),
        }
    }

    pub(super) fn args(&mut self, d: usize) -> Vec<Arg> {
        self.many(0, 2, |g| Arg { name: g.some(Self::name), value: g.expr(d) })
    }

    pub(super) fn template(&mut self) -> Template {
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

    pub(super) fn ty(&mut self, depth: usize, max: bool) -> Type {
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

    pub(super) fn refinement(&mut self, max: bool) -> Refinement {
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
}
