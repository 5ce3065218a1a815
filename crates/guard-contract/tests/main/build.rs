//! A small builder of contracts, because the compiler is not available here, and checks of reports.

use guard_contract::{Checker, Input, Known};
use guard_plan::json::Json;
use guard_plan::plan::*;
use guard_plan::report::{Extent, QuarantineReason, Report, SpanKind};

pub const INT: TypeId = 0;
pub const STRING: TypeId = 1;
pub const JSON: TypeId = 2;

/// A plan of types and one contract.
pub struct Builder {
    pub plan: Plan,
}

pub fn field(name: &str, ty: TypeId) -> Field {
    Field { name: name.into(), ty, secret: false, doc: String::new() }
}

impl Builder {
    pub fn new() -> Builder {
        let types = vec![
            TypeDef::Int { min: None, max: None },
            TypeDef::String { max_chars: None, max_bytes: None, patterns: vec![] },
            TypeDef::Json,
        ];
        let contract = Contract {
            name: "Report".into(),
            doc: String::new(),
            span: 0,
            root: Root::Envelope,
            record: 0,
            lists: vec![],
            bounds: Bounds { depth: 8, string: 4000, bytes: 1 << 20, quarantine: 20 },
            references: vec![],
        };
        let plan = Plan { edition: 1, guard: "test".into(), types, ..Plan::default() };
        Builder { plan: Plan { contracts: vec![contract], ..plan } }
    }

    pub fn ty(&mut self, def: TypeDef) -> TypeId {
        self.plan.types.push(def);
        self.plan.types.len() as TypeId - 1
    }

    pub fn record(&mut self, name: &str, fields: Vec<Field>) -> TypeId {
        self.ty(TypeDef::Record { name: name.into(), fields })
    }

    /// `{action, target, evidence?}` and one more optional member.
    pub fn act(&mut self, more: &str, ty: TypeId) -> TypeId {
        let more = field(more, self.ty(TypeDef::Option { of: ty }));
        let any = self.ty(TypeDef::Option { of: JSON });
        let action = field("action", STRING);
        let target = field("target", STRING);
        self.record("Act", vec![action, target, more, field("evidence", any)])
    }

    pub fn contract(&mut self) -> &mut Contract {
        &mut self.plan.contracts[0]
    }

    pub fn checker(&self) -> Checker {
        Checker::new(&self.plan, 0).expect("it can be made ready")
    }
}

pub fn list(field: u32, name: &str, ty: TypeId, max: Option<u64>, by: Option<&str>) -> ItemList {
    let shape = ItemShape::Type(ty);
    ItemList {
        within: None,
        field,
        name: name.into(),
        shape,
        max,
        by: by.map(String::from),
        partial: false,
    }
}

/// Returns the triage report: a summary, and at most seven recommendations by rank.
pub fn triage() -> Builder {
    let mut b = Builder::new();
    let score = b.ty(TypeDef::Int { min: Some(1), max: Some(10) });
    let wsjf = b.record("Wsjf", vec![field("value", score), field("size", score)]);
    let scored = b.ty(TypeDef::Option { of: wsjf });
    let tags = b.ty(TypeDef::List { of: STRING, max: None });
    let tagged = b.ty(TypeDef::Option { of: tags });
    let variants = ["start", "continue", "pause", "close"].map(String::from).to_vec();
    let action = b.ty(TypeDef::Enum { name: "Action".into(), variants });
    let notes = b.ty(TypeDef::Option { of: JSON });
    let item = b.record(
        "Recommendation",
        vec![
            field("rank", INT),
            field("candidate", STRING),
            field("action", action),
            field("why", STRING),
            field("wsjf", scored),
            field("tags", tagged),
        ],
    );
    let items = b.ty(TypeDef::List { of: item, max: None });
    let fields =
        vec![field("summary", STRING), field("recommendations", items), field("notes", notes)];
    let record = b.record("contract TriageReport", fields);
    let contract = b.contract();
    contract.name = "TriageReport".into();
    contract.record = record;
    contract.lists.push(list(1, "recommendations", item, Some(7), Some("rank")));
    contract.references.push(Reference {
        list: Some(0),
        path: vec!["candidate".into()],
        allowed: Allowed::Given("known_candidates".into()),
        text: "recommendations.candidate in known_candidates".into(),
        span: 0,
    });
    b
}

/// Returns an item of the triage report.
pub fn unit(rank: i64) -> String {
    let value = rank.rem_euclid(9) + 1;
    format!(
        r#"{{"rank": {rank}, "candidate": "c{rank}", "action": "start", "why": "because {rank}", "wsjf": {{"value": {value}, "size": 2}}}}"#
    )
}

/// Returns a whole report of these items.
pub fn document(items: &[String]) -> String {
    format!("{{\"summary\": \"all well\", \"recommendations\": [\n  {}\n]}}", items.join(",\n  "))
}

/// A `Known` with these candidates only, or without a list.
pub struct Candidates<'a>(pub Option<&'a [&'a str]>);

impl Known for Candidates<'_> {
    fn fact(&self, _: FactId, _: &Json) -> Option<bool> {
        None
    }

    fn given(&self, _: &str, value: &Json) -> Option<bool> {
        self.0.map(|known| value.as_str().is_some_and(|value| known.contains(&value)))
    }

    fn value(&self, _: usize, _: &Json) -> Option<bool> {
        None
    }
}

/// A `Known` for which every value is known.
pub struct AllKnown;

impl Known for AllKnown {
    fn fact(&self, _: FactId, _: &Json) -> Option<bool> {
        Some(true)
    }

    fn given(&self, _: &str, _: &Json) -> Option<bool> {
        Some(true)
    }

    fn value(&self, _: usize, _: &Json) -> Option<bool> {
        Some(true)
    }
}

/// Returns an input for which every value is known.
pub fn all_known() -> Input<'static> {
    Input { known: &AllKnown, ..Input::none() }
}

/// Checks a text as a whole, and in pieces of several sizes, which must give the same report.
pub fn check(checker: &Checker, text: &str) -> Report {
    check_with(checker, text.as_bytes(), &all_known())
}

pub fn check_with(checker: &Checker, text: &[u8], input: &Input<'_>) -> Report {
    let whole = checker.check(text, input);
    for size in [1, 3, 7, 64, 1000] {
        let mut feed = checker.feed();
        let mut given = Vec::new();
        for piece in text.chunks(size) {
            given.extend(feed.push(piece, input));
        }
        let report = feed.finish(input);
        assert_eq!(report, whole, "in pieces of {size}:\n{}", String::from_utf8_lossy(text));
    }
    covers(&whole, text.len());
    whole
}

/// Checks that the spans cover the whole text, in order, without overlap, and that items and units
/// are within their spans.
pub fn covers(report: &Report, length: usize) {
    let mut at = 0;
    for span in &report.spans {
        assert_eq!(span.at.start, at, "{:?}", report.spans);
        assert!(span.at.end > at, "{:?}", report.spans);
        at = span.at.end;
    }
    assert_eq!(at, length as u64, "{:?}", report.spans);
    for item in report.items.values().flatten() {
        // The quotes of a document that is one JSON string belong to the adjacent spans.
        let holds = |at: Extent| at.start <= item.at.start && item.at.end <= at.end;
        let span = report.spans.iter().find(|span| holds(span.at));
        assert_eq!(span.map(|span| span.kind), Some(SpanKind::Item), "{:?}", report.spans);
    }
}

/// Returns the ranks of the valid recommendations.
pub fn ranks(report: &Report) -> Vec<i64> {
    let items = report.items.get("recommendations").map_or(&[][..], Vec::as_slice);
    items
        .iter()
        .filter_map(|item| match item.value.get("rank") {
            Some(Json::Int(rank)) => Some(*rank),
            _ => None,
        })
        .collect()
}

/// Returns the reason why each quarantined unit is not valid, with the unit's index.
pub fn reasons(report: &Report) -> Vec<(u64, QuarantineReason)> {
    report.quarantined.iter().map(|unit| (unit.index, unit.reason)).collect()
}
