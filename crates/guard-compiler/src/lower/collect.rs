//! Tables: the parts that the plan stores once, in an order that is independent of the order of
//! declarations.

use super::expr;
use super::visit::{each_expr, each_requirement, each_type};
use crate::hir::{self, ClauseKind, Expr, ExprKind, MapKey, Program, Type};
use guard_plan::plan::{self, Monitor, SuccessIndex, TypeDef, TypeId, Window, WindowSize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The assumed maximum number of elements of a collection without a declared bound, so that every
/// iteration is bounded.
const DEFAULT_ELEMENTS: u64 = 10_000;

/// The mapping between declarations and the order of the plan.
pub(crate) struct Sorted {
    /// The declaration, by position in the plan.
    pub order: Vec<usize>,
    /// The position in the plan, by declaration.
    position: Vec<u32>,
}

impl Sorted {
    fn by<K: Ord>(count: usize, key: impl Fn(usize) -> K) -> Self {
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_cached_key(|at| key(*at));
        let mut position = vec![0; count];
        for (at, declared) in order.iter().enumerate() {
            position[*declared] = at as u32;
        }
        Sorted { order, position }
    }

    /// Lowers every declaration, in the order of the plan.
    pub fn lowered<T>(&self, lower: impl Fn(usize) -> T) -> Vec<T> {
        self.order.iter().map(|at| lower(*at)).collect()
    }

    /// Returns the position of a declaration in the plan.
    pub fn id(&self, declared: usize) -> u32 {
        self.position[declared]
    }
}

/// The tables that expressions refer to by index.
pub(crate) struct Tables<'p> {
    program: &'p Program,
    pub state: Sorted,
    pub units: Sorted,
    pub facts: Sorted,
    pub probes: Sorted,
    pub invariants: Sorted,
    pub tools: Sorted,
    pub limits: Sorted,
    pub lifecycles: Sorted,
    pub attests: Sorted,
    pub contracts: Sorted,
    pub commands: BTreeSet<hir::Command>,
    /// True if a rule reads the origin of a value.
    pub origins: bool,
    /// True if a rule asks what the user named.
    pub mentions: bool,
    /// True if a rule asks who may read a text.
    pub confidential: bool,
    pub regexes: BTreeSet<Arc<str>>,
    pub paths: BTreeSet<String>,
    pub monitors: BTreeMap<String, Monitor>,
    pub indexes: Vec<SuccessIndex>,
    pub windows: Vec<Window>,
    /// The tools (by declaration) whose last arguments are read, and those whose last results are
    /// read.
    pub keeps_args: BTreeSet<usize>,
    pub keeps_result: BTreeSet<usize>,
    types: HashMap<String, TypeId>,
    /// The index by type, for types in the form in which they were collected.
    collected: HashMap<Type, TypeId>,
    rows: Vec<TypeDef>,
    /// The position of each collected entry in its table.
    places: TablePlaces,
}

/// Positions in the sorted tables, for look-ups in constant time.
#[derive(Default)]
struct TablePlaces {
    regexes: HashMap<Arc<str>, u32>,
    paths: HashMap<String, u32>,
    monitors: HashMap<String, u32>,
    indexes: HashMap<(u32, Vec<u32>), u32>,
    windows: HashMap<Window, u32>,
    commands: HashMap<hir::Command, u32>,
}

fn numbered<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> HashMap<K, u32> {
    keys.zip(0..).collect()
}

impl<'p> Tables<'p> {
    pub fn collect(program: &'p Program) -> Self {
        let p = program;
        let mut tables = Tables {
            program,
            state: Sorted::by(p.state.len(), |at| p.state[at].name.clone()),
            units: Sorted::by(p.units.len(), |at| p.units[at].name.clone()),
            facts: Sorted::by(p.facts.len(), |at| p.facts[at].name.clone()),
            probes: Sorted::by(p.probes.len(), |at| p.probes[at].name.clone()),
            invariants: Sorted::by(p.invariants.len(), |at| p.invariants[at].rule.owner.clone()),
            tools: Sorted::by(p.tools.len(), |at| p.tools[at].name.clone()),
            // The keys of limits refer to the other tables, so limits are sorted last.
            limits: Sorted::by(0, |_| 0),
            lifecycles: Sorted::by(p.lifecycles.len(), |at| p.lifecycles[at].name.clone()),
            attests: Sorted::by(p.attests.len(), |at| p.attests[at].name.clone()),
            contracts: Sorted::by(p.contracts.len(), |at| p.contracts[at].name.clone()),
            commands: BTreeSet::new(),
            origins: false,
            mentions: false,
            confidential: false,
            regexes: BTreeSet::new(),
            paths: BTreeSet::new(),
            monitors: BTreeMap::new(),
            indexes: Vec::new(),
            windows: Vec::new(),
            keeps_args: BTreeSet::new(),
            keeps_result: BTreeSet::new(),
            types: HashMap::new(),
            collected: HashMap::new(),
            rows: Vec::new(),
            places: TablePlaces::default(),
        };
        tables.questions();
        tables.intern_types();
        // The operands of monitors may name types.
        tables.monitors();
        tables.sort_limits();
        tables
    }

    pub fn program_state_name(&self, var: hir::VarId) -> String {
        self.program.state[var].name.clone()
    }

    /// Returns the states of a lifecycle, sorted by name.
    pub fn states(&self, lifecycle: &hir::Lifecycle) -> Sorted {
        Sorted::by(lifecycle.states.len(), |at| lifecycle.states[at].clone())
    }

    /// Returns the transitions of a lifecycle, sorted by name.
    pub fn transitions(&self, lifecycle: &hir::Lifecycle) -> Sorted {
        Sorted::by(lifecycle.transitions.len(), |at| lifecycle.transitions[at].name.clone())
    }

    fn questions(&mut self) {
        let mut indexes: BTreeSet<(u32, Vec<u32>)> = BTreeSet::new();
        let mut windows: BTreeSet<(u32, bool, WindowSize)> = BTreeSet::new();
        let program = self.program;
        each_requirement(program, &mut |r| {
            if !r.key.is_empty() {
                indexes.insert((self.tools.id(r.tool), r.key.iter().map(|(p, _)| *p).collect()));
            }
        });
        each_expr(program, &mut |root| {
            root.walk(&mut |e| match &e.kind {
                ExprKind::Matches(_, pattern) => {
                    self.regexes.insert(pattern.clone());
                }
                ExprKind::Path(path) => {
                    self.paths.insert(path.clone());
                }
                ExprKind::Called { tool, key, .. } if !key.is_empty() => {
                    indexes.insert((self.tools.id(*tool), key.iter().map(|(p, _)| *p).collect()));
                }
                ExprKind::Calls { tool, failures, recent: Some(size) } => {
                    windows.insert((self.tools.id(*tool), *failures, *size));
                }
                ExprKind::LastArg(tool, _) => {
                    self.keeps_args.insert(*tool);
                }
                ExprKind::LastResult(tool) => {
                    self.keeps_result.insert(*tool);
                }
                ExprKind::Origin(_) | ExprKind::Seen(_) => self.origins = true,
                ExprKind::Said => self.mentions = true,
                ExprKind::MayRead(..) => self.confidential = true,
                _ => {}
            });
        });
        each_type(program, &mut |ty| patterns(ty, &mut self.regexes));
        self.named_outside(program);
        self.places.commands = numbered(self.commands.iter().cloned());
        self.places.regexes = numbered(self.regexes.iter().cloned());
        self.places.paths = numbered(self.paths.iter().cloned());
        self.places.indexes = numbered(indexes.iter().cloned());
        self.indexes =
            indexes.into_iter().map(|(tool, params)| SuccessIndex { tool, params }).collect();
        self.windows = windows
            .into_iter()
            .map(|(tool, failures, size)| Window { tool, failures, size })
            .collect();
        self.places.windows = numbered(self.windows.iter().cloned());
    }

    /// Collects the files and commands in triggers, checks and probes.
    fn named_outside(&mut self, program: &Program) {
        for trigger in program.feedback.iter().flat_map(|f| &f.triggers) {
            if let hir::Trigger::Created(path) = trigger {
                self.paths.insert(path.clone());
            }
        }
        for probe in &program.probes {
            if let hir::ProbeAsks::File(path) = &probe.asks {
                self.paths.insert(path.clone());
            }
        }
        program.each_command(&mut |command| _ = self.commands.insert(command.clone()));
        program.each_check(&mut |check| match &check.kind {
            hir::CheckKind::File(path)
            | hir::CheckKind::Contains(path, _)
            | hir::CheckKind::Conforms(path, _) => _ = self.paths.insert(path.clone()),
            _ => {}
        });
    }

    /// Returns the index of a collected command.
    pub fn command(&self, command: &hir::Command) -> u32 {
        place(&self.places.commands, command)
    }

    fn monitors(&mut self) {
        let mut found: BTreeMap<String, Monitor> = BTreeMap::new();
        each_expr(self.program, &mut |root| {
            root.walk(&mut |e| {
                if let ExprKind::Temporal(op, operand, trigger) = &e.kind {
                    let monitor = expr::monitor(self, *op, operand, trigger.as_deref());
                    found.insert(format!("{monitor:?}"), monitor);
                }
            });
        });
        self.places.monitors = numbered(found.keys().cloned());
        self.monitors = found;
    }

    /// Returns the index of a collected monitor.
    pub fn monitor(&self, monitor: &Monitor) -> u32 {
        place(&self.places.monitors, &format!("{monitor:?}"))
    }

    /// Returns the index of a collected regular expression.
    pub fn regex(&self, pattern: &str) -> u32 {
        place(&self.places.regexes, pattern)
    }

    /// Returns the index of a collected path.
    pub fn path(&self, path: &str) -> u32 {
        place(&self.places.paths, path)
    }

    /// Returns the index of the memory for these parameters of a tool.
    pub fn index(&self, tool: hir::ToolId, key: &[(u32, Expr)]) -> u32 {
        let wanted = (self.tools.id(tool), key.iter().map(|(p, _)| *p).collect());
        place(&self.places.indexes, &wanted)
    }

    /// Returns the index of the memory for the recent calls of a tool.
    pub fn window(&self, tool: hir::ToolId, failures: bool, size: WindowSize) -> u32 {
        place(&self.places.windows, &Window { tool: self.tools.id(tool), failures, size })
    }

    fn intern_types(&mut self) {
        let mut all: BTreeMap<String, Type> = BTreeMap::new();
        let program = self.program;
        each_type(program, &mut |ty| {
            all.insert(self.key(ty), ty.clone());
        });
        each_expr(program, &mut |root| {
            root.walk(&mut |e| {
                let plain = plain(&e.ty);
                all.insert(self.key(&plain), plain);
            });
        });
        for ty in all.values() {
            self.intern(ty);
        }
    }

    fn intern(&mut self, ty: &Type) -> TypeId {
        if let Some(id) = self.collected.get(ty) {
            return *id;
        }
        let id = self.intern_by_name(ty);
        self.collected.insert(ty.clone(), id);
        id
    }

    fn intern_by_name(&mut self, ty: &Type) -> TypeId {
        let key = self.key(ty);
        if let Some(id) = self.types.get(&key) {
            return *id;
        }
        let bounded = |max: &Option<u64>| Some(max.unwrap_or(DEFAULT_ELEMENTS));
        let row = match ty {
            // No value has the type `Never` or `Error`, so any row serves.
            Type::Bool | Type::Never | Type::Error => TypeDef::Bool,
            Type::Int(min, max) => TypeDef::Int { min: *min, max: *max },
            Type::Decimal(min, max) => TypeDef::Decimal { min: *min, max: *max },
            Type::String(bounds) => TypeDef::String {
                max_chars: bounds.max_chars,
                max_bytes: bounds.max_bytes,
                patterns: bounds.patterns.iter().map(|p| self.regex(p)).collect(),
            },
            Type::Path => TypeDef::Path,
            Type::Url => TypeDef::Url,
            Type::Command => TypeDef::Command,
            Type::Duration(min, max) => TypeDef::Duration { min: *min, max: *max },
            Type::Time(format) => TypeDef::Time { format: format.as_ref().map(|f| f.to_string()) },
            Type::Json => TypeDef::Json,
            Type::Enum(id) => {
                let def = &self.program.enums[*id];
                TypeDef::Enum { name: def.name.clone(), variants: def.variants.clone() }
            }
            Type::Record(id) => {
                let def = &self.program.records[*id];
                if let Some(union) = &def.union {
                    return self.union(key, &def.name, union);
                }
                let fields = def.fields.iter().map(|f| self.field(f)).collect();
                TypeDef::Record { name: def.name.clone(), fields }
            }
            Type::List(element, max) => {
                TypeDef::List { of: self.intern(element), max: bounded(max) }
            }
            Type::Set(element, max) => TypeDef::Set { of: self.intern(element), max: bounded(max) },
            Type::Map(key, value, max) => {
                let key = (*key != MapKey::Text).then(|| self.intern(&key.ty()));
                TypeDef::Map { key, of: self.intern(value), max: bounded(max) }
            }
            Type::Option(inner) => TypeDef::Option { of: self.intern(inner) },
        };
        self.push(key, row)
    }

    fn push(&mut self, key: String, row: TypeDef) -> TypeId {
        let id = self.rows.len() as TypeId;
        self.rows.push(row);
        self.types.insert(key, id);
        id
    }

    fn union(&mut self, key: String, name: &str, union: &hir::Union) -> TypeId {
        let case = |(tag, record): &(String, usize)| plan::UnionCase {
            tag: tag.clone(),
            ty: self.intern(&Type::Record(*record)),
        };
        let cases = union.cases.iter().map(case).collect();
        self.push(key, TypeDef::Union { name: name.into(), tag: union.tag.clone(), cases })
    }

    fn field(&mut self, field: &hir::Field) -> plan::Field {
        let ty = self.intern(&field.ty);
        let name = field.wire.clone();
        let doc = field.doc.clone();
        plan::Field { name, ty, secret: field.secret, doc }
    }

    /// Returns a complete name of a type, independent of the order of declarations.
    fn key(&self, ty: &Type) -> String {
        match ty {
            Type::Enum(id) => format!("enum {}", self.program.enums[*id].name),
            Type::Record(id) => format!("record {}", self.program.records[*id].name),
            Type::List(element, max) => format!("list<{}> {max:?}", self.key(element)),
            Type::Set(element, max) => format!("set<{}> {max:?}", self.key(element)),
            Type::Map(MapKey::Text, value, max) => format!("map<{}> {max:?}", self.key(value)),
            Type::Map(key, value, max) => {
                format!("map<{}, {}> {max:?}", self.key(&key.ty()), self.key(value))
            }
            Type::Option(inner) => format!("{}?", self.key(inner)),
            Type::Never | Type::Error => "Bool".into(),
            plain => format!("{plain:?}"),
        }
    }

    /// Returns the index of a collected type.
    pub fn ty(&self, ty: &Type) -> TypeId {
        let known = self.collected.get(ty).or_else(|| self.types.get(&self.key(ty)));
        known.copied().unwrap_or(0)
    }

    /// Returns the fields that are also accepted in other forms, by record and field.
    pub fn coercions(&self) -> Vec<plan::Coercion> {
        let mut coercions = Vec::new();
        for (id, def) in self.program.records.iter().enumerate() {
            let Some(record) = self.types.get(&self.key(&Type::Record(id))) else { continue };
            let other = def.fields.iter().enumerate().filter(|(_, field)| !field.forms.is_own());
            coercions.extend(other.map(|(at, field)| plan::Coercion {
                record: *record,
                field: at as u32,
                forms: field.forms,
            }));
        }
        coercions.sort_by_key(|coercion| (coercion.record, coercion.field));
        coercions
    }

    /// Returns the index of a type for rendering: without refinements.
    pub fn shown_ty(&self, ty: &Type) -> TypeId {
        self.ty(&plain(ty))
    }

    /// Returns the rows of the type table.
    pub fn type_rows(&self) -> Vec<TypeDef> {
        self.rows.clone()
    }

    /// Sorts limits by owner, scope and key.
    fn sort_limits(&mut self) {
        let p = self.program;
        let mut uses: HashMap<usize, (String, String)> = HashMap::new();
        for tool in &p.tools {
            for clause in &tool.clauses {
                if let ClauseKind::Limit { limit, by } = &clause.kind {
                    let by = by
                        .as_ref()
                        .map_or_else(String::new, |by| format!("{:?}", expr::flatten(self, by)));
                    let used = (tool.name.clone(), by);
                    let least = uses.entry(*limit).or_insert_with(|| used.clone());
                    if used < *least {
                        *least = used;
                    }
                }
            }
        }
        self.limits = Sorted::by(p.limits.len(), |at| {
            let limit = &p.limits[at];
            let what = format!(
                "{:?} {} {} {} {:?} {}",
                limit.scope,
                limit.count,
                limit.success,
                limit.rule.shadow,
                limit.ask,
                limit.rule.doc
            );
            (limit.rule.owner.clone(), what, uses.get(&at).cloned())
        });
    }
}

fn place<K, Q>(places: &HashMap<K, u32>, wanted: &Q) -> u32
where
    K: std::borrow::Borrow<Q> + std::hash::Hash + Eq,
    Q: std::hash::Hash + Eq + ?Sized,
{
    places.get(wanted).copied().unwrap_or(0)
}

/// Returns the type without its refinements.
pub(crate) fn plain(ty: &Type) -> Type {
    match ty {
        Type::Int(..) => Type::int(),
        Type::Decimal(..) => Type::decimal(),
        Type::String(_) => Type::string(),
        Type::Duration(..) => Type::duration(),
        Type::Time(_) => Type::Time(None),
        Type::List(element, _) => Type::List(plain(element).into(), None),
        Type::Set(element, _) => Type::Set(plain(element).into(), None),
        Type::Map(key, value, _) => Type::Map(*key, plain(value).into(), None),
        Type::Option(inner) => Type::Option(plain(inner).into()),
        other => other.clone(),
    }
}

fn patterns(ty: &Type, out: &mut BTreeSet<Arc<str>>) {
    match ty {
        Type::String(bounds) => out.extend(bounds.patterns.iter().cloned()),
        Type::List(element, _)
        | Type::Set(element, _)
        | Type::Map(_, element, _)
        | Type::Option(element) => patterns(element, out),
        _ => {}
    }
}
