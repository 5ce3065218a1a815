//! A law of exported rules: what a rule of a host refuses or asks about, the guard does not allow. And they allow nothing.

use guard_hooks::Vocabulary;
use guard_hooks::export::{CallPattern, ExportedRules, StaticRule, export};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::plan::{Plan, Tool, TypeDef};
use guard_tests::compiled;
use guard_trace::import::{Form, Importer};
use guard_trace::replay::{Judge, Options, Replay};

/// Rules of every form, for the tools of each host.
const POLICIES: &str = r#"
policy words for tag runs_command {
  deny when any each in commands(command): each.certain and (each.program in {"sudo", "su"} or each.program == "git" and each.subcommand in {"push", "clean"})
  deny unless all each in commands(command): each.program != "dd" and not (each.program == "npm" and each.subcommand == "publish")
  deny when any each in commands(command): each.program == "rm" and "-r" in each.options
  deny when any each in commands(command): each.program == "env" and each.program == "printenv"
  approval maintainer when any each in commands(command): each.program == "terraform"
}
"#;

/// Rules about paths, for the hosts that have tools for files.
const FILES: &str = r#"
policy paths for { tag reads_file_path, tag writes_file_path } {
  deny when file_name(file_path) == ".env" or ends_with(file_name(file_path), ".pem")
  deny unless not (file_path within "secrets/deep" or file_path within "/etc")
  deny when file_path within "../up" or file_path within workspace and file_name(file_path) == "x"
}
"#;

fn guard(host: &Vocabulary) -> String {
    let library = host.name.replace('-', "_");
    let files = if library == "codex" { "" } else { FILES };
    format!("guard drawn\n\nuse std.hosts.{library}\n{POLICIES}{files}")
}

/// Arguments of a call with this text for one parameter, and something that has its type for each other that is needed.
fn arguments(plan: &Plan, tool: &Tool, param: &str, text: &str) -> String {
    let members = tool.params.iter().filter_map(|field| {
        let ty = &plan.types[field.ty as usize];
        let value = match ty {
            _ if field.name == param => Json::string(text).to_string(),
            TypeDef::Option { .. } => return None,
            TypeDef::Bool => "false".into(),
            TypeDef::Int { .. } | TypeDef::Decimal { .. } => "1".into(),
            TypeDef::List { .. } => "[]".into(),
            TypeDef::Url => "\"https://docs.rs/\"".into(),
            TypeDef::Json => "{}".into(),
            _ => "\"x1\"".into(),
        };
        Some(format!("\"{}\":{value}", field.name))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// Calls that a rule of a host means, by what the host's documentation says of its patterns.
fn calls(plan: &Plan, rule: &StaticRule) -> Vec<String> {
    let Some(tool) = plan.tools.iter().find(|tool| tool.wire_name == rule.tool) else {
        return Vec::new();
    };
    let (param, texts): (&str, Vec<String>) = match &rule.pattern {
        CallPattern::Every => ("", vec![String::new()]),
        CallPattern::Words { param, words } => {
            let line = words.join(" ");
            let ends =
                ["", " x", " --all -r 'a b'", " | cat", "; ls", " && echo done", " > out.txt"];
            let begins = ["ls; ", "cd src && "].map(|begin| format!("{begin}{line} x"));
            (param, ends.iter().map(|end| format!("{line}{end}")).chain(begins).collect())
        }
        CallPattern::FileName { param, name } => (
            param,
            ["", "a/", "./b/../", "/tmp/", "/"].map(|folder| format!("{folder}{name}")).into(),
        ),
        CallPattern::FileEnding { param, ending } => {
            (param, ["a", "a/b", "/etc/c.d", "./"].map(|start| format!("{start}{ending}")).into())
        }
        CallPattern::Below { param, folder } => {
            (param, ["", "/a", "/a/b.txt", "/./c"].map(|rest| format!("{folder}{rest}")).into())
        }
        CallPattern::Host { param, host } => {
            (param, ["/", ":8080/a", "?q", ""].map(|rest| format!("https://{host}{rest}")).into())
        }
        CallPattern::Text { param, text } => (param, vec![text.clone()]),
    };
    let line = |text: &String| {
        let args = arguments(plan, tool, param, text);
        format!("{{\"tool\":{},\"args\":{args}}}", Json::string(&rule.tool))
    };
    texts.iter().map(line).collect()
}

/// Decides each call in a session of its own: the code of the refusal, or none where it is allowed.
fn refusal(judge: &Judge, call: &str) -> Option<String> {
    let options = Options { keys: None, keep: 5, marks: 0, foreign: true };
    let mut importer = Importer::new(Some(Form::Plain), "log", "s");
    let mut replay: Option<Replay<'_>> = None;
    importer.line(1, call.as_bytes(), &mut |_, record| match &mut replay {
        None => replay = Some(Replay::begin(judge, options, record, None).expect("it opens")),
        Some(replay) => replay.record(record, None).expect("the event is taken"),
    });
    let replayed = replay.expect("a session").end();
    let difference = replayed.differences.first()?;
    Some(difference.reason.as_ref().map_or("none".into(), |reason| reason.code.as_str().to_owned()))
}

fn exported(host: &Vocabulary, text: &str) -> (ExportedRules, Plan, Judge) {
    let output = compiled(text).unwrap_or_else(|| panic!("it has errors:\n{text}"));
    let exported = export(host, &output.lowered, &[], &[]).expect("the host has rules");
    let plan = output.plan.clone();
    let loaded = LoadedPlan::from_plan(output.plan, output.sources).expect("what compiles loads");
    (exported, plan, Judge::new(loaded).expect("a judge"))
}

#[test]
fn hosts_refuse_only_what_the_guard_refuses() {
    for host in Vocabulary::ALL {
        let bundled = format!("specs/examples/{}.guard", host.name.replace('-', "_"));
        let bundled = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(bundled);
        let bundled = std::fs::read_to_string(bundled).expect("a bundled guard");
        for text in [guard(host), bundled] {
            let (exported, plan, judge) = exported(host, &text);
            for rule in &exported.statics {
                for call in calls(&plan, rule) {
                    let code = refusal(&judge, &call);
                    let refused = matches!(
                        code.as_deref(),
                        Some("denied" | "approval" | "unreadable_command")
                    );
                    assert!(refused, "{}: {rule:?}\n{call}\n{code:?}", host.name);
                }
            }
            let allows =
                ["\"allow\"", "= \"allow\""].iter().any(|word| exported.text.contains(word));
            assert!(!allows, "{}", exported.text);
        }
    }
}

/// The exported rules, and those that cannot be exported, for conditions of every form.
#[test]
fn forms_of_conditions() {
    let of = |host: &str| {
        let host = Vocabulary::named(host).expect("a host");
        let (exported, ..) = exported(host, &guard(host));
        let words = |rule: &StaticRule| match &rule.pattern {
            CallPattern::Words { words, .. } => Some(words.join(" ")),
            _ => None,
        };
        let said: Vec<String> = exported.statics.iter().filter_map(words).collect();
        (said, exported)
    };
    let (said, codex) = of("codex");
    assert_eq!(
        said,
        ["dd", "git clean", "git push", "npm publish", "su", "sudo", "terraform"],
        "{}",
        codex.text
    );
    let (_, claude) = of("claude-code");
    for rule in [
        "Edit(//**/.env)",
        "Read(//**/*.pem)",
        "Read(/secrets/deep/**)",
        "Read(//etc/**)",
        "Bash(npm publish *)",
    ] {
        assert!(claude.text.contains(rule), "{rule}\n{}", claude.text);
    }
    assert!(!claude.text.contains("up") && !claude.text.contains("/x)"), "{}", claude.text);
}
