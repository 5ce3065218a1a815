//! Options that name the output files of a program.

use crate::operands::split;
use crate::raw_commands::Raw;
use crate::word::Word;

/// Programs with the options that name their output files: single letters, then whole names.
const OUTPUTS: &[(&[&str], &str, &[&str])] = &[
    (&["gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as", "gfortran"], "o", &[]),
    (&["time", "iconv", "base64", "info", "scc"], "o", &["--output"]),
    (&["csplit"], "f", &["--prefix"]),
    (&["cloc"], "", &["--out", "--report-file", "--sql", "--ignored", "--counted"]),
    (&["history"], "wa", &[]),
    (&["rustc"], "o", &["--out-dir"]),
    (&["go"], "", &["-o", "-coverprofile", "-cpuprofile", "-memprofile", "-outputdir"]),
    (&["tsc"], "", &["--outDir", "--outFile", "--declarationDir", "--tsBuildInfoFile"]),
    (&["less"], "oO", &["--log-file", "--LOG-FILE"]),
    (
        &["pytest", "py.test"],
        "",
        &["--basetemp", "--junitxml", "--junit-xml", "--result-log", "--log-file"],
    ),
    (&["pandoc", "dot", "protoc"], "o", &["--output"]),
    (&["eslint", "ruff"], "o", &["--output-file"]),
    (&["cargo"], "", &["--target-dir", "--out-dir", "--artifact-dir"]),
];

/// Adds the files that the options of a program name as its output. A compiler builds the file from
/// sources, so running it is as certain as running the sources.
pub(super) fn outputs(name: &str, args: &[Word], raw: &mut Raw) {
    for (_, letters, names) in OUTPUTS.iter().filter(|(programs, ..)| programs.contains(&name)) {
        let split = split(args, letters, names);
        let short: Vec<String> = letters.chars().map(|letter| format!("-{letter}")).collect();
        let known: Vec<&str> =
            short.iter().map(String::as_str).chain(names.iter().copied()).collect();
        raw.touches.extend(split.values_of(&known).cloned());
        // Long names with one dash, as for `go`.
        for (at, word) in args.iter().enumerate() {
            let (option, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
            if names.contains(&option) && !option.starts_with("--") {
                raw.touches.extend(if value.is_empty() {
                    args.get(at + 1).cloned()
                } else {
                    Some(word.part(value))
                });
            }
        }
    }
}
