//! Any text parses; what parses without errors formats, stays formatted, and means the same.

#![no_main]

use guard_syntax::span::FileId;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parse = guard_syntax::parse(FileId(0), text);
    if let Ok(formatted) = guard_syntax::format(text) {
        let again = guard_syntax::parse(FileId(0), &formatted);
        assert_eq!(parse.file, again.file, "formatting changed the meaning:\n{formatted}");
        assert_eq!(guard_syntax::format(&formatted).as_deref(), Ok(formatted.as_str()), "unstable");
    }
});
