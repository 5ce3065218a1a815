//! The changes of the passes, for explanations.

use super::SHOWN;
use guard_plan::plan::{Expr, Plan, Rewrite, ToolId};
use guard_plan::render;
use guard_plan::words::{self, Shows};
use std::collections::HashMap;

/// The changes so far.
#[derive(Default)]
pub(super) struct Notes {
    notes: Vec<PassNote>,
    /// The indexes of the notes, by tool.
    by_tool: HashMap<Option<ToolId>, Vec<usize>>,
    /// The patterns that expressions refer to, if passes have added some.
    pub patterns: Option<Vec<String>>,
}

struct PassNote {
    tool: Option<ToolId>,
    verbs: Vec<&'static str>,
    what: RewriteKind,
}

enum RewriteKind {
    Rewritten(Expr, Expr),
    Dropped(String),
}

impl Notes {
    /// Records a rewritten expression. A second rewrite continues the first.
    pub fn rewritten(
        &mut self,
        verb: &'static str,
        tool: Option<ToolId>,
        before: Expr,
        after: &Expr,
    ) {
        let own = self.by_tool.entry(tool).or_default();
        for at in own.iter().rev() {
            let PassNote { verbs, what: RewriteKind::Rewritten(_, last), .. } =
                &mut self.notes[*at]
            else {
                continue;
            };
            if *last == before {
                *last = after.clone();
                verbs.push(verb);
                return;
            }
        }
        own.push(self.notes.len());
        let what = RewriteKind::Rewritten(before, after.clone());
        self.notes.push(PassNote { tool, verbs: vec![verb], what });
    }

    /// Records a rule of a tool that is no longer evaluated.
    pub fn dropped(&mut self, verb: &'static str, tool: ToolId, what: String) {
        self.notes.push(PassNote {
            tool: Some(tool),
            verbs: vec![verb],
            what: RewriteKind::Dropped(what),
        });
    }

    /// Returns all changes as text.
    pub fn said(mut self, lowered: &Plan) -> Vec<Rewrite> {
        let patterns = self.patterns.take();
        let shown = patterns.map(|regexes| Plan { regexes, ..lowered.clone() });
        let shown = shown.as_ref().unwrap_or(lowered);
        let said = |note: PassNote| {
            let tool = note.tool.and_then(|id| shown.tools.get(id as usize));
            let words = |expr: &Expr| {
                render::cut(&words::expr(&Shows { plan: shown, tool, ranges: &[] }, expr), SHOWN)
            };
            let (before, after) = match &note.what {
                RewriteKind::Rewritten(before, after) => (words(before), words(after)),
                RewriteKind::Dropped(what) => (render::cut(what, SHOWN), String::new()),
            };
            let passes = note.verbs.into_iter().map(String::from).collect();
            Rewrite { tool: tool.map(|tool| tool.name.clone()), passes, before, after }
        };
        // The order of the rules in the plan is independent of the source, and so is the order of
        // the notes.
        let mut notes = self.notes;
        notes.sort_by_key(|note| (note.tool.is_none(), note.tool));
        notes.into_iter().map(said).collect()
    }
}
