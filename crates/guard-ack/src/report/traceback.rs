//! Tracebacks of Python and Node, folded to the error and the relevant frame.

/// Folders of code that does not belong to the adapter.
const OTHERS: [&str; 5] =
    ["site-packages", "lib/python", "node_modules", "node:internal", "<frozen"];

/// Returns a text with each traceback folded to the last frame of the adapter's own code; the other frames are counted.
pub fn folded(text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut frames: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        let is_frame = is_frame(line);
        let is_code = !frames.is_empty() && line.starts_with("    ") && !is_frame;
        if is_frame {
            frames.push(vec![line]);
        } else if is_code {
            if let Some(frame) = frames.last_mut() {
                frame.push(line);
            }
        } else {
            fold(&mut frames, &mut out);
            out.push(line.to_owned());
        }
    }
    fold(&mut frames, &mut out);
    out.join("\n")
}

fn is_frame(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '|', '+']);
    line.starts_with("File \"") && line.contains(", line ")
        || line.starts_with("at ") && (line.ends_with(')') || line.contains("file:"))
}

/// Writes the relevant frame and the number of the others.
fn fold(frames: &mut Vec<Vec<&str>>, out: &mut Vec<String>) {
    if frames.is_empty() {
        return;
    }
    let is_own = |frame: &Vec<&str>| !OTHERS.iter().any(|other| frame[0].contains(other));
    // Python lists the innermost frame last, and Node lists it first.
    let is_node = frames[0][0].trim_start().starts_with("at ");
    let own = if is_node {
        frames.iter().position(is_own).unwrap_or(0)
    } else {
        frames.iter().rposition(is_own).unwrap_or(frames.len() - 1)
    };
    out.extend(frames[own].iter().map(|line| (*line).to_owned()));
    match frames.len() - 1 {
        0 => {}
        1 => out.push("  (1 more frame)".into()),
        others => out.push(format!("  ({others} more frames)")),
    }
    frames.clear();
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn the_last_frame_of_the_adapter_is_kept() {
        let text = "before\nTraceback (most recent call last):\n  File \"/a/adapter.py\", line 3, in main\n    loop()\n  \
                    File \"/a/adapter.py\", line 9, in loop\n    call()\n    ^^^^^^\n  \
                    File \"/usr/lib/python3/json.py\", line 1, in loads\n    raise\nValueError: bad";
        assert_eq!(
            folded(text),
            "before\nTraceback (most recent call last):\n  File \"/a/adapter.py\", line 9, in loop\n    call()\n    ^^^^^^\n  \
             (2 more frames)\nValueError: bad"
        );
        let node = "Error: bad\n    at parse (node:internal/x:1:2)\n    at loop (/a/adapter.js:4:5)\n    at main (/a/adapter.js:1:1)";
        assert_eq!(folded(node), "Error: bad\n    at loop (/a/adapter.js:4:5)\n  (2 more frames)");
    }
}
