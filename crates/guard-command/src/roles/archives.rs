//! The files of archives, compressed files and downloads.

use super::{READERS, SPEAKERS, cloned, leads_out};
use crate::operands::split;
use crate::raw_commands::Raw;
use crate::word::Word;

/// Handles archives, compressed files and downloads, and then programs about which little is known.
pub(super) fn packed(name: &str, args: &[Word], raw: &mut Raw) {
    match name {
        "tar" => archive(args, raw),
        "unzip" => extract(args, "dxP", "-d", raw),
        "7z" | "bsdtar" | "cpio" | "ar" => {
            raw.writes.extend(args.iter().filter(|word| !word.known).cloned())
        }
        "zip" => raw
            .writes
            .extend(split(args, "bitnxP", &[]).operands.first().map(|word| (*word).clone())),
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" | "brotli" => {
            let split = split(args, "SoD", &["--suffix"]);
            raw.writes.extend(split.values_of(&["-o"]).cloned());
            if !split.has(&["-c", "--stdout", "-t", "-l", "--test", "--list"]) {
                raw.writes.extend(cloned(split.operands));
            }
        }
        "sort" => raw
            .writes
            .extend(split(args, "oktST", &["--output"]).values_of(&["-o", "--output"]).cloned()),
        "curl" => {
            let split = split(
                args,
                "odHXuAeFbmwTCr",
                &[
                    "--output",
                    "--dump-header",
                    "--cookie-jar",
                    "--output-dir",
                    "--trace",
                    "--trace-ascii",
                ],
            );
            let names = [
                "-o",
                "--output",
                "--dump-header",
                "-D",
                "--cookie-jar",
                "-c",
                "--output-dir",
                "--trace",
                "--trace-ascii",
                "--stderr",
            ];
            raw.writes.extend(split.values_of(&names).cloned());
            if split.has(&["-O", "-J", "--remote-name", "--remote-name-all"]) {
                raw.writes.push(Word::literal("."));
            }
        }
        "wget" => {
            let split = split(
                args,
                "OPoa",
                &["--output-document", "--directory-prefix", "--output-file", "--append-output"],
            );
            let names = [
                "-O",
                "--output-document",
                "-P",
                "--directory-prefix",
                "-o",
                "--output-file",
                "-a",
                "--append-output",
            ];
            let named = split.values_of(&names).cloned().collect();
            raw.writes.extend(folder_or_here(named));
        }
        "split" | "csplit" => {
            let split = split(args, "abClnt", &[]);
            let prefix = split.operands.get(1).map(|word| (*word).clone());
            raw.writes.extend(folder_or_here(prefix.into_iter().collect()));
        }
        "xxd" | "uniq" => raw
            .writes
            .extend(split(args, "clgsofnw", &[]).operands.get(1).map(|word| (*word).clone())),
        "tree" => raw.writes.extend(split(args, "oLIP", &[]).values_of(&["-o"]).cloned()),
        "yq" if args
            .iter()
            .any(|word| word.text.starts_with("-i") || word.text.starts_with("--in")) =>
        {
            raw.writes.extend(cloned(split(args, "", &[]).operands).into_iter().skip(1));
        }
        _ if READERS.contains(&name) || SPEAKERS.contains(&name) => {}
        _ => leads_out(args, raw),
    }
}

/// Returns the folders into which members are written; without one, the current folder of the
/// shell.
fn folder_or_here(folders: Vec<Word>) -> Vec<Word> {
    if folders.is_empty() { vec![Word::literal(".")] } else { folders }
}

fn archive(args: &[Word], raw: &mut Raw) {
    let mut args = args.to_vec();
    if let Some(first) = args.first_mut().filter(|word| word.known && !word.text.starts_with('-')) {
        first.text.insert(0, '-');
    }
    let split = split(
        &args,
        "fCXTgbHKNV",
        &[
            "--file",
            "--directory",
            "--exclude",
            "--transform",
            "--xform",
            "--strip-components",
            "--owner",
            "--group",
            "--index-file",
        ],
    );
    raw.touches.extend(split.values_of(&["--index-file"]).cloned());
    let file: Vec<Word> = split.values_of(&["-f", "--file"]).cloned().collect();
    let folder: Vec<Word> = split.values_of(&["-C", "--directory"]).cloned().collect();
    if split.has(&["-x", "--extract", "--get"]) {
        raw.writes.extend(folder_or_here(folder));
        // With these options, members may leave the folder.
        if split.has(&["-P", "--absolute-names", "--transform", "--xform"]) {
            raw.writes.push(Word::unknown("(a member of the archive)"));
        }
    } else if split.has(&["-c", "--create", "-r", "--append", "-u", "--update", "-A", "--delete"]) {
        raw.writes.extend(file);
    }
    if split.has(&["--remove-files"]) {
        raw.removes.extend(cloned(split.operands.clone()));
    }
    if split.has(&["--recursive-unlink", "--unlink-first"]) {
        raw.writes.push(Word::unknown("(a member of the archive)"));
    }
}

fn extract(args: &[Word], values: &str, folder: &str, raw: &mut Raw) {
    let split = split(args, values, &[]);
    raw.writes.extend(folder_or_here(split.values_of(&[folder]).cloned().collect()));
    if split.has(&["-:"]) {
        raw.writes.push(Word::unknown("(a member of the archive)"));
    }
}
