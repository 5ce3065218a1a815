//! The command line that a host runs. It is written to the host's settings, and parsed again from
//! there.
//!
//! The line does not change when the guard does, because hosts would ask for trust again. Two
//! shells around the command block if the hook could not. The first shell accepts only an answer in
//! braces, and kills a hook that hangs longer than the host may wait. The second shell runs in any
//! case: it reads the event to the end, prints a reason and exits with 2. Some hosts do not accept
//! an exit code without a reason as a refusal, and no host accepts a time-out.

use guard_hooks::Vocabulary;
use std::path::{Path, PathBuf};

/// The shell's message when the hook ended without a decision.
const UNDECIDED: &str = "guard: blocked, since the hook ended without a decision";

/// The number of seconds after which a hanging hook is killed: more than its own deadline, and less
/// than the host waits.
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
    /// The store, if it is not the user's default store.
    pub store: Option<PathBuf>,
    /// True if a shell turns every failure into a refusal.
    pub guarded: bool,
}

impl HookLine {
    /// Returns the text for the settings.
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

    /// Parses a text of the settings; `None` if `text` could not have produced it.
    pub fn read(text: &str, host: &'static Vocabulary) -> Option<HookLine> {
        // The last separator divides the shells, because a quoted path may contain another.
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

/// Quotes a word for a shell.
fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Returns the words of a line whose only syntax is quotes; `None` for any other line.
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
