//! Tests of documents that are read and may not be `valid`, because something may be lost or not
//! meant.

use super::build::*;
use guard_plan::plan::TypeDef;
use guard_plan::report::State;

/// A contract without lists: `{title, a: int?, data: json?}`.
fn plain() -> Builder {
    let mut b = Builder::new();
    let a = b.ty(TypeDef::Option { of: INT });
    let data = b.ty(TypeDef::Option { of: JSON });
    let fields = vec![field("title", STRING), field("a", a), field("data", data)];
    let record = b.record("contract Plain", fields);
    b.contract().record = record;
    b
}

#[test]
fn many_harmless_repairs_hide_no_other() {
    let checker = plain().checker();
    for harmless in ["\u{a0}", "/*x*/"] {
        let many = harmless.repeat(1001);
        for (rest, more) in [("\"a\nb\"", 1), ("\"it\\'s\"", 1), ("\"t\",,", 2)] {
            let report = check(&checker, &format!("{{\"a\":1,{many}\"title\":{rest}}}"));
            assert_eq!(report.state, State::Partial, "{rest}");
            assert_eq!((report.repairs.len(), report.repairs_count), (1000, 1001 + more), "{rest}");
        }
    }
}
