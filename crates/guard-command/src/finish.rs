//! The final form of the commands: programs by name, files as absolute paths.

use crate::raw_commands::{Folders, FoundCommands, Raw};
use crate::word::Word;
use crate::{ShellText, SimpleCommand, paths};

/// Converts the commands that were found to their final form.
pub(crate) fn commands(found: FoundCommands) -> Vec<SimpleCommand> {
    let written: Vec<String> = found
        .commands
        .iter()
        .flat_map(|raw| files(&raw.writes, &raw.folders))
        .filter_map(|file| file.known().map(str::to_owned))
        .collect();
    let context = CommandContext {
        written,
        functions: found.functions,
        tainted: found.tainted,
        base: found.base,
    };
    found.commands.into_iter().map(|raw| context.command(raw)).collect()
}

/// The facts about the other commands of the text that one command depends on.
struct CommandContext {
    /// The files that the text writes. Their content is unknown when they are run.
    written: Vec<String>,
    functions: Vec<String>,
    tainted: bool,
    base: String,
}

impl CommandContext {
    fn command(&self, raw: Raw) -> SimpleCommand {
        let program_word = raw.program.clone().unwrap_or_default();
        let written = text(&program_word);
        let program = self.program(&program_word, &raw.folders);
        let runs_function =
            written.known().is_some_and(|name| self.functions.iter().any(|known| known == name));
        let runs_written = self.runs_written(&raw, &program);
        let known = raw.known
            && program.known().is_some()
            && !self.tainted
            && !runs_function
            && !runs_written;
        let all_known = |words: &[Word]| words.iter().all(|word| word.known);
        let literal = known
            && !raw.hidden_unknown
            && all_known(&raw.args)
            && all_known(&raw.reads)
            && all_known(&raw.writes)
            && all_known(&raw.touches)
            && all_known(&raw.removes)
            && raw.assigns.iter().all(|(_, value)| value.known);
        let mut writes = files(&raw.writes, &raw.folders);
        writes.extend(files(&raw.touches, &raw.folders));
        // A command that may run something else as well has no program that an allow-list accepts.
        let program = if known { program } else { ShellText::Unknown(raw.text.clone()) };
        let mut reads = files(&raw.reads, &raw.folders);
        reads.extend(files(&raw.scripts, &raw.folders));
        SimpleCommand {
            program,
            written,
            options: options(&raw.args),
            words: raw.args.iter().map(text).collect(),
            assigns: raw.assigns.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
            reads,
            writes,
            removes: files(&raw.removes, &raw.folders),
            known,
            literal,
            text: raw.text,
        }
    }

    /// Returns a bare name, a path below the base folder with `./`, or another path.
    fn program(&self, word: &Word, folders: &Folders) -> ShellText {
        let Some(name) = word.known().filter(|name| !name.is_empty()) else {
            return ShellText::Unknown(word.text.clone());
        };
        if !name.contains('/') && !word.home {
            return ShellText::Known(name.to_owned());
        }
        let all = files([word], folders);
        // The command may run in several folders, and then the path stands for several programs.
        let [ShellText::Known(path)] = all.as_slice() else {
            return ShellText::Unknown(name.to_owned());
        };
        let bare = paths::bare_name(path);
        match paths::below(path, &self.base) {
            _ if bare != path => ShellText::Known(bare.to_owned()),
            Some(below) => ShellText::Known(format!("./{below}")),
            None => ShellText::Known(path.clone()),
        }
    }

    /// Returns true if the command runs a file that the same text writes.
    fn runs_written(&self, raw: &Raw, program: &ShellText) -> bool {
        let mut scripts = files(&raw.scripts, &raw.folders);
        // The text writes the file under its path, however the program is spelled.
        let is_path = |word: &&Word| word.home || word.text.contains('/');
        scripts.extend(files(raw.program.iter().filter(is_path), &raw.folders));
        let replaces = |file: &String| {
            let bare = paths::bare_name(file);
            bare != file && program.known() == Some(bare)
                || paths::bare_name(&format!("{file}/x")) == "x"
        };
        if self.written.iter().any(replaces) {
            return true;
        }
        // The commands that these programs run are in a file.
        let recipes: &[&str] = match raw.name().unwrap_or_default() {
            "make" | "gmake" => &["Makefile", "makefile", "GNUmakefile"],
            "npm" | "pnpm" | "yarn" | "bun" | "npx" => &["package.json"],
            "just" => &["justfile", "Justfile"],
            "cargo" => &["build.rs", "config.toml"],
            _ => &[],
        };
        let is_recipe =
            |file: &String| recipes.iter().any(|recipe| file.rsplit('/').next() == Some(recipe));
        // The folder in which the program will look is not known, so a recipe in any folder counts.
        if self.written.iter().any(is_recipe) {
            return true;
        }
        let mut run = scripts.iter().filter_map(ShellText::known);
        run.any(|file| {
            // Both may be folders: one that the text fills, one that holds code.
            self.written.iter().any(|written| {
                file == written
                    || paths::below(file, written).is_some()
                    || paths::below(written, file).is_some()
            })
        })
    }
}

fn text(word: &Word) -> ShellText {
    if word.known {
        ShellText::Known(word.text.clone())
    } else {
        ShellText::Unknown(word.text.clone())
    }
}

/// Returns the absolute paths of files, in every folder in which the command may run.
fn files<'w>(words: impl IntoIterator<Item = &'w Word>, folders: &Folders) -> Vec<ShellText> {
    let mut out = Vec::new();
    for word in words {
        let unknown = || ShellText::Unknown(word.text.clone());
        match (word.known, &word.under) {
            (true, _) => place(&word.text, word.home, folders, &mut out),
            (false, Some(under)) if !under.is_empty() => {
                under.iter().for_each(|folder| place(folder, false, folders, &mut out));
            }
            _ => out.push(unknown()),
        }
    }
    out
}

fn place(file: &str, home: bool, folders: &Folders, out: &mut Vec<ShellText>) {
    // A host may take a backslash for a separator, and a null byte ends a path.
    if file.contains('\\') || file.contains('\0') {
        return out.push(ShellText::Unknown(file.to_owned()));
    }
    if home {
        let rest = file.strip_prefix('~').unwrap_or(file).trim_start_matches('/');
        return out.push(ShellText::Known(paths::join(paths::HOME, rest)));
    }
    if file.starts_with('/') {
        return out.push(ShellText::Known(paths::join("/", file)));
    }
    match folders {
        Some(folders) => {
            out.extend(folders.iter().map(|folder| ShellText::Known(paths::join(folder, file))));
        }
        None => out.push(ShellText::Unknown(file.to_owned())),
    }
}

/// Returns the options among the words.
fn options(args: &[Word]) -> Vec<ShellText> {
    let mut out = Vec::new();
    for word in args {
        if word.known && word.text == "--" {
            break;
        }
        if !word.known {
            out.push(ShellText::Unknown(word.text.clone()));
        } else if word.text.starts_with('-') && word.text.len() > 1 {
            let name = word.text.split('=').next().unwrap_or_default();
            out.push(ShellText::Known(name.to_owned()));
            let letters =
                name.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or("");
            if letters.len() > 1 {
                let plain = letters.chars().take_while(char::is_ascii_alphabetic);
                out.extend(plain.map(|letter| ShellText::Known(format!("-{letter}"))));
            }
        }
    }
    out
}
