//! Rego, as regorus carries it out: compiled for its virtual machine, which is used again and again.

use crate::{Call, Engine, Login, NOW, most};
use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::vm::RegoVM;
use regorus::{Rc, Value};

fn machine(policy: &str, data: Option<&str>) -> RegoVM {
    let mut engine = regorus::Engine::new();
    engine.add_policy("peers.rego".into(), policy.into()).expect("a policy");
    let entry: Rc<str> = "data.peers.allow".into();
    let compiled = engine.compile_with_entrypoint(&entry).expect("it compiles");
    let program = Compiler::compile_from_policy(&compiled, &["data.peers.allow"]);
    let mut vm = RegoVM::new();
    vm.set_max_instructions(usize::MAX);
    vm.load_program(program.expect("a program"));
    if let Some(data) = data {
        vm.set_data(Value::from_json_str(data).expect("JSON")).expect("data");
    }
    vm
}

fn decide(mut vm: RegoVM, inputs: Vec<Value>) -> Engine<'static> {
    Box::new(move |n| {
        vm.set_input(inputs[n].clone());
        vm.execute().expect("a value") == Value::from(true)
    })
}

/// One rule a tool.
pub fn rules(calls: Vec<Call>, rules: usize) -> Engine<'static> {
    let mut text = String::from(
        "package peers\nimport rego.v1\ndefault allow := false\nallow if not deny\n",
    );
    for tool in 0..rules {
        let most = most(tool);
        text.push_str(&format!(
            "deny if {{ input.tool == \"tool_{tool}\"; input.env == \"staging\"; input.count > {most} }}\n"
        ));
    }
    let input = |call: &Call| {
        let tool = call.tool;
        let env = call.env;
        let count = call.count;
        let text = format!(r#"{{"tool": "tool_{tool}", "env": "{env}", "count": {count}}}"#);
        Value::from_json_str(&text).expect("JSON")
    };
    decide(machine(&text, None), calls.iter().map(input).collect())
}

/// A read by who has logged in within an hour; the history is data.
pub fn history(logins: Vec<Login>, readers: Vec<String>) -> Engine<'static> {
    let text = "package peers\nimport rego.v1\ndefault allow := false\nallow if {\n  some c in data.history\n  c.tool == \"login\"\n  c.user == input.user\n  input.now - c.at <= 3600\n}\n";
    let entry =
        |one: &Login| serde_json::json!({"tool": "login", "user": one.user, "at": one.at});
    let entries: Vec<serde_json::Value> = logins.iter().map(entry).collect();
    let data = serde_json::json!({ "history": entries }).to_string();
    let input = |user: &String| {
        let text = serde_json::json!({"user": user, "now": NOW}).to_string();
        Value::from_json_str(&text).expect("JSON")
    };
    decide(machine(text, Some(&data)), readers.iter().map(input).collect())
}
