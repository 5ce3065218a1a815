//! Programs of `awk`.

/// Returns true if an `awk` program neither runs commands nor writes files.
pub(crate) fn awk_is_harmless(program: &str) -> bool {
    let Some(code) = awk_code(program) else { return false };
    if ["system", "getline", "@", "|&", "ENVIRON", "ARGV", "fflush", "close"]
        .iter()
        .any(|word| code.contains(word))
    {
        return false;
    }
    let code = code.replace("||", "  ");
    if code.contains('|') {
        return false;
    }
    // After `print`, a `>` names a file, in any statement.
    code.split([';', '{', '}', '\n'])
        .all(|statement| !(statement.contains("print") && statement.contains('>')))
}

/// Returns the program without its strings and regular expressions; `None` if that is in doubt.
fn awk_code(program: &str) -> Option<String> {
    let mut code = String::with_capacity(program.len());
    let mut chars = program.chars();
    let mut last = '\n';
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                skip_to(&mut chars, '"')?;
                code.push_str("\"\"");
            }
            '/' if matches!(last, '\n' | '(' | ',' | '{' | '}' | ';' | '!' | '~' | '&' | '|') => {
                skip_to(&mut chars, '/')?;
                code.push_str("//");
            }
            '#' => {
                for c in chars.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
                code.push('\n');
            }
            c => code.push(c),
        }
        if c == '\n' || !c.is_whitespace() {
            last = c;
        }
    }
    Some(code)
}

fn skip_to(chars: &mut std::str::Chars<'_>, end: char) -> Option<()> {
    loop {
        match chars.next()? {
            '\\' => {
                chars.next()?;
            }
            // A string or a regular expression cannot span lines, so something was not understood.
            '\n' => return None,
            c if c == end => return Some(()),
            _ => {}
        }
    }
}
