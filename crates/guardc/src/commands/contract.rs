//! `guardc contract`: judges a producer's output by a contract of a guard.

use crate::failure::{CommandResult, Exit, Failure, reason};
use crate::files;
use crate::near;
use crate::plans;
use crate::play::{START, WORKSPACE};
use crate::term::Console;
use guard_plan::json::Json;
use guard_plan::plan::{Allowed, Contract};
use guard_plan::report::{Report, State};
use guard_plan::{LoadedPlan, time};
use guard_sdk::{Guard, TextOptions};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The maximum length of a text in bytes, because a device may have no end.
const MAX_TEXT: u64 = 1 << 30;

/// Checks a producer's text against a contract; prints the contract's JSON Schema or prompt
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do with it.
    #[command(subcommand)]
    pub what: ContractCommand,
}

/// The subcommands of `guardc contract`.
#[derive(Debug, clap::Subcommand)]
pub enum ContractCommand {
    /// Checks a text, unit by unit. Exit code 0: valid, 1: partial, 3: nothing survived
    Check {
        /// The text and its circumstances.
        #[command(flatten)]
        text: ContractText,
        /// The format of the report
        #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
        format: ContractFormat,
    },
    /// Prints the message that asks the producer to correct a text; nothing for a valid text. Exit
    /// codes as for `check`
    Reask {
        /// The text and its circumstances.
        #[command(flatten)]
        text: ContractText,
    },
    /// Prints the JSON Schema of a contract (draft 2020-12)
    Schema {
        /// The contract and the host's lists.
        #[command(flatten)]
        hint: HintArgs,
        /// The part of JSON Schema that the schema may use
        #[arg(long, value_enum, value_name = "PROFILE", default_value = "full")]
        profile: Profile,
    },
    /// Prints the prompt for a producer
    Prompt(HintArgs),
}

/// The output format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ContractFormat {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// The surviving values, as one JSON object.
    Values,
}

/// The words of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Profile {
    /// Everything that JSON Schema can say.
    Full,
    /// What every API with strict structured outputs accepts.
    Strict,
}

/// A contract, with what a producer may refer to.
#[derive(Debug, clap::Args)]
pub struct HintArgs {
    /// Which contract.
    #[command(flatten)]
    pub contract: ContractArgs,
    /// The values that references may name: a file that holds a JSON array
    #[arg(long, value_name = "NAME=FILE")]
    pub known: Vec<String>,
}

/// A text under a contract.
#[derive(Debug, clap::Args)]
pub struct ContractText {
    /// Which contract.
    #[command(flatten)]
    pub contract: ContractArgs,
    /// The text; `-` is standard input
    pub text: PathBuf,
    /// The reason that the producer gave for stopping, such as `stop` or `length`
    #[arg(long, value_name = "REASON")]
    pub finish_reason: Option<String>,
    /// The values that references may name: a file that holds a JSON array
    #[arg(long, value_name = "NAME=FILE")]
    pub known: Vec<String>,
    /// The data from which `source start` of the guard learns: a JSON file
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// The user's words, from which `source prompt` of the guard learns
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
}

/// A contract of a guard.
#[derive(Debug, clap::Args)]
pub struct ContractArgs {
    /// A guard or a plan
    pub file: PathBuf,
    /// The contract's name
    pub contract: String,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let named = match &args.what {
        ContractCommand::Check { text, .. } | ContractCommand::Reask { text } => &text.contract,
        ContractCommand::Schema { hint, .. } | ContractCommand::Prompt(hint) => &hint.contract,
    };
    let plan = plans::open(&named.file, term)?;
    let contract = find(&plan, &named.contract)?;
    match &args.what {
        ContractCommand::Schema { hint, profile } => {
            let known = hinted(hint, &plan, contract)?;
            let schema = match profile {
                Profile::Full => guard_contract::schema(plan.plan(), contract, &known),
                Profile::Strict => strict(&plan, contract, &known, term)?,
            };
            term.data(&(serde_json::to_string_pretty(&schema)? + "\n"))?;
            Ok(Exit::Fine)
        }
        ContractCommand::Prompt(hint) => {
            let known = hinted(hint, &plan, contract)?;
            let text = guard_contract::prompt(plan.plan(), contract, &known);
            term.data(&format!("{}\n", text.trim_end()))?;
            Ok(Exit::Fine)
        }
        ContractCommand::Check { text, format } => {
            let report = check(text, &plan, contract)?;
            let pretty = match format {
                ContractFormat::Text => None,
                ContractFormat::Json => Some(serde_json::to_string_pretty(&report)?),
                ContractFormat::Values => Some(serde_json::to_string_pretty(&report.values())?),
            };
            match pretty {
                Some(json) => term.data(&format!("{json}\n"))?,
                None => term.print(&report.text())?,
            }
            Ok(exit(&report))
        }
        ContractCommand::Reask { text } => {
            let report = check(text, &plan, contract)?;
            let known = given(&text.known)?;
            let text = guard_contract::reask(plan.plan(), contract, &report, &known);
            term.data(&text.unwrap_or_default())?;
            Ok(exit(&report))
        }
    }
}

/// Returns the host's lists that the contract refers to.
fn hinted(
    hint: &HintArgs,
    plan: &LoadedPlan,
    contract: usize,
) -> Result<guard_contract::Lists, Failure> {
    let known = given(&hint.known)?;
    lists_are_asked(&known, &plan.plan().contracts[contract])?;
    Ok(known)
}

/// Prints the schema in the strict profile. The restrictions that are only described go to standard
/// error.
fn strict(
    plan: &LoadedPlan,
    contract: usize,
    known: &guard_contract::Lists,
    term: &Console,
) -> Result<serde_json::Value, Failure> {
    let name = &plan.plan().contracts[contract].name;
    let strict = guard_contract::strict(plan.plan(), contract, known).map_err(|refused| {
        Failure::new(format!("`{name}` has no strict schema: {}", refused.join("; ")))
            .help("use the full profile, or declare these members as records and lists")
    })?;
    for described in &strict.described {
        term.note(&format!("only described: {described}"));
    }
    Ok(strict.schema)
}

/// Returns the exit code of a report.
fn exit(report: &Report) -> Exit {
    match report.state {
        State::Valid => Exit::Fine,
        State::Partial => Exit::Findings,
        State::Lost => Exit::Lost,
    }
}

/// Returns the index of a contract.
fn find(plan: &LoadedPlan, name: &str) -> Result<usize, Failure> {
    let names = || plan.plan().contracts.iter().map(|contract| contract.name.as_str());
    names().position(|known| known == name).ok_or_else(|| {
        let known: Vec<&str> = names().collect();
        let known = if known.is_empty() { "it has none".into() } else { known.join(", ") };
        let near =
            near::did_you_mean(name, names()).unwrap_or_else(|| format!("contracts: {known}"));
        Failure::new(format!("the guard has no contract `{name}`")).help(near)
    })
}

/// Checks a text.
fn check(text: &ContractText, plan: &LoadedPlan, contract: usize) -> Result<Report, Failure> {
    let ContractText { text, finish_reason, known, data, prompt, .. } = text;
    let guard = Guard::from_plan(plan.clone())?;
    let data = data.as_deref().map(json_file).transpose()?;
    let start = time::parse_rfc3339(START).unwrap_or_default();
    let mut options = guard.session("contract").root(WORKSPACE).at(start);
    if let Some(data) = &data {
        options = options.data(data);
    }
    let begin = |why| Failure::new(format!("the guard cannot begin a session: {why}"));
    let mut session = options.open().map_err(begin)?;
    if let Some(text) = prompt {
        session.at(start).prompt(text).map_err(begin)?;
    }
    // A misspelt reason would count as unknown, and the report would blame the producer.
    if let Some(reason) = finish_reason.as_deref().filter(|r| guard_contract::finish(r).is_none()) {
        let near = near::did_you_mean(reason, guard_contract::finish_reasons());
        return Err(Failure::new(format!("unknown finish reason `{reason}`")).help(
            near.unwrap_or_else(|| {
                "write the producer's own value, such as `stop` or `length`".into()
            }),
        ));
    }
    let known = given(known)?;
    lists_are_asked(&known, &plan.plan().contracts[contract])?;
    let options = TextOptions { finish_reason: finish_reason.as_deref(), known };
    let name = &plan.plan().contracts[contract].name;
    let report = session.at(start).check_text(name, read(text)?, &options);
    let report =
        report.map_err(|why| Failure::new(format!("the contract cannot be used: {why}")))?;
    Ok(report.into_outcome())
}

/// Reads the lists that the host provides.
fn given(known: &[String]) -> Result<BTreeMap<String, Vec<Json>>, Failure> {
    let mut given = BTreeMap::new();
    for pair in known {
        let Some((name, file)) = pair.split_once('=') else {
            return Err(Failure::new(format!("`{pair}` is not a list with a file"))
                .help("write `--known NAME=FILE`"));
        };
        match json_file(Path::new(file))? {
            Json::Array(values) => _ = given.insert(name.to_owned(), values),
            _ => return Err(Failure::new(format!("`{file}` does not contain a JSON array"))),
        }
    }
    Ok(given)
}

/// Checks that the contract refers to every list that the host provides.
fn lists_are_asked(
    known: &BTreeMap<String, Vec<Json>>,
    contract: &Contract,
) -> Result<(), Failure> {
    let names = || {
        contract.references.iter().filter_map(|reference| match &reference.allowed {
            Allowed::Given(name) => Some(name.as_str()),
            _ => None,
        })
    };
    match known.keys().find(|name| names().all(|asked| asked != name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let all: Vec<&str> = names().collect();
            let all = if all.is_empty() { "it has none".into() } else { all.join(", ") };
            let help = near::did_you_mean(name, names());
            Err(Failure::new(format!("`{}` refers to no list `{name}`", contract.name))
                .help(help.unwrap_or_else(|| format!("its lists of the host: {all}"))))
        }
    }
}

fn json_file(path: &Path) -> Result<Json, Failure> {
    let text = files::read_text(path).map_err(|why| files::unreadable(path, &why))?;
    Json::parse(&text)
        .map_err(|error| Failure::new(format!("`{}` is not JSON: {error}", files::display(path))))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() != "-" {
        let file = std::fs::File::open(path).map_err(|error| reason(&error));
        let read = file.and_then(|file| files::read_bounded(file, MAX_TEXT));
        return read.map_err(|why| files::unreadable(path, &why));
    }
    files::read_bounded(std::io::stdin().lock(), MAX_TEXT)
        .map_err(|why| Failure::new(format!("cannot read standard input: {why}")))
}
