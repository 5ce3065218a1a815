//! `guard.toml`: the settings of a project, instead of command-line options.

use crate::failure::Failure;
use crate::files;
use crate::near;
use std::path::{Path, PathBuf};

/// The name of the file.
pub const NAME: &str = "guard.toml";

const KEYS: [&str; 6] =
    ["include", "exclude", "warnings-as-errors", "min-coverage", "max-steps", "retention"];

const RETENTION: [&str; 3] = ["older-than", "keep", "compact-after"];

/// The content of `guard.toml`; the defaults if there is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The folder of the file: the project's root.
    pub root: Option<PathBuf>,
    /// Globs of the files that a directory walk includes; all `.guard` files if empty.
    pub include: Vec<String>,
    /// Globs of the files that a directory walk excludes.
    pub exclude: Vec<String>,
    /// True if warnings count as errors.
    pub warnings_as_errors: bool,
    /// The minimum percentage of rule outcomes that tests must exercise.
    pub min_coverage: Option<f64>,
    /// The maximum worst-case number of steps of a tool.
    pub max_steps: Option<u64>,
    /// The retention of stores.
    pub retention: Retention,
}

/// The retention of a store: the sessions and records that it keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// The age in milliseconds of the last record above which a session is dropped.
    pub older_than: Option<i64>,
    /// The number of sessions with the latest records that are kept, whatever their age.
    pub keep: Option<usize>,
    /// The number of records above which a session is compacted when it is closed.
    pub compact_after: Option<u64>,
}

impl Config {
    /// Returns the configuration of the project that a file belongs to.
    pub fn of_file(path: &Path) -> Result<Config, Failure> {
        Config::discover(files::folder_of(path))
    }

    /// Finds the nearest `guard.toml` in `from` or above it.
    pub fn discover(from: &Path) -> Result<Config, Failure> {
        // Without the configuration a check would be left out.
        let from = std::path::absolute(from).map_err(|error| {
            let why = crate::failure::reason(&error);
            Failure::new(format!("cannot look for `{NAME}` at `{}`: {why}", files::display(from)))
        })?;
        for folder in from.ancestors() {
            let path = folder.join(NAME);
            // A dangling link counts as a file, so that its error is shown instead of the settings
            // of a folder above.
            if path.symlink_metadata().is_err() {
                continue;
            }
            let name = files::display(&path);
            let text = files::read_text(&path)
                .map_err(|why| Failure::new(format!("cannot read `{name}`: {why}")))?;
            let config = parse(&text).map_err(|(message, help)| {
                Failure::new(format!("`{name}`: {message}")).maybe_help(help)
            })?;
            return Ok(Config { root: Some(folder.to_owned()), ..config });
        }
        Ok(Config::default())
    }
}

/// The problem, and a suggestion.
type ConfigProblem = (String, Option<String>);

fn parse(text: &str) -> Result<Config, ConfigProblem> {
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
        let line =
            e.span().map_or(1, |s| text[..s.start.min(text.len())].matches('\n').count() + 1);
        (format!("line {line}: {}", e.message().lines().next().unwrap_or("not TOML")), None)
    })?;
    let mut config = Config::default();
    for (key, value) in &table {
        match key.as_str() {
            "include" => config.include = globs(key, value)?,
            "exclude" => config.exclude = globs(key, value)?,
            "warnings-as-errors" => {
                config.warnings_as_errors =
                    value.as_bool().ok_or_else(|| wrong(key, "`true` or `false`"))?;
            }
            "min-coverage" => {
                let percent = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
                let percent = percent.filter(|p| (0.0..=100.0).contains(p));
                config.min_coverage =
                    Some(percent.ok_or_else(|| wrong(key, "a number from 0 to 100"))?);
            }
            "max-steps" => {
                let steps = value.as_integer().and_then(|n| u64::try_from(n).ok());
                config.max_steps =
                    Some(steps.ok_or_else(|| wrong(key, "a whole number, not negative"))?);
            }
            "retention" => config.retention = retention(key, value)?,
            _ => return Err(unknown(key, &KEYS)),
        }
    }
    Ok(config)
}

fn retention(key: &str, value: &toml::Value) -> Result<Retention, ConfigProblem> {
    let table = value.as_table().ok_or_else(|| wrong(key, "a table"))?;
    let mut retention = Retention::default();
    for (key, value) in table {
        let number = || {
            let number = value.as_integer().and_then(|n| u64::try_from(n).ok());
            number.ok_or_else(|| wrong(key, "a whole number, not negative"))
        };
        match key.as_str() {
            "older-than" => {
                let age = value.as_str().and_then(guard_plan::time::parse_duration);
                let age = age.filter(|age| *age > 0);
                retention.older_than =
                    Some(age.ok_or_else(|| wrong(key, "a duration, like `'30d'`"))?);
            }
            "keep" => retention.keep = Some(usize::try_from(number()?).unwrap_or(usize::MAX)),
            "compact-after" => retention.compact_after = Some(number()?),
            _ => return Err(unknown(key, &RETENTION)),
        }
    }
    Ok(retention)
}

fn unknown(key: &str, keys: &[&'static str]) -> ConfigProblem {
    let help = near::did_you_mean(key, keys.iter().copied());
    let names = || keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>();
    let known = || format!("the keys are {}", names().join(", "));
    (format!("unknown key `{key}`"), Some(help.unwrap_or_else(known)))
}

fn wrong(key: &str, expected: &str) -> ConfigProblem {
    (format!("`{key}` must be {expected}"), None)
}

fn globs(key: &str, value: &toml::Value) -> Result<Vec<String>, ConfigProblem> {
    let list = value.as_array().ok_or_else(|| wrong(key, "a list of globs"))?;
    list.iter()
        .map(|glob| glob.as_str().map(str::to_owned).ok_or_else(|| wrong(key, "a list of globs")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<Config, &str>) {
        let got = parse(text).map_err(|(message, help)| match help {
            Some(help) => format!("{message}; {help}"),
            None => message,
        });
        assert_eq!(got, expected.map_err(str::to_owned));
    }

    #[test]
    fn a_bare_name_belongs_to_the_project_of_the_current_folder() {
        for (path, folder) in [("a.guard", "."), ("-", "."), ("./a.guard", "."), ("b/a.guard", "b")]
        {
            assert_eq!(files::folder_of(Path::new(path)), Path::new(folder), "{path}");
        }
        assert!(Config::discover(Path::new("")).is_err());
    }

    #[test]
    fn reads_every_key() {
        check("", Ok(Config::default()));
        check(
            "include = ['a/*.guard']\nexclude = ['old']\nwarnings-as-errors = true\nmin-coverage = 80\nmax-steps = 500",
            Ok(Config {
                root: None,
                include: vec!["a/*.guard".into()],
                exclude: vec!["old".into()],
                warnings_as_errors: true,
                min_coverage: Some(80.0),
                max_steps: Some(500),
                retention: Retention::default(),
            }),
        );
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        check("includ = []", Err("unknown key `includ`; did you mean `include`?"));
        check("include = 'a'", Err("`include` must be a list of globs"));
        check("min-coverage = 101", Err("`min-coverage` must be a number from 0 to 100"));
        check(
            "[retention]\nolder-than = '30d'\nkeep = 5\ncompact-after = 100",
            Ok(Config {
                retention: Retention {
                    older_than: Some(30 * 86_400_000),
                    keep: Some(5),
                    compact_after: Some(100),
                },
                ..Config::default()
            }),
        );
        check(
            "[retention]\nolder-thn = '30d'",
            Err("unknown key `older-thn`; did you mean `older-than`?"),
        );
        check("[retention]\nolder-than = 30", Err("`older-than` must be a duration, like `'30d'`"));
        check("max-steps = -1", Err("`max-steps` must be a whole number, not negative"));
    }
}
