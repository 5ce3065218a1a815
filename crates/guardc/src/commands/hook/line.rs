//! The command line that a host runs: made for its settings, and read back from them.
//!
//! It never changes while the guard does: hosts ask for trust again when it does. Two shells around it block where the
//! hook could not. The first takes only an answer in braces, and kills a hook that hangs longer than the host may wait. The
//! second runs whatever becomes of the first: it reads the event to the end, gives a reason and exits with 2. An exit code
//! without a reason is no refusal for some hosts, and a time-out is none for any.

use guard_hooks::Vocabulary;
use std::path::{Path, PathBuf};

/// The shell's message when the hook ended without a decision.
const UNDECIDED: &str = "guard: blocked, since the hook ended without a decision";

/// The seconds until a hook that hangs is killed: more than its own deadline, less than the host waits.
const PATIENCE: u32 = 25;

/// The beginning of the first shell's script, before the command.
const BEFORE: &str = "exec 3<&0; answer=$(";

/// The parts of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookLine {
    /// The host.
    pub host: &'static str,
    /// The program.
    pub guardc: PathBuf,
    /// The guard or plan.
    pub plan: PathBuf,
    /// The store, if it is not the user's.
    pub store: Option<PathBuf>,
    /// True if a shell turns every failure into a refusal.
    pub guarded: bool,
}

impl HookLine {
    /// The text for the settings.
    pub fn text(&self) -> String {
        let mut line =
            format!("{} hook {} --plan {}", quoted(&self.guardc), self.host, quoted(&self.plan));
        if let Some(store) = &self.store {
            line.push_str(&format!(" --store {}", quoted(store)));
        }
        if !self.guarded {
            return line;
        }
        let watch = format!(
            "{{ exec 3<&-; sleep {PATIENCE} & nap=$!; trap \"kill $nap\" TERM; wait $nap && kill -KILL $hook; }} >/dev/null 2>&1 & watch=$!"
        );
        let first = format!(
            "{BEFORE}{line} <&3 & hook=$!; {watch}; wait $hook; code=$?; kill $watch 2>/dev/null; exit $code) \
             && case $answer in \"{{\"*\"}}\") printf \"%s\\n\" \"$answer\";; *) exit 1;; esac"
        );
        let second = format!("cat >/dev/null; echo \"{UNDECIDED}\" >&2; exit 2");
        format!("/bin/sh -c {} || /bin/sh -c {}", quote(&first), quote(&second))
    }

    /// Reads a text of settings back; `None` where it is none that `text` makes.
    pub fn read(text: &str, host: &'static Vocabulary) -> Option<HookLine> {
        let (first, second) = text.rsplit_once(" || ").unwrap_or((text, ""));
        let mut line = words(first)?;
        let in_shell = line.len() == 3 && line[0] == "/bin/sh" && line[1] == "-c";
        let guarded = in_shell && second.ends_with("exit 2'");
        if in_shell {
            let script = line.remove(2);
            let script = script.strip_prefix(BEFORE)?;
            let (command, _) = script.split_once(" <&3 & hook=$!")?;
            line = words(command)?;
        }
        let mut words = line.into_iter();
        let guardc = PathBuf::from(words.next()?);
        let named = words.next()? == "hook" && words.next()? == host.name;
        let mut plan = None;
        let mut store = None;
        while let Some(word) = words.next() {
            match word.as_str() {
                "--plan" => plan = words.next().map(PathBuf::from),
                "--store" => store = words.next().map(PathBuf::from),
                _ => return None,
            }
        }
        let plan = plan.filter(|_| named)?;
        Some(HookLine { host: host.name, guardc, plan, store, guarded })
    }
}

fn quoted(path: &Path) -> String {
    quote(&path.display().to_string())
}

/// A word of a shell.
fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// The words of a line that has no other syntax than quotes; `None` where it has.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => text.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '"' | '$' | '`' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '\n' | '*' | '?' | '[' => {
                return None;
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::{HookLine, words};
    use guard_hooks::Vocabulary;

    #[test]
    fn lines_are_read_back() {
        for name in ["/w/a.guard", "/w/it's a.guard", "/w/\"$(x)\" || y", "/w/ü\\n"] {
            for (store, guarded) in [(None, true), (Some("/s t".into()), true), (None, false)] {
                for host in Vocabulary::ALL {
                    let line = HookLine {
                        host: host.name,
                        guardc: "/opt/x y/guardc".into(),
                        plan: name.into(),
                        store: store.clone(),
                        guarded,
                    };
                    assert!(guard_hooks::settings::is_ours(host, &line.text()), "{}", line.text());
                    if !name.contains(" || ") {
                        assert_eq!(
                            HookLine::read(&line.text(), host),
                            Some(line.clone()),
                            "{}",
                            line.text()
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn other_lines_are_not() {
        let host = Vocabulary::named("codex").expect("a host");
        for text in [
            "",
            "guardc hook codex",
            "guardc hook gemini --plan x",
            "guardc hook codex --plan x; true",
            "'",
        ] {
            assert_eq!(HookLine::read(text, host), None, "{text}");
        }
        assert_eq!(words(r"a 'b c'd\ e"), Some(vec!["a".into(), "b cd e".into()]));
    }
}
