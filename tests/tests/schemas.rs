//! The published schemas: current, valid, and true of what is written.
//!
//! Those of plans, verdicts, records, checkpoints and proofs are made from their types; `GUARD_BLESS=1` writes them. The sidecar's is
//! written by hand, and held against every line of the CLI case `serve`.

use guard_compiler::{Loader, SourceFile, compile};
use guard_plan::random::Rng;
use guard_plan::record::{Chain, Kind, Record};
use guard_plan::{LoadedPlan, schema};
use guard_tests::generate;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page(name: &str) -> PathBuf {
    root().join(format!("docs/reference/{name}.schema.json"))
}

fn committed(name: &str) -> Value {
    let text = std::fs::read_to_string(page(name)).expect("the schema is there");
    serde_json::from_str(&text).expect("a schema is JSON")
}

fn validator(name: &str) -> Validator {
    jsonschema::validator_for(&committed(name)).expect("the schema compiles")
}

#[track_caller]
fn holds(validator: &Validator, instance: &Value, what: &str) {
    let errors: Vec<String> = validator
        .iter_errors(instance)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{what}: {}\n{instance}", errors.join("\n"));
}

/// Returns the schemas that are generated from types, with their names.
fn all() -> impl Iterator<Item = (&'static str, Value)> {
    // Of checkpoints, and of the messages between the conformance kit and an adapter.
    let others = guard_trace::checkpoint::schemas();
    schema::schemas().into_iter().chain(others).chain([("ack", guard_ack::schema())])
}

#[test]
fn the_committed_schemas_are_current() {
    for (name, schema) in all() {
        let text = format!("{schema:#}\n");
        if std::env::var_os("GUARD_BLESS").is_some() {
            std::fs::write(page(name), &text).expect("the reference is writable");
        }
        let found = std::fs::read_to_string(page(name)).unwrap_or_default();
        assert_eq!(found, text, "GUARD_BLESS=1 writes docs/reference/{name}.schema.json");
    }
}

#[test]
fn schemas_are_valid() {
    let names = all().map(|(name, _)| name).chain(["sidecar"]);
    for name in names {
        let schema = committed(name);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        if let Err(error) = jsonschema::meta::validate(&schema) {
            panic!("{name}: {error}");
        }
    }
}

struct FromSpecs;

impl Loader for FromSpecs {
    fn load(&mut self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(root().join("specs").join(path)).map_err(|e| e.to_string())
    }
}

/// The JSON form of a guard's plan; none where it does not compile.
fn plan(path: &str, text: String) -> Option<Value> {
    let output = compile(SourceFile { path: path.into(), text }, &mut FromSpecs).output?;
    let plan = LoadedPlan::from_plan(output.plan, output.sources).expect("what compiles loads");
    Some(serde_json::from_str(&plan.to_json()).expect("the JSON form is JSON"))
}

#[test]
fn plans_are_as_their_schema_says() {
    let schema = validator("plan");
    let mut examples = 0;
    for entry in std::fs::read_dir(root().join("specs/examples")).expect("the examples").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(entry.path()).expect("an example");
        let plan = plan(&format!("examples/{name}"), text).expect("an example compiles");
        holds(&schema, &plan, &name);
        examples += 1;
    }
    assert!(examples >= 5, "only {examples} examples");
    let drawn = |seed| plan("g.guard", generate::guard(&mut Rng::new(seed)).text());
    let plans: Vec<Value> = (0..).filter_map(drawn).take(50).collect();
    plans.iter().for_each(|plan| holds(&schema, plan, "a generated guard"));

    let mut strange = plans[0].clone();
    strange["plan"]["tools"][0]["risk"] = json!("harmless");
    assert!(!schema.is_valid(&strange));
    strange = plans[0].clone();
    strange["plan"]["more"] = json!(1);
    assert!(!schema.is_valid(&strange));
}

/// The definitions of the sidecar's schema, each as a schema of its own.
fn definitions() -> BTreeMap<String, Validator> {
    let schema = committed("sidecar");
    let one = |name: &String| {
        let alone = json!({
            "$schema": schema["$schema"],
            "$defs": schema["$defs"],
            "$ref": format!("#/$defs/{name}"),
        });
        (name.clone(), jsonschema::validator_for(&alone).expect("a definition compiles"))
    };
    schema["$defs"].as_object().expect("definitions").keys().map(one).collect()
}

/// Every request of the CLI case with its answer. A line that is no JSON is null.
fn conversations() -> Vec<(Value, Value)> {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/cli");
    let out = std::fs::read_to_string(suite.join("serve.out")).expect("the case was run");
    let mut pairs = Vec::new();
    for run in out.split("$ guardc serve ").skip(1) {
        let (input, printed) = run.split_once('\n').expect("a command");
        let (_, input) = input.split_once("< ").expect("requests");
        let requests = std::fs::read_to_string(suite.join(input)).expect("requests");
        let requests = requests.lines().filter(|line| !line.trim().is_empty());
        let requests = requests.map(|line| serde_json::from_str(line).unwrap_or(Value::Null));
        let waits = |request: &Value| !request.is_object() || request.get("id").is_some();
        let answers = printed.lines().filter(|line| line.starts_with('{'));
        let answers = answers.map(|line| serde_json::from_str(line).expect("an answer is JSON"));
        let requests: Vec<Value> = requests.filter(waits).collect();
        let answers: Vec<Value> = answers.collect();
        assert_eq!(requests.len(), answers.len(), "{input}");
        pairs.extend(requests.into_iter().zip(answers));
    }
    pairs
}

#[test]
fn the_sidecar_speaks_as_its_schema_says() {
    let definitions = definitions();
    let records = validator("record");
    let mut answered = BTreeSet::new();
    let mut errors = BTreeSet::new();
    for (request, answer) in conversations() {
        holds(&definitions["response"], &answer, "an answer");
        // Only results may be what no other reader of JSON takes.
        if request.is_null() && answer.get("result").is_some() {
            continue;
        }
        let method = request["method"].as_str().unwrap_or_default().to_owned();
        let params = definitions.get(&format!("{method}.params"));
        if let Some(result) = answer.get("result") {
            holds(&definitions["request"], &request, "a request");
            holds(params.expect("a method"), &request["params"], &method);
            holds(&definitions[&format!("{method}.result")], result, &method);
            for record in result["records"].as_array().into_iter().flatten() {
                holds(&records, record, "a record");
            }
            answered.insert(format!("{method}.result"));
            continue;
        }
        // Whatever is refused as malformed is so by the schema too, and nothing else is.
        let malformed = answer["error"]["code"] != json!(-32000);
        assert_eq!(definitions["request"].is_valid(&request), !malformed, "{request}\n{answer}");
        errors.insert(answer["error"]["data"]["code"].as_str().expect("a code").to_owned());
    }
    let results = definitions.keys().filter(|name| name.ends_with(".result"));
    let quiet: Vec<&String> = results.filter(|name| !answered.contains(*name)).collect();
    assert!(quiet.is_empty(), "never answered: {quiet:?}");
    assert!(errors.len() >= 18, "only these errors: {errors:?}");
}

/// The records of the traces among the inputs of the CLI cases, those of the answers of the sidecar, and one of each kind
/// that neither has.
fn records() -> Vec<Value> {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/cli/inputs");
    let mut records = Vec::new();
    for trace in ["traces/sound/s1", "traces/sound/s2", "traces/forked/s1", "traces/cut/s1"] {
        let text = std::fs::read_to_string(inputs.join(format!("{trace}.jsonl"))).expect("a trace");
        records.extend(text.lines().map(|line| serde_json::from_str(line).expect("a record")));
    }
    for (_, answer) in conversations() {
        records.extend(answer["result"]["records"].as_array().into_iter().flatten().cloned());
    }
    let mut chain = Chain::default();
    let mut add = |kind, payload: Value| {
        let line = chain.append(0, kind, None, payload.to_string().as_str());
        let mut line: Value = serde_json::from_slice(line).expect("a record");
        // A text is written as a JSON string.
        line["payload"] = payload;
        records.push(line);
    };
    add(Kind::Revoke, json!({"tool": "pay", "args": {}, "role": "boss", "by": "kim"}));
    let judged = json!({"contract": "R", "bytes": 2, "sha256": "ab", "state": "lost", "kept": 0, "quarantined": 0});
    add(Kind::Contract, judged);
    let snapshot = json!({"plan": "sha256:ab", "guard": "g", "session": "s", "start": "1970-01-01T00:00:00Z",
        "workspace": "/workspace", "form": 1, "memory": "AA=="});
    add(Kind::Snapshot, snapshot);
    add(Kind::Ledger, json!({"entry": "begun", "session": "s", "record": 0}));
    records
}

#[test]
fn records_are_as_their_schema_says() {
    let schema = validator("record");
    let records = records();
    let mut kinds = BTreeSet::new();
    for record in &records {
        // What the schema takes, the reader takes too.
        Record::parse(&record.to_string()).expect("a record");
        holds(&schema, record, "a record");
        kinds.insert(record["kind"].as_str().expect("a kind").to_owned());
    }
    let published = committed("record");
    let published = published["oneOf"].as_array().expect("a branch for each kind");
    let all = published.iter().map(|branch| branch["properties"]["kind"]["const"].as_str());
    let all: BTreeSet<String> = all.map(|kind| kind.expect("a kind").to_owned()).collect();
    assert_eq!(kinds, all, "every kind is among the records");
}

#[test]
fn records_of_another_form_are_refused_by_their_schema() {
    let schema = validator("record");
    let refuses =
        |record: &Value, what: &str| assert!(!schema.is_valid(record), "{what}: {record}");
    for record in records() {
        let mut other = record.clone();
        other["kind"] = json!("other");
        refuses(&other, "an unknown kind");
        // No two kinds have the same payload.
        other["kind"] = json!(if record["kind"] == "open" { "settle" } else { "open" });
        refuses(&other, "the payload of another kind");
        for at in ["", "/payload"] {
            let mut more = record.clone();
            more.pointer_mut(at).expect("it has one")["more"] = json!(1);
            refuses(&more, "an unknown member");
        }
        for name in ["seq", "time", "kind", "payload", "prev", "hash"] {
            let mut less = record.clone();
            less.as_object_mut().expect("an object").remove(name);
            refuses(&less, "a missing member");
        }
        let mut less = record.clone();
        less["payload"] = json!({});
        refuses(&less, "an empty payload");
    }
}

/// The output of `guardc replay --format json` conforms to the schema of its report.
#[test]
fn a_report_of_a_replay_is_as_its_schema_says() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("suite/cli");
    let out = std::fs::read_to_string(suite.join("replay.out")).expect("the case was run");
    let mut reports = 0;
    for command in out.split("\n$ ").filter(|command| command.contains("--format json")) {
        let (_, printed) = command.split_once("[stdout]\n").expect("it prints");
        let (report, _) = printed.split_once("\n[exit").expect("it exits");
        let report: Value = serde_json::from_str(report).expect("the report is JSON");
        holds(&validator("replay-report"), &report, "a replay");
        reports += 1;
    }
    assert_eq!(reports, 1);
}
