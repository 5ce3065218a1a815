//! Translation of the values drawn for a case back into the words of the case, so that a snapshot reads like its file.
//!
//! `<<tool:ship>>` is `ship`, `<<word:why>>` is `WHY`, `<<path:out>>` is `out.txt`, `<<dir:src>>` is `src`; amounts stay as drawn.

use guard_ack::case::{Case, draw};
use guard_ack::{CaseSuite, Observed};
use guard_plan::hex;

/// Texts and their replacements, the longest first.
pub struct Undrawn(Vec<(String, String)>);

impl Undrawn {
    /// Builds the replacements for a case and its observations.
    pub fn new(suite: &CaseSuite, case: &Case, seen: &Observed, seed: u64) -> Undrawn {
        let text = suite.texts.iter().find(|(name, _)| *name == case.name);
        let inside = placeholders(text.map_or("", |(_, text)| text));
        let asked: String = inside.iter().map(|one| format!("<<{one}>>\n")).collect();
        let drawn = draw::fill(&asked, seed, &case.name).unwrap_or_default();
        let mut words: Vec<(String, String)> = drawn
            .lines()
            .zip(&inside)
            .filter_map(|(drawn, one)| Some((drawn.to_owned(), plain(one)?)))
            .collect();
        let id = |kind: &str, name: &str| {
            let bytes = draw::draw(seed, &case.name, &format!("{kind}:{name}"), 1);
            format!("{kind}_{}", hex::encode(&bytes[..6]))
        };
        words.extend(case.calls().map(|call| (id("call", &call.id), call.id.clone())));
        words.extend(case.run.iter().map(|run| (id("session", &run.session), run.session.clone())));
        // The workspace is a different folder each time.
        let log =
            seen.log.iter().find_map(|line| line.split_once("\"workspace\":\"")).map(|it| it.1);
        let folder = log.and_then(|rest| rest.split('"').next());
        words.extend(folder.map(|folder| (folder.to_owned(), "WORKSPACE".to_owned())));
        let above = folder.and_then(|folder| Some(folder.rsplit_once('/')?.0.to_owned()));
        words.extend(above.map(|above| (above, "ABOVE".to_owned())));
        words.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        words.dedup();
        Undrawn(words)
    }

    /// Translates a text into the words of the case.
    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (drawn, plain) in &self.0 {
            text = text.replace(drawn, plain);
        }
        text
    }
}

fn placeholders(text: &str) -> Vec<&str> {
    text.split("<<").skip(1).filter_map(|rest| Some(rest.split_once(">>")?.0)).collect()
}

fn plain(inside: &str) -> Option<String> {
    let (kind, name) = inside.split_once(':')?;
    match kind {
        "tool" | "dir" => Some(name.to_owned()),
        "word" => Some(name.to_uppercase()),
        "path" => Some(format!("{name}.txt")),
        _ => None,
    }
}
