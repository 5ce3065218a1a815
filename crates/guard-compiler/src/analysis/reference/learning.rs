//! Learning: the facts that are taught, and the lessons that teach them (semantics §4.5 and §8).

use super::eval::Env;
use super::parts::{Endorsements, set};
use super::values::rows;
use super::{Answerer, Misuse, ReferenceSession, origins};
use crate::hir::{Clause, ClauseKind, Expr, Learn, Program, RuleMeta, Source, Tool, Type};
use crate::lower::lessons;
use crate::types::trust::Reliance;
use guard_plan::builtin::hear;
use guard_plan::json::Json;
use guard_plan::plan::{SourceKind, Trust};
use guard_plan::record::NoteKind;
use guard_plan::value::{Fault, Value};
use std::borrow::Cow;
use std::rc::Rc;

/// The conditions of which one must hold for a row, each with the slots that it shares with the
/// lesson: the slot of the condition, and the slot of the lesson.
type Alternatives<'l> = Vec<(Option<&'l Expr>, Vec<(u32, u32)>)>;

/// A lesson: its rule, what it teaches, and the conditions under which this is trusted.
type Lesson<'l> = (&'l RuleMeta, &'l Learn, Vec<Alternatives<'l>>);

/// The lessons of each tool and source by position, in the order in which they teach.
pub(super) struct Lessons {
    /// The clauses of each tool.
    of_tools: Vec<Vec<usize>>,
    /// The lessons of each source.
    of_sources: Vec<Vec<usize>>,
}

impl Lessons {
    pub(super) fn new(program: &Program) -> Self {
        let of_tool = |tool: &Tool| {
            let is_lesson = |at: &usize| tool.clauses[*at].lesson().is_some();
            let places: Vec<usize> = (0..tool.clauses.len()).filter(is_lesson).collect();
            let lessons = tool.clauses.iter().filter_map(Clause::lesson);
            let order = lessons::order(program, Some(tool), lessons);
            order.into_iter().map(|at| places[at]).collect()
        };
        let of_source = |source: &Source| {
            lessons::order(program, None, source.learns.iter().map(|(rule, learn)| (rule, learn)))
        };
        Lessons {
            of_tools: program.tools.iter().map(of_tool).collect(),
            of_sources: program.sources.iter().map(of_source).collect(),
        }
    }
}

/// The rows of a fact.
#[derive(Clone, Default)]
pub(super) struct FactTable {
    rows: Vec<TaughtRow>,
    /// The total number of rows that were ever added.
    came: u64,
}

#[derive(Clone)]
struct TaughtRow {
    number: u64,
    values: Vec<Value>,
    by: String,
}

impl FactTable {
    /// Returns the rows, oldest first.
    pub(super) fn values(&self) -> impl Iterator<Item = &[Value]> {
        self.rows.iter().map(|row| row.values.as_slice())
    }

    /// Returns the row that begins with these columns.
    pub(super) fn with(&self, key: &[Value]) -> Option<&Vec<Value>> {
        self.rows.iter().map(|row| &row.values).find(|values| values[..key.len()] == key[..])
    }
}

impl ReferenceSession<'_> {
    /// Returns the rows of every fact: the name of the fact, and for each row its number, its
    /// teacher and its JSON.
    pub fn facts(&self) -> impl Iterator<Item = (&str, Vec<(u64, String, Json)>)> {
        self.program.facts.iter().zip(&self.facts).map(|(fact, table)| {
            let ty = self.read.tables.ty(&Type::Record(fact.row));
            let json = |row: &TaughtRow| {
                let record = Value::Record(row.values.clone());
                let json = guard_plan::render::to_json_redacted(
                    &self.read.types,
                    ty,
                    &record,
                    &mut |_| Json::string(guard_plan::render::SECRET),
                );
                (row.number, row.by.clone(), json)
            };
            (fact.name.as_str(), table.rows.iter().map(json).collect())
        })
    }

    /// Learns from the start value that the host provides. The value is seen as trusted.
    pub(super) fn begin(&mut self, data: Option<&Json>) {
        let Some(data) = data else { return };
        let result = Value::Json(Box::new(data.clone()));
        self.source(SourceKind::Start, &result, "start", &|_| None);
        let all = Trust { whole: true, parts: Vec::new() };
        self.see_result(data, &all, &Endorsements::default());
        self.outcome = Default::default();
    }

    /// Records a prompt of the user.
    ///
    /// # Errors
    ///
    /// Never fails. Every event of the reference evaluator returns a `Result`.
    pub fn prompt(
        &mut self,
        text: &str,
        now: i64,
        world: Answerer,
    ) -> Result<super::EventEffects, Misuse> {
        self.advance(now);
        self.prompts += 1;
        let by = format!("prompt {}", self.prompts);
        self.source(SourceKind::Prompt, &Value::String(text.into()), &by, world);
        self.see_text(text, origins::PROMPT);
        if self.read.tables.mentions {
            hear(&mut self.said, text);
        }
        if self.read.tables.confidential
            && !guard_plan::disclosure::hear(&mut self.privates.told, text)
        {
            self.outcome.note(NoteKind::Warning, "may_read");
        }
        self.keep_answers();
        Ok(std::mem::take(&mut self.outcome))
    }

    fn source(&mut self, kind: SourceKind, said: &Value, by: &str, world: Answerer) {
        let read = self.read.clone();
        let sources = self.program.sources.iter().zip(&read.lessons.of_sources);
        let lessons =
            sources.filter(|(source, _)| source.kind == kind).flat_map(|(source, order)| {
                order.iter().map(|at| {
                    let (rule, learn) = &source.learns[*at];
                    (rule, learn, Vec::new())
                })
            });
        self.learn(lessons, &[], said, by, world);
    }

    /// Learns from the result of a call.
    pub(super) fn learn_from(
        &mut self,
        tool: &Tool,
        args: &[Value],
        result: &Value,
        by: &str,
        world: Answerer,
    ) {
        let Some(at) = self.program.tools.iter().position(|known| std::ptr::eq(known, tool)) else {
            return;
        };
        let read = self.read.clone();
        let mut learns = Vec::new();
        for clause in read.lessons.of_tools[at].iter().map(|at| &tool.clauses[*at]) {
            let ClauseKind::Learn(learn) = &clause.kind else { continue };
            let Some(reliances) = self.trust.may_teach(at, learn) else {
                self.outcome.note(NoteKind::Warning, &clause.rule.owner);
                continue;
            };
            let condition = |reliance: Reliance| match &tool.clauses[reliance.clause].kind {
                ClauseKind::Endorse { when, .. } => (when.as_ref(), reliance.slots),
                _ => (None, Vec::new()),
            };
            let conditions =
                reliances.into_iter().map(|any| any.into_iter().map(condition).collect()).collect();
            learns.push((&clause.rule, learn, conditions));
        }
        self.learn(learns.into_iter(), args, result, by, world);
    }

    fn learn<'l>(
        &mut self,
        learns: impl Iterator<Item = Lesson<'l>>,
        args: &[Value],
        result: &Value,
        by: &str,
        world: Answerer,
    ) {
        let mut lessons = Vec::new();
        for (rule, learn, conditions) in learns {
            let env = Env { args, result: Some(result), ..Env::new(&self.state, world) };
            let mut taught = Vec::new();
            let mut whole = true;
            for locals in self.bindings(learn, env, &mut whole) {
                let env = Env { locals: &locals, ..env };
                whole &= self.learned_rows(learn, &conditions, env, &mut taught);
            }
            if !whole {
                self.outcome.note(NoteKind::Warning, &rule.owner);
            }
            if !rule.shadow {
                lessons.push((rule, learn.fact, taught));
            }
        }
        for (rule, fact, taught) in lessons {
            for row in taught {
                self.teach(&rule.owner, fact, row, by);
            }
        }
    }

    /// Returns the bindings of the ranges, one element for each row. `whole` becomes false if a
    /// collection cannot be computed.
    fn bindings(&self, learn: &Learn, env: Env, whole: &mut bool) -> Vec<Vec<Value>> {
        let mut bound: Vec<Vec<Value>> = vec![Vec::new()];
        for range in &learn.ranges {
            let mut inner = Vec::new();
            for outer in bound {
                let Ok(source) = self.eval(&range.over, Env { locals: &outer, ..env }) else {
                    *whole = false;
                    continue;
                };
                if source == Value::None {
                    continue;
                }
                let Ok(rows) = rows(&[Cow::Owned(source)], range.binders.len()) else {
                    *whole = false;
                    continue;
                };
                for row in rows {
                    let mut locals = outer.clone();
                    for (slot, value) in range.binders.iter().zip(row) {
                        set(&mut locals, *slot, value);
                    }
                    inner.push(locals);
                }
            }
            bound = inner;
        }
        bound
    }

    /// Adds the rows that are taught. Returns false if one cannot be computed or does not fit.
    fn learned_rows(
        &self,
        learn: &Learn,
        conditions: &[Alternatives],
        env: Env,
        taught: &mut Vec<Vec<Value>>,
    ) -> bool {
        let wanted = learn.when.as_ref().map_or(Ok(true), |when| self.holds(when, env));
        match wanted.and_then(|wanted| Ok(wanted && self.is_trusted(conditions, env)?)) {
            Ok(true) => {}
            Ok(false) => return true,
            Err(_) => return false,
        }
        let columns = &self.program.records[self.program.facts[learn.fact].row].fields;
        let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
        for (e, column) in learn.row.iter().zip(columns) {
            let Ok(value) = self.eval(e, env) else { return false };
            let single =
                !matches!(column.ty.required(), Type::List(..) | Type::Set(..) | Type::Json);
            let many = match value {
                Value::List(items) if single => items,
                Value::Set(items) if single => items.into_iter().collect(),
                Value::Json(json) if single => match *json {
                    Json::Array(items) => {
                        items.into_iter().map(|item| Value::Json(Box::new(item))).collect()
                    }
                    other => vec![Value::Json(Box::new(other))],
                },
                value => vec![value],
            };
            // A single value that does not fit makes the whole lesson invalid.
            let typed: Option<Vec<Value>> = many
                .into_iter()
                .filter(|value| !is_unreadable(value))
                .map(|value| self.as_typed(value, &column.ty).ok())
                .map(|value| value.filter(|value| self.fits(&column.ty, value)))
                .collect();
            let Some(typed) = typed else { return false };
            rows = rows
                .iter()
                .flat_map(|row| {
                    typed.iter().map(|v| [row.as_slice(), std::slice::from_ref(v)].concat())
                })
                .collect();
        }
        taught.extend(rows);
        true
    }

    /// Returns true if for each list of conditions at least one holds for the elements of a row.
    fn is_trusted(&self, conditions: &[Alternatives], env: Env) -> Result<bool, Fault> {
        for alternatives in conditions {
            let hold = alternatives.iter().map(|(when, slots)| {
                let mut locals = Vec::new();
                for (theirs, own) in slots {
                    set(&mut locals, *theirs, env.locals[*own as usize].clone());
                }
                let env = Env { locals: &locals, ..env };
                when.map_or(Ok(true), |when| self.holds(when, env))
            });
            let hold: Vec<Result<bool, Fault>> = hold.collect();
            if hold.contains(&Ok(true)) {
                continue;
            }
            return hold.into_iter().find(Result::is_err).unwrap_or(Ok(false));
        }
        Ok(true)
    }

    fn teach(&mut self, owner: &str, fact: usize, values: Vec<Value>, by: &str) {
        let def = &self.program.facts[fact];
        let table = Rc::make_mut(&mut self.facts[fact]);
        if def.max == 0 {
            return;
        }
        let same = |row: &&mut TaughtRow| row.values[..def.keys] == values[..def.keys];
        if let Some(known) = table.rows.iter_mut().find(same) {
            (known.values, known.by) = (values, by.to_string());
            self.outcome.learned += 1;
            return;
        }
        let is_full = table.rows.len() as u64 >= def.max;
        if is_full && def.halts {
            self.halted = true;
            return self.outcome.note(NoteKind::Halt, owner);
        }
        self.outcome.learned += 1;
        if is_full {
            table.rows.remove(0);
            self.outcome.forgotten += 1;
        }
        table.came += 1;
        table.rows.push(TaughtRow { number: table.came, values, by: by.to_string() });
    }

    /// Returns a value for a place of a type; `json` is decoded to the type.
    pub(super) fn as_typed(&self, value: Value, ty: &Type) -> Result<Value, Fault> {
        match value {
            Value::Json(json) if *ty.required() != Type::Json => {
                self.decode(ty, &json, true).map_err(Fault::Decode)
            }
            Value::None if !ty.is_option() => Err(Fault::Decode("a value is missing".into())),
            Value::Record(fields) => {
                let Type::Record(id) = ty.required() else { return Ok(Value::Record(fields)) };
                let declared = self.program.records[*id].fields.iter();
                let typed = fields.into_iter().zip(declared).map(|(v, f)| self.as_typed(v, &f.ty));
                Ok(Value::Record(typed.collect::<Result<_, _>>()?))
            }
            Value::List(items) => {
                let Type::List(element, _) = ty.required() else { return Ok(Value::List(items)) };
                let typed = items.into_iter().map(|item| self.as_typed(item, element));
                Ok(Value::List(typed.collect::<Result<_, _>>()?))
            }
            Value::Set(items) => {
                let Type::Set(element, _) = ty.required() else { return Ok(Value::Set(items)) };
                let typed = items.into_iter().map(|item| self.as_typed(item, element));
                Ok(Value::Set(typed.collect::<Result<_, _>>()?))
            }
            Value::Map(entries) => {
                let Type::Map(_, element, _) = ty.required() else {
                    return Ok(Value::Map(entries));
                };
                let typed =
                    entries.into_iter().map(|(key, v)| Ok((key, self.as_typed(v, element)?)));
                Ok(Value::Map(typed.collect::<Result<_, Fault>>()?))
            }
            value => Ok(value),
        }
    }
}

/// Returns true if the value stands for text that an extractor could not parse. Such a value is
/// never learned.
fn is_unreadable(value: &Value) -> bool {
    matches!(value, Value::String(text) | Value::Path(text) if guard_plan::builtin::is_unreadable(text))
}
