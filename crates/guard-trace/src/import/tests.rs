//! Logs of each format, and invalid logs.

use super::*;
use guard_plan::record::Payload;

/// Formats the import of a log: a line for each record, and the skipped lines.
fn told(form: Option<Form>, log: &str) -> String {
    let mut importer = Importer::new(form, "log", "s");
    let mut out = String::new();
    let mut give = |session: &str, record: Record| {
        let call = record.call.clone().unwrap_or_default();
        let what = match &record.payload {
            Payload::Open(open) => format!("open {}", open.workspace),
            Payload::Propose(it) => {
                format!("{call} {}{} {:?}", it.tool, it.args, it.verdict.decision)
            }
            Payload::Settle(it) => format!("{call} {} {}", it.success, it.result),
            Payload::Prompt(it) => format!("prompt {}", it.text),
            other => format!("{other:?}"),
        };
        out += &format!("{session} {} {what}\n", &record.time[11..]);
    };
    for (number, line) in (1..).zip(log.lines()) {
        importer.line(number, line.as_bytes(), &mut give);
    }
    importer.end();
    for one in importer.passed_over() {
        out += &format!("passed over {} from {}: {}\n", one.lines, one.first, one.why);
    }
    out
}

#[track_caller]
fn check(form: Form, log: &str, expected: &str) {
    assert_eq!(told(None, log), expected);
    assert_eq!(told(Some(form), log), expected);
}

#[test]
fn claude_code() {
    check(
        Form::ClaudeCode,
        r#"{"type":"user","sessionId":"a","cwd":"/w","timestamp":"2026-01-05T09:00:00.000Z","message":{"role":"user","content":"Fix it"}}
{"type":"assistant","sessionId":"a","timestamp":"2026-01-05T09:00:01Z","message":{"role":"assistant","content":[{"type":"text","text":"Yes"},{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/w/a"}}]}}
{"type":"user","sessionId":"a","timestamp":"2026-01-05T09:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"hello"}]}]}}
{"type":"assistant","sessionId":"a","timestamp":"2026-01-05T09:00:03Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"rm"}}]}}
{"type":"user","sessionId":"a","timestamp":"2026-01-05T09:00:04Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"no"}]}}
{"type":"system","sessionId":"a","content":"compacted"}"#,
        "a 09:00:00Z open /w\n\
         a 09:00:00Z prompt Fix it\n\
         a 09:00:01Z t1 Read{\"file_path\":\"/w/a\"} Allow\n\
         a 09:00:02Z t1 true \"hello\"\n\
         a 09:00:03Z t2 Bash{\"command\":\"rm\"} Allow\n\
         a 09:00:04Z t2 false null\n\
         passed over 1 from 6: a line of type `system` holds no calls\n",
    );
}

#[test]
fn openai() {
    check(
        Form::OpenAi,
        r#"{"messages":[{"role":"system","content":"x"},{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"pay","arguments":"{\"n\": 1.50}"}}]},{"role":"tool","tool_call_id":"c1","content":"{\"ok\":true}"}]}"#,
        "s-1 00:00:00Z open /workspace\n\
         s-1 00:00:00Z prompt Hi\n\
         s-1 00:00:01Z c1 pay{\"n\":1.50} Allow\n\
         s-1 00:00:02Z c1 true {\"ok\":true}\n",
    );
    check(
        Form::OpenAi,
        r#"{"type":"function_call","call_id":"c1","name":"pay","arguments":"{"}
{"type":"reasoning","summary":[]}
{"type":"function_call_output","call_id":"c1","output":"done"}
{"type":"function_call_output","call_id":"c9","output":"done"}"#,
        "s 00:00:00Z open /workspace\n\
         s 00:00:00Z c1 pay\"{\" Allow\n\
         s 00:00:01Z c1 true \"done\"\n\
         passed over 1 from 2: an item of type `reasoning` holds no calls\n\
         passed over 1 from 4: the outcome of a call that is not in flight\n",
    );
}

#[test]
fn mcp() {
    check(
        Form::Mcp,
        r#"2026-01-05T09:00:00.000Z [srv] [info] Message from client: {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","arguments":{"q":1}}}
{"time":"2026-01-05T09:00:01Z","message":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":2}}}}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get"}}
{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}
Server started"#,
        "s 09:00:00Z open /workspace\n\
         s 09:00:00Z call-1-1 get{\"q\":1} Allow\n\
         s 09:00:01Z call-1-1 true {\"n\":2}\n\
         s 09:00:02Z call-1-2 get{} Allow\n\
         s 09:00:03Z call-1-2 false null\n\
         passed over 1 from 3: the method `tools/list` is not a call of a tool\n\
         passed over 1 from 4: an answer to something else than a call of a tool\n\
         passed over 1 from 7: it is not JSON\n",
    );
}

#[test]
fn plain() {
    check(
        Form::Plain,
        r#"{"tool":"a","args":{"n":1},"session":"x","time":1767603600}
{"tool":"b","args":{"n":1},"session":"y","outcome":"failure"}
{"tool":"c","session":"x","outcome":"denied"}
{"prompt":"Go on","session":"x"}
{"tool":"c","outcome":"maybe"}
{"tool":3}"#,
        "x 09:00:00Z open /workspace\n\
         x 09:00:00Z call-1 a{\"n\":1} Allow\n\
         x 09:00:00Z call-1 true null\n\
         y 00:00:00Z open /workspace\n\
         y 00:00:00Z call-1 b{\"n\":1} Allow\n\
         y 00:00:00Z call-1 false null\n\
         x 09:00:01Z call-2 c{} Deny\n\
         x 09:00:02Z prompt Go on\n\
         passed over 1 from 5: its `outcome` is not one of success, failure, denied\n\
         passed over 1 from 6: it names no `tool`\n",
    );
}

/// For every log, the importer does not panic, and every line is used or counted.
#[test]
fn hostile() {
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let odd = [
        "{",
        "[]",
        "null",
        "7",
        "{}",
        "\u{0}",
        &deep,
        r#"{"type":"user","message":7}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}"#,
        r#"{"type":"assistant","message":{"content":[7,null,{"type":"tool_use","id":7,"name":[]}]}}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"tools/call","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":[],"result":7}"#,
        r#"{"role":"tool"}"#,
        r#"{"messages":[7,[],{"role":7}]}"#,
        r#"{"tool":"x","time":99999999999999999999,"args":7}"#,
        r#"{"tool":"x","time":-9223372036854775808}"#,
        r#"{"tool":"x","a":1,"a":2}"#,
    ];
    for form in
        [None, Some(Form::ClaudeCode), Some(Form::OpenAi), Some(Form::Mcp), Some(Form::Plain)]
    {
        for line in odd {
            let told = told(form, line);
            assert!(
                !told.is_empty() || form == Some(Form::OpenAi) || line == "[]",
                "{form:?} {line}"
            );
        }
        told(form, &odd.join("\n"));
    }
}
