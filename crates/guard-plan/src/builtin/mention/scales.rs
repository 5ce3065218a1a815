//! The unit of numbers in prompts, and the words that multiply a number.

use crate::value::DECIMAL_ONE;

/// A number in units of 10⁻⁶.
pub(super) type Units = i128;

pub(super) const ONE: Units = DECIMAL_ONE as Units;
pub(super) const DOZEN: Units = 12;
pub(super) const MILLION: Units = 1_000_000;
pub(super) const BILLION: Units = 1_000_000_000;

/// Returns what a word multiplies by.
pub(super) fn scale_of(word: &str) -> Option<Units> {
    match word {
        "dozen" => Some(DOZEN),
        "k" | "grand" | "thousand" | "thousands" => Some(1000),
        "lakh" | "lakhs" | "lac" => Some(100_000),
        "mn" | "mio" | "mil" | "million" | "millions" => Some(MILLION),
        "crore" | "crores" => Some(10_000_000),
        "bn" | "billion" | "billions" => Some(BILLION),
        "trillion" | "trillions" => Some(1_000_000_000_000),
        _ => None,
    }
}
