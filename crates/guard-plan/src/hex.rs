//! Bytes as lower-case hexadecimal digits.

/// Returns the hexadecimal digits of some bytes.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    write(bytes, &mut out);
    out
}

/// Returns the hexadecimal digits of a hash.
pub fn digits(bytes: &[u8; 32]) -> [u8; 64] {
    let mut digits = [0; 64];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&PAIRS[usize::from(*byte)]);
    }
    digits
}

/// Appends the hexadecimal digits of some bytes.
pub fn write(bytes: &[u8], out: &mut String) {
    for some in bytes.chunks(32) {
        let mut digits = [0; 64];
        let digits = &mut digits[..some.len() * 2];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(some) {
            pair.copy_from_slice(&PAIRS[usize::from(*byte)]);
        }
        // INVARIANT: digits are ASCII.
        out.push_str(std::str::from_utf8(digits).expect("digits are text"));
    }
}

const PAIRS: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    pairs
};

/// Decodes 64 digits, in either case, to 32 bytes. Returns `None` for any other text.
pub fn decode(digits: &str) -> Option<[u8; 32]> {
    let digits: &[u8; 64] = digits.as_bytes().try_into().ok()?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// Decodes 64 lower-case digits to 32 bytes. Returns `None` for any other text. The form is unique
/// for each value, and parsing is faster than [`decode`].
pub fn decode_lower(digits: &[u8]) -> Option<[u8; 32]> {
    let digits: &[u8; 64] = digits.try_into().ok()?;
    let mut bytes = [0; 32];
    // Invalid bytes set bits that no digit sets. The bits are checked once, at the end.
    let mut seen = 0;
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let high = VALUES[usize::from(pair[0])];
        let low = VALUES[usize::from(pair[1])];
        seen |= high | low;
        *byte = high << 4 | low & 15;
    }
    (seen < 16).then_some(bytes)
}

const VALUES: [u8; 256] = {
    let mut values = [0x80; 256];
    let mut digit: u8 = 0;
    while digit < 16 {
        values[if digit < 10 { b'0' + digit } else { b'a' + digit - 10 } as usize] = digit;
        digit += 1;
    }
    values
};

/// Returns the value of a digit, in either case.
pub fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let bytes: [u8; 32] = std::array::from_fn(|n| (n * 37) as u8);
        let digits = encode(&bytes);
        assert_eq!(decode(&digits), Some(bytes));
        assert_eq!(decode_lower(digits.as_bytes()), Some(bytes));
        assert_eq!(decode(&digits.to_uppercase()), Some(bytes));
        assert_eq!(decode_lower(digits.to_uppercase().as_bytes()), None);
        assert_eq!(decode_lower(&digits.as_bytes()[1..]), None);
        assert_eq!(decode_lower(digits.replace('0', "g").as_bytes()), None);
    }
}
