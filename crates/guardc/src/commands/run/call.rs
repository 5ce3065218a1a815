//! Calls as a person types them: `deploy(env: staging, count: 1)` or `deploy {"env": "staging"}`.

use guard_plan::json::Json;
use guard_plan::plan::{Plan, Tool};

/// A parsed call: a tool's name and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Typed {
    /// The tool, as typed.
    pub tool: String,
    /// The arguments, an object.
    pub args: Json,
}

/// The maximum nesting depth of brackets.
const MAX_DEPTH: usize = 100;

/// Parses one call. Returns the rest of the text, trimmed.
///
/// # Errors
///
/// Returns the problem of the call.
pub fn parse<'a>(text: &'a str, plan: &Plan) -> Result<(Typed, &'a str), String> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    reader.blanks();
    let tool = if reader.peek() == Some('"') { reader.string()? } else { reader.name() };
    if tool.is_empty() {
        return Err(reader.expected("a tool's name"));
    }
    let declared = plan.called(&tool);
    reader.blanks();
    let args = match reader.peek() {
        Some('(') => reader.arguments(declared)?,
        Some('{') => reader.json()?,
        _ => Json::Object(Vec::new()),
    };
    let rest = text[reader.at..].trim();
    Ok((Typed { tool, args }, rest))
}

/// Parses one value that uses the whole text.
///
/// # Errors
///
/// Returns the problem of the value.
pub fn value(text: &str) -> Result<Json, String> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    reader.blanks();
    let value = reader.value()?;
    reader.blanks();
    if reader.peek().is_some() { Err(reader.expected("nothing more")) } else { Ok(value) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn run(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn name(&mut self) -> String {
        self.run(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')).to_owned()
    }

    fn expected(&self, what: &str) -> String {
        let column = self.text[..self.at].chars().count() + 1;
        match self.peek() {
            Some(found) => format!("expected {what} at column {column}, found `{found}`"),
            None => format!("expected {what} at the end"),
        }
    }

    /// Parses `(a: 1, b)`: by name, or in the order of the tool's parameters.
    fn arguments(&mut self, tool: Option<&Tool>) -> Result<Json, String> {
        self.take('(');
        let mut members: Vec<(Box<str>, Json)> = Vec::new();
        loop {
            self.blanks();
            if self.take(')') {
                return Ok(Json::Object(members));
            }
            let start = self.at;
            let name = if self.peek() == Some('"') { self.string()? } else { self.name() };
            self.blanks();
            let name = if !name.is_empty() && self.take(':') {
                name
            } else {
                self.at = start;
                let param = tool.and_then(|t| t.params.get(members.len()));
                param
                    .map(|p| p.name.clone())
                    .ok_or_else(|| self.expected("a parameter's name and `:`"))?
            };
            // A repeated member would reach the kernel, where only one of the two values could be
            // judged.
            if members.iter().any(|(known, _)| **known == name) {
                return Err(format!("`{name}` is given twice"));
            }
            self.blanks();
            members.push((name.into(), self.value()?));
            self.blanks();
            if !self.take(',') && self.peek() != Some(')') {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    /// Parses the longest JSON value that begins here.
    fn json(&mut self) -> Result<Json, String> {
        let mut depth = 0usize;
        let mut in_string = false;
        let mut escaped = false;
        for (offset, c) in self.rest().char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if in_string => escaped = true,
                '"' => in_string = !in_string,
                '{' | '[' if !in_string => depth += 1,
                '}' | ']' if !in_string => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && !in_string {
                let end = self.at + offset + c.len_utf8();
                let json = Json::parse(&self.text[self.at..end]).map_err(|e| e.to_string())?;
                self.at = end;
                return Ok(json);
            }
        }
        Err("the object is not closed".into())
    }

    fn value(&mut self) -> Result<Json, String> {
        self.depth += 1;
        // The reader recurses, and a deeper text would overflow the stack.
        if self.depth > MAX_DEPTH {
            return Err(format!("values nest more than {MAX_DEPTH} deep"));
        }
        let value = match self.peek() {
            Some('"') => Json::string(&self.string()?),
            Some('[') => self.items('[', ']')?,
            Some('{') => self.braces()?,
            _ => self.word()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn items(&mut self, open: char, close: char) -> Result<Json, String> {
        self.take(open);
        let mut items = Vec::new();
        loop {
            self.blanks();
            if self.take(close) {
                return Ok(Json::Array(items));
            }
            items.push(self.value()?);
            self.blanks();
            if !self.take(',') && self.peek() != Some(close) {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
    }

    /// Parses `{a: 1}` as an object, `{a, b}` as a set.
    fn braces(&mut self) -> Result<Json, String> {
        let start = self.at;
        self.take('{');
        self.blanks();
        if self.take('}') {
            return Ok(Json::Object(Vec::new()));
        }
        let name = if self.peek() == Some('"') { self.string()? } else { self.name() };
        self.blanks();
        let keyed = !name.is_empty() && self.take(':');
        self.at = start;
        if !keyed {
            return self.items('{', '}');
        }
        self.take('{');
        let mut members: Vec<(Box<str>, Json)> = Vec::new();
        loop {
            self.blanks();
            if self.take('}') {
                return Ok(Json::Object(members));
            }
            let name = if self.peek() == Some('"') { self.string()? } else { self.name() };
            self.blanks();
            if name.is_empty() || !self.take(':') {
                return Err(self.expected("a name and `:`"));
            }
            self.blanks();
            members.push((name.into(), self.value()?));
            self.blanks();
            if !self.take(',') && self.peek() != Some('}') {
                return Err(self.expected("`,` or `}`"));
            }
        }
    }

    /// Parses a number, `true`, `false`, `none`, or a word: a variant, a duration, a path.
    fn word(&mut self) -> Result<Json, String> {
        let word = self.run(|c| {
            !c.is_whitespace() && !matches!(c, ',' | ')' | ']' | '}' | '(' | '[' | '{' | '"')
        });
        Ok(match word {
            "" => return Err(self.expected("a value")),
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "null" | "none" => Json::Null,
            word => Json::number(word).unwrap_or_else(|| Json::string(word)),
        })
    }

    fn string(&mut self) -> Result<String, String> {
        let mut escaped = false;
        for (offset, c) in self.rest().char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    let end = self.at + offset + 1;
                    let json = Json::parse(&self.text[self.at..end]).map_err(|e| e.to_string())?;
                    self.at = end;
                    return Ok(json.as_str().unwrap_or_default().to_owned());
                }
                _ => {}
            }
        }
        Err(self.expected("a closing `\"`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let got = match value(text) {
            Ok(json) => {
                let mut out = String::new();
                json.write(&mut out);
                out
            }
            Err(error) => error,
        };
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn values() {
        check("1", "1");
        check("1.50", "1.50");
        check("staging", "\"staging\"");
        check("1h30m", "\"1h30m\"");
        check("a/b.md", "\"a/b.md\"");
        check("[a, 2, none]", "[\"a\",2,null]");
        check("{a, b}", "[\"a\",\"b\"]");
        check("{a: 1, \"b c\": [x]}", "{\"a\":1,\"b c\":[\"x\"]}");
        check("\"a\\nb\"", "\"a\\nb\"");
        check("", "expected a value at the end");
        check("1 2", "expected nothing more at column 3, found `2`");
        check("[1", "expected `,` or `]` at the end");
        check("\"a", "expected a closing `\"` at column 1, found `\"`");
    }
}
