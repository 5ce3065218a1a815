//! Programs of `sed` and `awk`: the test whether they can run commands or access files. In doubt,
//! they can.

/// Returns true if a `sed` script only edits its input.
pub(crate) fn sed_is_harmless(script: &str) -> bool {
    let mut chars = script.chars().peekable();
    sed_commands(&mut chars).is_some()
}

type Chars<'t> = std::iter::Peekable<std::str::Chars<'t>>;

fn sed_commands(chars: &mut Chars<'_>) -> Option<()> {
    loop {
        while chars.next_if(|c| c.is_whitespace() || *c == ';' || *c == '}').is_some() {}
        if chars.peek().is_none() {
            return Some(());
        }
        sed_address(chars)?;
        while chars.next_if(|c| matches!(c, ' ' | '\t' | '!')).is_some() {}
        match chars.next()? {
            's' => {
                let delimiter = chars.next().filter(|c| *c != '\\' && *c != '\n')?;
                until(chars, delimiter)?;
                until(chars, delimiter)?;
                // The flags `e` and `w` run a command and write a file, so they are not among
                // these.
                while chars.next_if(|c| c.is_ascii_digit() || "gpiIM".contains(*c)).is_some() {}
            }
            'y' => {
                let delimiter = chars.next().filter(|c| *c != '\\' && *c != '\n')?;
                until(chars, delimiter)?;
                until(chars, delimiter)?;
            }
            'a' | 'i' | 'c' => text_lines(chars),
            '#' | 'b' | 't' | 'T' | ':' => {
                while chars.next_if(|c| *c != '\n' && *c != ';').is_some() {}
            }
            'q' | 'Q' | 'l' | 'L' => {
                while chars.next_if(|c| c.is_ascii_digit() || *c == ' ').is_some() {}
            }
            '{' => continue,
            'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | '=' | 'F' => {}
            _ => return None,
        }
        while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        match chars.peek() {
            None | Some('\n' | ';' | '}') => {}
            Some(_) => return None,
        }
    }
}

/// Skips the text of `a`, `i` and `c`, to the end of a line that no backslash continues.
fn text_lines(chars: &mut Chars<'_>) {
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        if c == '\\' {
            chars.next();
        }
    }
}

fn sed_address(chars: &mut Chars<'_>) -> Option<()> {
    loop {
        match chars.peek() {
            Some(c) if c.is_ascii_digit() || matches!(c, '$' | ',' | '~' | '+' | ' ') => {
                chars.next();
            }
            Some('/') => {
                chars.next();
                until(chars, '/')?;
                while chars.next_if(|c| matches!(c, 'I' | 'M')).is_some() {}
            }
            Some('\\') => {
                chars.next();
                let delimiter = chars.next()?;
                until(chars, delimiter)?;
            }
            _ => return Some(()),
        }
    }
}

/// Skips a pattern and the delimiter after it. A delimiter in brackets counts as doubtful.
fn until(chars: &mut Chars<'_>, delimiter: char) -> Option<()> {
    loop {
        match chars.next()? {
            '\\' => {
                chars.next()?;
            }
            c if c == delimiter => return Some(()),
            _ => {}
        }
    }
}

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
