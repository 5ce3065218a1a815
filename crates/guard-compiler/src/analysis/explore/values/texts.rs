//! Texts, paths and urls worth trying.

use super::super::classes::{Class, Hint, UrlKind, ValuePlace, each_element};
use super::super::sample::{self, SampleKind};
use super::{FRESH, Maker, number, text};
use crate::hir::StringBounds;
use guard_plan::value::Value;

/// Lines that differ in what the rules of a guard usually ask.
const COMMANDS: &[&str] = &[
    "ls",
    "cargo test",
    "git push",
    "git push --force",
    "rm -rf build",
    "rm -rf /",
    "echo a > /etc/a",
    "curl https://a.example",
    "cat .env",
    "sudo ls",
    "echo $A",
    "$A",
    "(",
    "A=a ls",
];

impl Maker<'_, '_> {
    pub(super) fn texts(&self, class: &Class) -> Vec<String> {
        let mut texts = Vec::new();
        for value in self.present(class) {
            each_element(&value, &mut |v| texts.extend(text(v)));
        }
        texts
    }

    /// The texts that a class is held against.
    pub(super) fn hinted(&self, class: &Class) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for hint in &class.hints {
            match hint {
                Hint::Is(value) => each_element(value, &mut |v| texts.extend(text(v))),
                Hint::Begins(begin) => texts.push(format!("{begin}a")),
                Hint::Ends(end) => texts.push(format!("a{end}")),
                Hint::Holds(part) => texts.push(format!("a{part}a")),
                Hint::Globs(pattern) => {
                    texts.push(pattern.replace("**", "a").replace(['*', '?'], "a"));
                }
                Hint::Matches(pattern) => {
                    texts.extend_from_slice(&self.classes.samples.texts(SampleKind::One, pattern));
                }
                Hint::Gives(e) => {
                    if let Ok(value) = self.session.closed(e, &|_| None) {
                        each_element(&value, &mut |v| texts.extend(text(v)));
                    }
                }
                _ => {}
            }
        }
        texts
    }

    pub(super) fn strings(
        &self,
        class: Option<&Class>,
        node: Option<usize>,
        bounds: &StringBounds,
    ) -> Vec<Value> {
        let samples = &self.classes.samples;
        let two = |pattern| samples.texts(SampleKind::Two, pattern).to_vec();
        let patterned = bounds.patterns.iter().flat_map(|pattern| two(pattern));
        let mut texts: Vec<String> = Vec::new();
        match class.filter(|class| class.is_read()) {
            None => {
                texts.push(FRESH[0].to_string());
                texts.extend(patterned);
            }
            Some(class) => {
                let hinted = self.hinted(class);
                texts.extend(self.texts(class));
                // A text that no rule names: of the others that is true which is true of it.
                let is_new = |letter: &String| !texts.iter().chain(&hinted).any(|t| t == letter);
                let fresh = ('a'..='z').map(String::from).find(is_new);
                texts.extend(fresh);
                texts.extend(hinted);
                texts.extend(patterned);
                for part in node.map_or(&[][..], |node| self.classes.parts(node)) {
                    texts.extend(self.shaped(*part));
                }
            }
        }
        texts.into_iter().map(|t| Value::String(t.into())).collect()
    }

    /// Lines worth trying: those that are named, and plain ones of which rules say most.
    pub(super) fn commands(&self, class: Option<&Class>, node: Option<usize>) -> Vec<Value> {
        let mut lines = self.strings(class, node, &StringBounds::default());
        if class.is_some_and(Class::is_read) {
            let line = |line: &&str| Value::String((*line).into());
            lines.extend(COMMANDS.iter().map(line));
        }
        lines
    }

    /// Texts with a part that is asked for: a length, either side of an address, something to find.
    pub(super) fn shaped(&self, part: usize) -> Vec<String> {
        let Some(class) = self.classes.class_of(part) else { return Vec::new() };
        match &self.classes.places[part] {
            ValuePlace::Length(_) => {
                let lengths = self.numbers(Some(class), (Some(0), Some(4_096)), 1, Value::Int);
                lengths.iter().map(|n| "a".repeat(number(n) as usize)).collect()
            }
            ValuePlace::Domain(_) => {
                let mut domains = self.hinted(class);
                domains.extend(self.texts(class));
                domains.into_iter().map(|d| format!("a@{d}")).collect()
            }
            ValuePlace::Local(_) => {
                let mut locals = self.hinted(class);
                locals.extend(self.texts(class));
                locals.into_iter().map(|local| format!("{local}@a.example")).collect()
            }
            ValuePlace::Found(_, what) => {
                let mut found = vec![sample::found(what).to_string()];
                found.extend(self.hinted(class).iter().map(|t| sample::wrapped(what, t)));
                found
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn paths(&self, class: Option<&Class>) -> Vec<Value> {
        let below = |name: &str| {
            if name.starts_with('/') { name.to_string() } else { format!("/workspace/{name}") }
        };
        let mut paths = vec![below("a.txt")];
        if let Some(class) = class.filter(|class| class.is_read()) {
            let present: Vec<String> = self.texts(class);
            if present.contains(&paths[0]) {
                paths.push(below("b.txt"));
            }
            for hint in &class.hints {
                if let Hint::Below(base) = hint {
                    paths.push(format!("{}/a.txt", base.trim_end_matches('/')));
                    paths.push("/etc/a.txt".into());
                }
            }
            paths.extend(self.hinted(class).iter().map(|text| below(text)));
            paths.splice(0..0, present);
        }
        let normal = |p: String| {
            guard_plan::path::normalise("/workspace", &p).ok().map(|p| Value::Path(p.into()))
        };
        paths.into_iter().filter_map(normal).collect()
    }

    pub(super) fn urls(&self, class: Option<&Class>, node: Option<usize>) -> Vec<Value> {
        let mut urls: Vec<String> = Vec::new();
        let parts = node.map_or(&[][..], |node| self.classes.parts(node));
        for part in parts {
            let (Some(class), ValuePlace::Url(_, kind)) =
                (self.classes.class_of(*part), &self.classes.places[*part])
            else {
                continue;
            };
            let mut texts = self.texts(class);
            texts.extend(self.hinted(class));
            for text in texts {
                match kind {
                    UrlKind::Host => urls.push(format!("https://{text}/a")),
                    UrlKind::Scheme => urls.push(format!("{text}://a.example/a")),
                    UrlKind::Other => urls.push(format!("https://a.example{text}")),
                }
            }
        }
        urls.push("https://a.example/a".into());
        if let Some(class) = class.filter(|class| class.is_read()) {
            urls.splice(0..0, self.texts(class));
            urls.extend(self.hinted(class));
            if !parts.is_empty() {
                urls.push("http://a.example/a".into());
            }
        }
        let parsed = |u: String| guard_plan::url::Url::parse(&u).ok();
        urls.into_iter().filter_map(parsed).map(|u| Value::Url(Box::new(u))).collect()
    }
}
