//! Contracts with unions, coercions, cut items, and documents that are not objects.

use super::build::*;
use guard_plan::plan::*;

/// Returns a contract with `items steps: Run | Ask by kind partial ok`, where `n` of a run is
/// accepted as a string.
pub fn steps() -> Builder {
    let mut b = Builder::new();
    let (item, coerced) = union(&mut b);
    let steps = b.ty(TypeDef::List { of: item, max: None });
    let flag = b.ty(TypeDef::Bool);
    let flag = b.ty(TypeDef::Option { of: flag });
    let record = b.record("contract Steps", vec![field("all steps", steps), field("urgent", flag)]);
    let contract = b.contract();
    contract.name = "Steps".into();
    contract.record = record;
    contract.lists = vec![ItemList { partial: true, ..list(0, "all steps", item, None, None) }];
    b.plan.coercions = vec![coerced, from_string(record)];
    b
}

/// `Run { command, n? } | Ask { question, tags? }`.
fn union(b: &mut Builder) -> (TypeId, Coercion) {
    let number = b.ty(TypeDef::Option { of: INT });
    let run = b.record("Run", vec![field("command", STRING), field("n", number)]);
    let tags = b.ty(TypeDef::List { of: STRING, max: None });
    let tags = b.ty(TypeDef::Option { of: tags });
    let ask = b.record("Ask", vec![field("question", STRING), field("tags", tags)]);
    let case = |tag: &str, ty| UnionCase { tag: tag.into(), ty };
    let cases = vec![case("run", run), case("ask", ask)];
    let item = b.ty(TypeDef::Union { name: "Step".into(), tag: "kind".into(), cases });
    (item, from_string(run))
}

/// Returns the coercion of the second field of a record from a string.
fn from_string(record: TypeId) -> Coercion {
    let forms = TakenForms { from: Some(CoercedForm::String), ..TakenForms::OWN };
    Coercion { record, field: 1, forms }
}

/// Returns a contract whose whole document is a list of acts, `{action, target, n?}`.
pub fn listed() -> Builder {
    let mut b = Builder::new();
    let act = b.act("n", INT);
    let acts = b.ty(TypeDef::List { of: act, max: None });
    let record = b.record("contract Listed", vec![field("items", acts)]);
    let contract = b.contract();
    contract.name = "Listed".into();
    contract.root = Root::Items;
    contract.record = record;
    contract.lists = vec![list(0, "items", act, None, None)];
    b
}

/// Returns a contract whose whole document is one value.
fn value(name: &str, ty: impl FnOnce(&mut Builder) -> TypeId) -> Builder {
    let mut b = Builder::new();
    let ty = ty(&mut b);
    let record = b.record("contract", vec![field("value", ty)]);
    let contract = b.contract();
    contract.name = name.into();
    contract.root = Root::Value;
    contract.record = record;
    b
}

/// Returns a contract whose whole document is an int up to 1,000.
pub fn score() -> Builder {
    value("Score", |b| b.ty(TypeDef::Int { min: Some(0), max: Some(1000) }))
}

/// Returns a contract whose whole document is a text.
pub fn word() -> Builder {
    value("Word", |_| STRING)
}

/// Returns a contract whose whole document is a list of ints.
pub fn numbers() -> Builder {
    value("Numbers", |b| b.ty(TypeDef::List { of: INT, max: Some(3) }))
}

/// Returns a contract whose whole document is a step.
pub fn step() -> Builder {
    let mut coerced = None;
    let mut b = value("Step", |b| {
        let (item, one) = union(b);
        coerced = Some(one);
        item
    });
    b.plan.coercions.extend(coerced);
    b
}
