//! CEL: an expression language; which program a call needs, and what has happened, are the host's to know.

use crate::{Call, Engine, Login, NOW, most};
use cel::{Context, Program, Value};
use std::collections::HashMap;

/// One rule a tool: a program each, found by the tool's name.
pub fn rules(calls: Vec<Call>, rules: usize) -> Engine<'static> {
    let program = |tool: usize| {
        let most = most(tool);
        let text = format!(r#"!(env == "staging" && count > {most})"#);
        (format!("tool_{tool}"), Program::compile(&text).expect("a program"))
    };
    let programs: HashMap<String, Program> = (0..rules).map(program).collect();
    let request = |call: &Call| {
        let mut context = Context::default();
        context.add_variable_from_value("env", call.env);
        context.add_variable_from_value("count", call.count);
        (format!("tool_{}", call.tool), context)
    };
    let requests: Vec<(String, Context<'static, 'static>)> = calls.iter().map(request).collect();
    Box::new(move |n| {
        let (tool, context) = &requests[n];
        programs[tool].execute(context) == Ok(Value::Bool(true))
    })
}

/// A read by who has logged in within an hour; the history is a list.
pub fn history(logins: Vec<Login>, readers: Vec<String>) -> Engine<'static> {
    let program = Program::compile(
        r#"history.exists(c, c.tool == "login" && c.user == user && now - c.at <= 3600)"#,
    );
    let program = program.expect("a program");
    let entry = |login: &Login| {
        Value::from(HashMap::from([
            ("tool".to_owned(), Value::from("login")),
            ("user".to_owned(), Value::from(login.user.as_str())),
            ("at".to_owned(), Value::from(login.at)),
        ]))
    };
    let mut context = Context::default();
    context.add_variable_from_value("history", logins.iter().map(entry).collect::<Vec<Value>>());
    context.add_variable_from_value("now", NOW);
    Box::new(move |n| {
        let mut inner = context.new_inner_scope();
        inner.add_variable_from_value("user", readers[n].as_str());
        program.execute(&inner) == Ok(Value::Bool(true))
    })
}
