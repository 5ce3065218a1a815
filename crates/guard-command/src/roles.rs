//! The roles of files: those that a command reads, changes and removes, for common programs.
//!
//! For an unknown program, every word that leads out of the folder counts as a file that the
//! program changes.

mod archives;
mod find;
mod git;
mod listed;
mod outputs;
mod readers;

pub(crate) use find::find;
pub(crate) use git::git;
pub(crate) use listed::listed;

use crate::interpreters::sed_parts;
use crate::operands::split;
use crate::raw_commands::Raw;
use crate::word::Word;
use outputs::outputs;
use readers::{READERS, SPEAKERS, reads};

/// Determines the files of a command.
pub(crate) fn fill(name: &str, raw: &mut Raw) {
    let args = raw.args.clone();
    if !SPEAKERS.contains(&name) && !matches!(name, "test" | "[" | "ls" | "git" | "find" | "rm") {
        reads(name, &args, raw);
    }
    match name {
        "rm" | "rmdir" | "unlink" | "shred" | "srm" | "trash" | "rimraf" | "del" => {
            let values = if name == "shred" { "ns" } else { "" };
            raw.removes.extend(cloned(split(&args, values, &[]).operands));
        }
        "mv" | "cp" | "gcp" | "gmv" | "install" | "ginstall" | "ln" | "gln" | "link" | "rsync"
        | "scp" => copies(name, &args, raw),
        "touch" | "mkdir" | "mkfifo" | "mknod" | "mktemp" | "tee" | "sponge" | "truncate"
        | "fallocate" => {
            let values = match name {
                "touch" => "dtr",
                "mkdir" | "mkfifo" | "mknod" => "m",
                "truncate" => "sr",
                "fallocate" => "lo",
                "mktemp" => "p",
                _ => "",
            };
            let split =
                split(&args, values, &["--mode", "--size", "--date", "--reference", "--tmpdir"]);
            raw.writes.extend(split.values_of(&["-p", "--tmpdir"]).cloned());
            if name != "mktemp" {
                raw.writes.extend(cloned(split.operands));
            }
        }
        "dd" => {
            for word in &args {
                if let Some(file) = word.text.strip_prefix("of=") {
                    raw.writes.push(word.part(file));
                } else if !word.known && !word.text.starts_with("if=") {
                    raw.writes.push(word.clone());
                }
            }
        }
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "xattr" => {
            let split = split(&args, "", &[]);
            let skip = usize::from(!split.has(&["--reference"]));
            // A mode like `-x` is not an option.
            let mode_given = name == "chmod"
                && args.first().is_some_and(|word| {
                    word.text.starts_with('-')
                        && word.text.contains(['r', 'w', 'x'])
                        && !word.text.contains('R')
                });
            let operands = cloned(split.operands);
            raw.touches.extend(operands.into_iter().skip(if mode_given { 0 } else { skip }));
        }
        "sed" | "gsed" => {
            let sed = sed_parts(&args);
            if sed.in_place { raw.writes.extend(sed.files) } else { raw.reads.extend(sed.files) }
        }
        "patch" => {
            let split = split(
                &args,
                "idpBDFgorVYz",
                &["--input", "--directory", "--output", "--reject-file"],
            );
            let names = ["-d", "--directory", "-o", "--output", "-r", "--reject-file"];
            raw.writes.extend(split.values_of(&names).cloned());
            raw.writes.extend(cloned(split.operands));
            // It changes the files that the patch names, in its folder.
            raw.writes.push(Word::literal("."));
        }
        _ => archives::packed(name, &args, raw),
    }
    outputs(name, &args, raw);
}

fn cloned(words: Vec<&Word>) -> Vec<Word> {
    words.into_iter().cloned().collect()
}

/// Handles programs with sources and a destination.
fn copies(name: &str, args: &[Word], raw: &mut Raw) {
    let values = match name {
        "install" | "ginstall" => "tSmogB",
        "rsync" => "efBTM",
        _ => "tS",
    };
    let split = split(
        args,
        values,
        &[
            "--target-directory",
            "--suffix",
            "--exclude",
            "--include",
            "--mode",
            "--owner",
            "--group",
            "--log-file",
            "--backup-dir",
            "--partial-dir",
            "--temp-dir",
            "--write-batch",
            "--only-write-batch",
        ],
    );
    if name == "rsync" {
        let names = ["-T", "--log-file", "--backup-dir", "--partial-dir", "--temp-dir"];
        let batches = ["--write-batch", "--only-write-batch"];
        raw.touches.extend(split.values_of(&names).chain(split.values_of(&batches)).cloned());
    }
    let mut operands = cloned(split.operands.clone());
    let target: Vec<Word> = split.values_of(&["-t", "--target-directory"]).cloned().collect();
    let makes_folders = name == "install" && split.has(&["-d", "--directory"]);
    if makes_folders {
        raw.writes.extend(operands);
        return;
    }
    if !target.is_empty() {
        raw.writes.extend(target);
    } else if name == "ln" && operands.len() == 1 {
        raw.writes.push(Word::literal("."));
    } else {
        raw.writes.extend(operands.pop());
    }
    match name {
        // A link redirects writes to its target, relative to the folder of the link.
        "ln" | "gln" | "link" => {
            let link = raw.writes.last().and_then(Word::known).unwrap_or_default();
            let folder = link.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            raw.touches.extend(operands.into_iter().map(|target| match target.known() {
                Some(text) if !text.starts_with('/') && !target.home && !folder.is_empty() => {
                    target.part(&format!("{folder}/{text}"))
                }
                _ => target,
            }));
        }
        "mv" | "gmv" => raw.removes.extend(operands),
        "rsync" if split.has(&["--remove-source-files"]) => raw.removes.extend(operands),
        _ => {}
    }
    if name == "rsync" && split.options.iter().any(|option| option.starts_with("--del")) {
        raw.removes.extend(raw.writes.clone());
    }
}

/// Handles the words of a program about which little is known: those that lead out of the folder
/// may be files that it changes.
fn leads_out(args: &[Word], raw: &mut Raw) {
    for word in args {
        let text = word.text.as_str();
        let values = if text.starts_with('-') {
            [
                text.split_once('=').map(|(_, value)| value),
                text.find(['/', '~'])
                    .filter(|at| *at < 3 || text.contains('='))
                    .map(|at| &text[at..]),
                // The value of a short option without a space: `-C../x`.
                text.get(2..).filter(|value| value.starts_with("..")),
            ]
        } else {
            [Some(text), text.split_once('=').map(|(_, value)| value), None]
        };
        for value in values.into_iter().flatten() {
            let up = value.split(['/', ':', ',']).any(|component| component == "..");
            let rooted = value.starts_with('/') && !value.starts_with("//");
            let home = value == "~" || value.starts_with("~/");
            if (up || rooted || home) && !value.contains("://") {
                raw.touches.push(word.part(value));
                break;
            }
        }
    }
}
