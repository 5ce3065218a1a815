//! The table of pure builtin functions, with one row per function: name, type, evaluation and
//! documentation.
//!
//! The compiler takes the types of calls from this table, the kernel and the reference evaluator
//! evaluate with it, and the reference documentation is generated from it. Functions that read the
//! history or the world are not included.

mod commands;
mod eval;
pub(crate) mod extract;
mod mention;

pub use commands::{MAX_COMMANDS, MAX_WORDS, SIMPLE_COMMAND, commands_of};
pub use eval::{MAX_JOINED, contains_text};
pub use extract::unreadable::{is_hidden, is_unreadable};
pub use mention::{
    MAX_SAID, hear, is_code_mentioned, is_date_mentioned, is_mentioned, is_number_mentioned,
};

use crate::value::{Fault, Value};
use serde::{Deserialize, Serialize};

/// A builtin function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the table documents each")]
pub enum Builtin {
    Len,
    Min,
    Max,
    Abs,
    Lower,
    Upper,
    Trim,
    StartsWith,
    EndsWith,
    Glob,
    FileName,
    Extension,
    Parent,
    EmailDomain,
    VersionAtLeast,
    Decimal,
    Floor,
    Round,
    Emails,
    Urls,
    Hosts,
    Paths,
    Ibans,
    Phones,
    Numbers,
    Dates,
    Quoted,
    Names,
    Joined,
    Commands,
    Mentions,
    Links,
    Words,
    Split,
    Concat,
    EmailLocal,
    Text,
    Path,
    Number,
    MentionsDate,
    MentionsNumber,
    MentionsCode,
}

/// The kind of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// `string`.
    String,
    /// `path`.
    Path,
    /// `command`.
    Command,
    /// `int`.
    Int,
    /// `decimal`.
    Decimal,
    /// `int`, `decimal` or `duration`; all such arguments of a call have one type.
    Number,
    /// `int`, `decimal`, `duration` or `time`; all such arguments of a call have one type.
    Ordered,
    /// `string`, any collection, or `json`.
    Measurable,
    /// `string` or `json`.
    Text,
    /// A list or a set; all such arguments of a call are of one kind.
    Elements,
    /// `path`, `url`, `int`, `decimal`, `bool` or an enum: types whose values have exactly one
    /// text.
    Shown,
    /// The words of the session's prompts. The compiler adds this argument; a guard does not write
    /// it.
    Said,
    /// The workspace. The compiler adds this argument.
    Workspace,
    /// The names of an enum's variants, in order, as a list; empty for another type. The compiler
    /// adds this argument.
    Variants,
}

/// The kind of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnKind {
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `decimal`.
    Decimal,
    /// `string`.
    String,
    /// `string?`.
    OptionalString,
    /// `path`.
    Path,
    /// `path?`.
    OptionalPath,
    /// `decimal?`.
    OptionalDecimal,
    /// The type of the first argument.
    Same,
    /// `list<string>`.
    Strings,
    /// `list<SimpleCommand>`.
    Commands,
}

/// One row of the table.
pub struct BuiltinRow {
    /// The function.
    pub builtin: Builtin,
    /// The name of the function.
    pub name: &'static str,
    /// The kinds of the parameters.
    pub takes: &'static [ParamKind],
    /// The kind of the result.
    pub gives: ReturnKind,
    /// The documentation, one line.
    pub doc: &'static str,
    /// The evaluation. The arguments have the kinds of `takes`.
    pub eval: fn(&[&Value]) -> Result<Value, Fault>,
}

use Builtin as B;
use ParamKind as K;

/// Every builtin, in the order of [`Builtin`].
#[rustfmt::skip]
pub const TABLE: &[BuiltinRow] = &[
    row(B::Len, "len", &[K::Measurable], ReturnKind::Int, "The number of characters of a string, of elements of a collection or of a `json` array or object; of other `json` 0.", eval::len),
    row(B::Min, "min", &[K::Ordered, K::Ordered], ReturnKind::Same, "The lesser of two values.", eval::min),
    row(B::Max, "max", &[K::Ordered, K::Ordered], ReturnKind::Same, "The greater of two values.", eval::max),
    row(B::Abs, "abs", &[K::Number], ReturnKind::Same, "The size of a number, without its sign.", eval::abs),
    row(B::Lower, "lower", &[K::String], ReturnKind::String, "The string in lower case.", eval::lower),
    row(B::Upper, "upper", &[K::String], ReturnKind::String, "The string in upper case.", eval::upper),
    row(B::Trim, "trim", &[K::String], ReturnKind::String, "The string without whitespace at its start and end.", eval::trim),
    row(B::StartsWith, "starts_with", &[K::String, K::String], ReturnKind::Bool, "Whether the first string begins with the second, which is not empty.", eval::starts_with),
    row(B::EndsWith, "ends_with", &[K::String, K::String], ReturnKind::Bool, "Whether the first string ends with the second, which is not empty.", eval::ends_with),
    row(B::Glob, "glob", &[K::String, K::String], ReturnKind::Bool, "Whether the whole string matches the pattern: `*` is any run without `/`, `**` any run, `?` one character but `/`.", eval::glob),
    row(B::FileName, "file_name", &[K::Path], ReturnKind::String, "The last component of the path.", eval::file_name),
    row(B::Extension, "extension", &[K::Path], ReturnKind::OptionalString, "The text after the last dot of the file name; none if there is no text after it or before it.", eval::extension),
    row(B::Parent, "parent", &[K::Path], ReturnKind::Path, "The path without its last component; the parent of `/` is `/`.", eval::parent),
    row(B::EmailDomain, "email_domain", &[K::String], ReturnKind::OptionalString, "The domain of an e-mail address in lower case; none for any other text.", eval::email_domain),
    row(B::VersionAtLeast, "version_at_least", &[K::String, K::String], ReturnKind::Bool, "Whether the first version is the second or later, by dotted numbers; a pre-release (`1.0-rc1`) comes before its release. False for a text that is not a version.", eval::version_at_least),
    row(B::Decimal, "decimal", &[K::Int], ReturnKind::Decimal, "The int as a decimal.", eval::decimal),
    row(B::Floor, "floor", &[K::Decimal], ReturnKind::Int, "The greatest int that is not greater.", eval::floor),
    row(B::Round, "round", &[K::Decimal], ReturnKind::Int, "The nearest int, halves to even.", eval::round),
    row(B::Emails, "emails", &[K::Text], ReturnKind::Strings, "The e-mail addresses in the text, as written; unreadable ones too.", |a| eval::extracted(a, extract::emails)),
    row(B::Urls, "urls", &[K::Text], ReturnKind::Strings, "The urls in the text, scheme and host in lower case; unreadable links too.", |a| eval::extracted(a, extract::urls)),
    row(B::Hosts, "hosts", &[K::Text], ReturnKind::Strings, "The hosts of the urls in the text, in lower case; unreadable links too.", |a| eval::extracted(a, extract::hosts)),
    row(B::Paths, "paths", &[K::Text], ReturnKind::Strings, "The words of the text with a slash or a file extension, as written; unreadable ones too, no urls.", |a| eval::extracted(a, extract::paths)),
    row(B::Ibans, "ibans", &[K::Text], ReturnKind::Strings, "The bank account numbers in the text whose check digits are right, without whitespace.", |a| eval::extracted(a, extract::ibans)),
    row(B::Phones, "phones", &[K::Text], ReturnKind::Strings, "The phone numbers in the text that begin with `+` or `0` and have 7 to 15 digits, without separators.", |a| eval::extracted(a, extract::phones)),
    row(B::Numbers, "numbers", &[K::Text], ReturnKind::Strings, "The numbers in the text, in order and with repetitions, as written, without the marks of thousands (`1,234.50`). Digits that other marks tie together (`1.234,50`, `10:30`, `3/4`) are left out. A unit of size, length, mass, time or money of two letters and more may follow at once (`2GB`, `10usd`, `5min`); with other letters (`10k`, `5G`, `L2`, `50bucks`) it is not a number.", |a| eval::sequence(a, extract::numbers)),
    row(B::Dates, "dates", &[K::Text], ReturnKind::Strings, "The valid dates `YYYY-MM-DD` in the text.", |a| eval::extracted(a, extract::dates)),
    row(B::Quoted, "quoted", &[K::Text], ReturnKind::Strings, "The texts in `\"…\"`, `“…”`, `«…»` or backticks in the text.", |a| eval::extracted(a, extract::quoted)),
    row(B::Names, "names", &[K::Text], ReturnKind::Strings, "The runs of capitalised words within a line of the text; a lone one that begins a sentence is not taken.", |a| eval::extracted(a, extract::names)),
    row(B::Joined, "joined", &[K::Elements, K::Elements], ReturnKind::Same, "The elements of two lists, those of the first before those of the second; or of two sets.", eval::joined),
    row(B::Commands, "commands", &[K::Command, K::Path], ReturnKind::Commands, "The simple commands that a shell in the folder could run for the text, in order; without a folder, in the workspace.", commands::commands),
    row(B::Mentions, "mentions", &[K::String, K::Said], ReturnKind::Bool, "Whether the user named this: its words, in any case and with any separators, are adjacent in one of the session's prompts.", |a| mention::asked(a, is_mentioned)),
    row(B::Links, "links", &[K::Text], ReturnKind::Strings, "The links that a reader of the text could follow, without `http://` or `https://`: `www.a.org` and `https://www.a.org/` are one; unreadable links too.", |a| eval::extracted(a, extract::links)),
    row(B::Words, "words", &[K::Text], ReturnKind::Strings, "The words of the text in lower case, in order and with repetitions: runs of letters and digits, as `mentions` compares them.", |a| eval::sequence(a, extract::words)),
    row(B::Split, "split", &[K::String, K::String], ReturnKind::Strings, "The pieces of the first string between the occurrences of the second, unchanged; one piece if the second is empty.", eval::split),
    row(B::Concat, "+", &[K::String, K::String], ReturnKind::String, "The first string followed by the second; a fault if the result is longer than 1 MiB.", eval::concat),
    row(B::EmailLocal, "email_local", &[K::String], ReturnKind::OptionalString, "The part of an e-mail address before the `@`, as written; none for any other text.", eval::email_local),
    row(B::Text, "text", &[K::Shown, K::Variants], ReturnKind::String, "The value as messages show it, whole: a path as normalised, a decimal without needless zeros, a variant by its name.", eval::shown),
    row(B::Path, "path", &[K::String, K::Workspace], ReturnKind::OptionalPath, "The path of an argument with this text; none if the argument would be refused or the text contains something unreadable.", eval::read_path),
    row(B::Number, "number", &[K::String], ReturnKind::OptionalDecimal, "The decimal that the text writes in digits, as JSON writes numbers, also with needless zeros (`007`, `1.`); none for any other text, and for more than six decimal places.", eval::number),
    row(B::MentionsDate, "mentions_date", &[K::String, K::Said], ReturnKind::Bool, "Whether a prompt of the session names the day `YYYY-MM-DD`, in digits or in words; a day without a year is that day of every year.", |a| mention::asked(a, is_date_mentioned)),
    row(B::MentionsNumber, "mentions_number", &[K::Decimal, K::Said], ReturnKind::Bool, "Whether a prompt of the session names the number, in digits or in words.", mention::mentions_number),
    row(B::MentionsCode, "mentions_code", &[K::String, K::Said], ReturnKind::Bool, "Whether a prompt of the session names the code, whatever divides it: `4111 1111-1111 1111` is `4111111111111111`.", |a| mention::asked(a, is_code_mentioned)),
];

const fn row(
    builtin: Builtin,
    name: &'static str,
    takes: &'static [ParamKind],
    gives: ReturnKind,
    doc: &'static str,
    eval: fn(&[&Value]) -> Result<Value, Fault>,
) -> BuiltinRow {
    BuiltinRow { builtin, name, takes, gives, doc, eval }
}

impl ParamKind {
    /// Returns true for an argument that a guard writes. The compiler adds the others.
    pub fn is_written(self) -> bool {
        !matches!(self, ParamKind::Said | ParamKind::Workspace | ParamKind::Variants)
    }
}

impl ReturnKind {
    /// Returns true if the result may be missing.
    pub fn is_optional(self) -> bool {
        matches!(
            self,
            ReturnKind::OptionalString | ReturnKind::OptionalPath | ReturnKind::OptionalDecimal
        )
    }
}

impl BuiltinRow {
    /// Returns the number of arguments that a guard writes. They come first.
    pub fn written(&self) -> usize {
        self.takes.iter().filter(|kind| kind.is_written()).count()
    }

    /// Returns true if a guard calls the builtin by its name. Other builtins are operators.
    pub fn is_function(&self) -> bool {
        self.name.starts_with(|c: char| c.is_ascii_alphabetic())
    }
}

impl Builtin {
    /// Returns true if the builtin extracts strings from one text.
    pub fn is_extractor(self) -> bool {
        let row = self.row();
        matches!((row.takes, row.gives), ([ParamKind::Text], ReturnKind::Strings))
    }

    /// Returns the row of the builtin.
    pub fn row(self) -> &'static BuiltinRow {
        &TABLE[self as usize]
    }

    /// Returns the builtin with this name.
    pub fn by_name(name: &str) -> Option<Builtin> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.builtin)
    }

    /// Evaluates the builtin. Arguments of other kinds, which a checked guard never passes, are a
    /// fault.
    ///
    /// # Errors
    ///
    /// Returns the fault of the evaluation.
    pub fn eval(self, arguments: &[&Value]) -> Result<Value, Fault> {
        let row = self.row();
        if arguments.len() != row.takes.len() {
            return Err(eval::confused());
        }
        // A predicate on a missing text is false.
        if row.gives == ReturnKind::Bool && arguments.contains(&&Value::None) {
            return Ok(Value::Bool(false));
        }
        (row.eval)(arguments)
    }
}

#[cfg(test)]
mod tests;
