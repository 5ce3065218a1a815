//! The detection of texts and parameters that must not be copied into a guard, because they look
//! like secrets or personal data.

/// The maximum number of characters of a text that is listed.
const MAX_LISTED: usize = 40;

/// Prefixes of well-known kinds of keys and tokens.
const KEY_STARTS: [&str; 19] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "npm_",
    "whsec_",
    "AKIA",
    "AIza",
    "xox",
    "eyJ",
    "Bearer ",
    "bearer ",
    "-----BEGIN",
];

/// The prefix of a temporary key. It is also a word, so capitals and digits must follow.
const SHORT_LIVED: &str = "ASIA";

/// Parts of names of parameters that hold secrets.
const SECRET_PARTS: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
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

/// Words in names of parameters that hold secrets.
const SECRET_WORDS: [&str; 23] = [
    "auth", "card", "creds", "cvc", "cvv", "iban", "jwt", "key", "keys", "mfa", "mnemonic", "otp",
    "pan", "pass", "passport", "passwort", "pat", "pin", "pins", "pwd", "ssn", "tan", "totp",
];

/// The prefix of a secret that the store hides; 64 hexadecimal digits follow it.
const MARK: &str = "secret:";

/// Returns true if the name of a parameter suggests that it contains a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let is_secret = |word: &String| SECRET_WORDS.contains(&word.as_str());
    SECRET_PARTS.iter().any(|part| plain.contains(part))
        || is_secret(&plain)
        || words(name).iter().any(is_secret)
}

/// Returns the words of a name in small letters: `user_pin`, `userPin` and `PINCode2` have the word
/// `pin`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let is_small = |c: Option<&char>| c.is_some_and(char::is_ascii_lowercase);
        let is_capital = |c: Option<&char>| c.is_some_and(char::is_ascii_uppercase);
        let begins = is_capital(Some(c)) && (!is_capital(before) || is_small(chars.get(at + 1)));
        if begins || !c.is_ascii_alphabetic() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_ascii_alphabetic(), words.last_mut()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}

/// Returns true if a text is the mark of a secret, or begins like a key.
pub(super) fn is_secret_text(text: &str) -> bool {
    let is_mark = text.strip_prefix(MARK).is_some_and(|digits| {
        digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let is_short_lived = text.strip_prefix(SHORT_LIVED).is_some_and(|rest| {
        rest.len() >= 8
            && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    });
    is_mark || is_short_lived || KEY_STARTS.iter().any(|start| text.starts_with(start))
}

/// Returns true if a text may be written into a guard: it is short, on one line, and is not a key,
/// an account number or an address.
pub(super) fn is_listable(text: &str) -> bool {
    let is_mixed = text.bytes().any(|byte| byte.is_ascii_lowercase())
        && text.bytes().any(|byte| byte.is_ascii_uppercase());
    let token_like = text.len() >= 16
        && !text.contains(' ')
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && (text.bytes().any(|byte| byte.is_ascii_digit()) || is_mixed);
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
        for name in [
            "password",
            "apiKey",
            "API_KEY",
            "client_secret",
            "x-auth-token",
            "auth",
            "pin",
            "pwd",
            "pass",
            "user_pin",
            "userPIN",
            "PINCode",
            "pin2",
            "card_number",
            "key",
            "jwt",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["path", "author", "spinner", "message", "keyboard", "passenger", "pattern"] {
            assert!(!is_secret_name(name), "{name}");
        }
        assert!(is_secret_text("sk-live-1") && !is_secret_text("skip"));
        assert!(is_secret_text("Bearer abcdef") && is_secret_text("ASIAABCDEFGH"));
        assert!(!is_secret_text("ASIA") && !is_secret_text("ASIA-PACIFIC"));
        assert!(!is_listable("AbCdEfGhIjKlMnOpQr"));
        for text in ["", "kim@example.com", "4f9d0c1e77ab12cd", "+49 301234567", "a\nb", "ghp_x"] {
            assert!(!is_listable(text), "{text}");
        }
        assert!(is_listable("in progress") && is_listable("docs.rs"));
    }
}
