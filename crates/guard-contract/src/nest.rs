//! The arrays and objects that are open at a position, stored in one word up to the depth that a
//! reader supports.

use guard_plan::json::MAX_DEPTH;

/// The open arrays and objects, innermost last. Below zero, enclosing ones were closed, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Nest {
    /// Bit `n` is set if the `n`th is an object.
    objects: u128,
    pub depth: i32,
}

impl Nest {
    /// Opens an array or an object.
    pub fn open(&mut self, object: bool) {
        if (0..MAX_DEPTH as i32).contains(&self.depth) {
            let bit = 1 << self.depth;
            self.objects = if object { self.objects | bit } else { self.objects & !bit };
        }
        self.depth += 1;
    }

    /// Returns true if the innermost one is an object; `None` if none is open, or too many are.
    pub fn object(&self) -> Option<bool> {
        let inside = (1..=MAX_DEPTH as i32).contains(&self.depth);
        inside.then(|| self.objects >> (self.depth - 1) & 1 == 1)
    }

    /// Returns true if an array or object of this kind is open.
    pub fn has(&self, object: bool) -> bool {
        let mut around = *self;
        while let Some(kind) = around.object() {
            if kind == object {
                return true;
            }
            around.depth -= 1;
        }
        false
    }

    /// Reads a closing bracket. It closes the innermost open value of its kind with everything in
    /// it. A bracket without a match, or directly after another array or object (`nested`), closes
    /// the innermost open value.
    pub fn close(&mut self, object: bool, nested: bool) {
        if !nested && self.has(object) {
            while self.object().is_some_and(|kind| kind != object) {
                self.depth -= 1;
            }
        }
        self.depth -= 1;
    }
}
