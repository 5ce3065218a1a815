//! Tests that loading is the inverse of encoding, and never panics.

use super::full_plan::{loaded, plan, sources};
use guard_plan::plan::{Plan, Sources};
use guard_plan::{LoadError, LoadedPlan, encode, load};
use proptest::prelude::*;

#[test]
fn loading_undoes_encoding() {
    let loaded = loaded();
    assert_eq!(load(&loaded.to_bytes()).as_ref(), Ok(&loaded));
    assert_eq!(load(loaded.to_json().as_bytes()).as_ref(), Ok(&loaded));
    assert_eq!(loaded.span_text(0).as_deref(), Some("a.guard:2:3"));
    assert_eq!(loaded.span_text(9), None);
    let moved = LoadedPlan::from_plan(plan(), Sources::default()).unwrap();
    assert_eq!(moved.hash(), loaded.hash());
}

#[test]
fn damage_is_named() {
    let loaded = loaded();
    assert_eq!(load(b"hello"), Err(LoadError::UnknownForm));
    let mut bytes = loaded.to_bytes();
    bytes[10] = 255;
    assert_eq!(load(&bytes), Err(LoadError::Version(255)));
    let mut bytes = loaded.to_bytes();
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(load(&bytes), Err(LoadError::Checksum));
    let json = loaded.to_json();
    let other = json.replace("\"keeps_args\": false", "\"keeps_args\": true");
    assert_eq!(load(other.as_bytes()), Err(LoadError::Hash));
    let ours = encode::FORMAT_VERSION;
    let next = encode::FORMAT_VERSION + 1;
    let future = json.replace(&format!("\"version\": {ours}"), &format!("\"version\": {next}"));
    assert_eq!(load(future.as_bytes()), Err(LoadError::Version(next)));
}

/// Combines a mutated body with a valid header, so that more than the checksum is tested.
fn resealed(mut bytes: Vec<u8>, at: usize, by: u8) -> Vec<u8> {
    const HEADER: usize = 78;
    let place = HEADER + at % (bytes.len() - HEADER);
    bytes[place] ^= by;
    let (head, body) = bytes.split_at(HEADER);
    encode::seal(body, head[14..46].try_into().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn mutated_binaries_are_survived(at in any::<usize>(), by in 1..=255_u8) {
        prop_assert!(load(&resealed(loaded().to_bytes(), at, by)).is_err_or_same());
    }

    #[test]
    fn mutated_json_is_survived(at in any::<usize>(), by in prop::sample::select(b"0129-\"{}[],:tn".to_vec())) {
        let mut bytes = loaded().to_json().into_bytes();
        let at = at % bytes.len();
        bytes[at] = by;
        prop_assert!(load(&bytes).is_err_or_same());
    }

    #[test]
    fn mutated_plans_are_survived(at in any::<usize>(), number in prop::sample::select(vec!["0", "1", "7", "65536", "-1"])) {
        // One number of the plan is changed, and the hash is recomputed.
        let json = serde_json::to_string(&plan()).unwrap();
        let digits: Vec<usize> = json.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(i, _)| i).collect();
        let place = digits[at % digits.len()];
        let text = format!("{}{number}{}", &json[..place], &json[place + 1..]);
        if let Ok(plan) = serde_json::from_str::<Plan>(&text) {
            let _ = LoadedPlan::from_plan(plan, sources());
        }
    }
}

trait Survived {
    fn is_err_or_same(&self) -> bool;
}

impl Survived for Result<LoadedPlan, LoadError> {
    fn is_err_or_same(&self) -> bool {
        self.as_ref().map_or(true, |other| other.plan() == &plan())
    }
}
