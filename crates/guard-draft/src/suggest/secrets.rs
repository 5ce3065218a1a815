//! The detection of texts and parameters that must not be copied into a guard, because they look
//! like secrets or personal data.

/// The maximum number of characters of a text that is listed.
const MAX_LISTED: usize = 40;

/// Prefixes of well-known kinds of keys and tokens.
const KEY_STARTS: [&str; 12] = [
    "sk-",
    "sk_",
    "pk_",
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "AIza",
    "xox",
    "eyJ",
    "-----BEGIN",
];

/// Parts of names of parameters that hold secrets.
const SECRET_PARTS: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "cookie",
    "bearer",
];

/// Whole names of parameters that hold secrets.
const SECRET_NAMES: [&str; 7] = ["auth", "pin", "otp", "cvv", "cvc", "ssn", "iban"];

/// The prefix of a secret that the store hides; 64 hexadecimal digits follow it.
const MARK: &str = "secret:";

/// Returns true if the name of a parameter suggests that it contains a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    SECRET_PARTS.iter().any(|part| plain.contains(part)) || SECRET_NAMES.contains(&plain.as_str())
}

/// Returns true if a text is the mark of a secret, or begins like a key.
pub(super) fn is_secret_text(text: &str) -> bool {
    let is_mark = text.strip_prefix(MARK).is_some_and(|digits| {
        digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    is_mark || KEY_STARTS.iter().any(|start| text.starts_with(start))
}

/// Returns true if a text may be written into a guard: it is short, on one line, and is not a key,
/// an account number or an address.
pub(super) fn is_listable(text: &str) -> bool {
    let token_like = text.len() >= 16
        && !text.contains(' ')
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let mut digits = 0;
    let long_number = text.bytes().any(|byte| {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        digits >= 6
    });
    !text.is_empty()
        && text.chars().count() <= MAX_LISTED
        && crate::text::one_line(text) == text
        && !text.contains('@')
        && !token_like
        && !long_number
        && !is_secret_text(text)
}

#[cfg(test)]
mod tests {
    use super::{is_listable, is_secret_name, is_secret_text};

    #[test]
    fn names_and_texts_of_secrets() {
        for name in
            ["password", "apiKey", "API_KEY", "client_secret", "x-auth-token", "auth", "pin"]
        {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["path", "author", "spinner", "message"] {
            assert!(!is_secret_name(name), "{name}");
        }
        assert!(is_secret_text("sk-live-1") && !is_secret_text("skip"));
        for text in ["", "kim@example.com", "4f9d0c1e77ab12cd", "+49 301234567", "a\nb", "ghp_x"] {
            assert!(!is_listable(text), "{text}");
        }
        assert!(is_listable("in progress") && is_listable("docs.rs"));
    }
}
