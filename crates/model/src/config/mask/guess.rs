//! Heuristics that guess which parts of a displayed text are secrets.
//!
//! They err on the side of masking: a masked version number costs a look into the file, a displayed token
//! costs the token.

use super::address;
use crate::secret::MASK;

/// Words that mark a name as the name of a secret, compared without `-`, `_` and case.
const SECRET_WORDS: [&str; 15] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "privatekey",
    "authkey",
    "auth",
    "credential",
    "bearer",
    "cookie",
    "signature",
    "pwd",
];

/// Prefixes of tokens of well-known services.
const TOKEN_PREFIXES: [&str; 26] = [
    "sk-",
    "sk_",
    "rk_",
    "pk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "hf_",
    "npm_",
    "pypi-",
    "lin_api_",
    "ntn_",
    "shpat_",
];

const AUTH_SCHEMES: [&str; 7] = ["bearer", "basic", "token", "digest", "negotiate", "apikey", "key"];

/// Names of authentication modes, compared like the words above.
const MODES: [&str; 40] = [
    "anonymous",
    "auto",
    "aws",
    "azcli",
    "azure",
    "basic",
    "bearer",
    "browser",
    "cli",
    "default",
    "device",
    "devicecode",
    "disabled",
    "enabled",
    "env",
    "envvar",
    "environment",
    "false",
    "file",
    "gcloud",
    "iam",
    "interactive",
    "jwt",
    "kerberos",
    "keychain",
    "keyring",
    "managedidentity",
    "mtls",
    "none",
    "ntlm",
    "oauth",
    "oauth2",
    "off",
    "oidc",
    "on",
    "optional",
    "pat",
    "required",
    "sso",
    "true",
];

/// Suffixes of setting names with a mode as value, as in `--token-mode` and `--auth-type`.
const MODE_NAMES: [&str; 11] = [
    "mode", "type", "kind", "method", "scheme", "source", "store", "storage", "backend", "provider",
    "strategy",
];

/// Words in names with values that are never modes: `none` may well be a password.
const PASSWORD_WORDS: [&str; 5] = ["password", "passwd", "passphrase", "pwd", "secret"];

/// The longest plain word that passes for a mode.
const MODE_CHARS: usize = 24;

/// The minimum number of changes between letters and digits in a token.
const MIXED_CHANGES: usize = 4;

/// The minimum length of a token; shorter random text protects nothing.
const TOKEN_CHARS: usize = 20;

/// Whether a header or variable of this name carries a credential.
pub(super) fn is_credential_name(name: &str) -> bool {
    let folded = fold_name(name);
    SECRET_WORDS.iter().any(|word| folded.contains(word))
}

/// Whether a word is an authentication scheme and not the secret itself.
pub(super) fn is_auth_scheme(word: &str) -> bool {
    AUTH_SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Masks the secrets in a list of arguments.
pub(super) fn mask_arguments(arguments: impl Iterator<Item = String>) -> Vec<String> {
    mask_sequence(arguments, mask_text)
}

/// Masks the secret parts of one text.
pub(super) fn mask_text(text: &str) -> String {
    if let Some((name, value)) = text.split_once('=')
        && !name.contains("://")
        && !name.contains(' ')
        && is_secret_pair(name, value)
    {
        return format!("{}={MASK}", mask_tokens(name));
    }
    if let Some((name, value)) = text.split_once(": ")
        && is_credential_name(name)
    {
        return format!("{}: {}", mask_words(name), mask_credential(value));
    }
    // Some launchers split at spaces, so their users write `Authorization:Bearer …`.
    if let Some((name, value)) = text.split_once(':')
        && !name.contains([' ', '/', '{'])
        && !value.starts_with("//")
        && is_secret_pair(name, value)
    {
        return format!("{}:{}", mask_tokens(name), mask_credential(value));
    }
    mask_words(text)
}

fn mask_words(text: &str) -> String {
    mask_sequence(text.split(' ').map(str::to_owned), mask_word).join(" ")
}

/// Masks a sequence of parts, where a flag may announce that the next part is secret.
fn mask_sequence(parts: impl Iterator<Item = String>, mask: impl Fn(&str) -> String) -> Vec<String> {
    let mut flag = None;
    let mut masked = Vec::new();
    for part in parts {
        let is_flag = part.starts_with('-');
        let is_secret = flag.is_some_and(|flag: String| !is_flag && is_secret_pair(&flag, &part));
        masked.push(if is_secret { MASK.to_owned() } else { mask(&part) });
        flag = (is_flag && !part.contains('=')).then_some(part);
    }
    masked
}

fn mask_credential(value: &str) -> String {
    match value.split_once(' ') {
        Some((scheme, _)) if is_auth_scheme(scheme) => format!("{scheme} {MASK}"),
        Some(_) | None => MASK.to_owned(),
    }
}

/// Masks a word: as a URL, as `name=value`, or whole.
pub(super) fn mask_word(word: &str) -> String {
    if let Some(masked) = address::mask_url(word) {
        return masked;
    }
    if let Some(masked) = address::mask_embedded_url(word) {
        return masked;
    }
    match word.split_once('=') {
        Some((name, value))
            if is_secret_pair(name, value) || (!is_variable(value) && looks_secret(value)) =>
        {
            format!("{}={MASK}", mask_tokens(name))
        }
        _ if looks_secret(word) => MASK.to_owned(),
        _ => mask_tokens(word),
    }
}

/// Masks the tokens inside a word: those between quotes, brackets and the like, and those with the prefix of a
/// known service behind any other sign.
pub(super) fn mask_tokens(word: &str) -> String {
    let mut masked = String::with_capacity(word.len());
    let mut rest = word;
    loop {
        let (piece, after) = rest.split_at(rest.find(is_separator).unwrap_or(rest.len()));
        let is_name = masked.ends_with("${") && after.starts_with('}');
        match (is_name, looks_secret(piece)) {
            (true, _) => masked.push_str(piece),
            (false, true) => masked.push_str(MASK),
            (false, false) => masked.push_str(&mask_known_tokens(piece)),
        }
        let mut signs = after.chars();
        let Some(separator) = signs.next() else { return masked };
        masked.push(separator);
        rest = signs.as_str();
    }
}

/// Masks the tokens of known services inside a piece of a word. Other random text behind a `:` or an `@` is
/// left alone: the digest of a pinned image is public, and users compare it.
fn mask_known_tokens(piece: &str) -> String {
    let mask = |part: &str| {
        let text = part.trim_end_matches(is_mark);
        if has_token_prefix(text) { part.replacen(text, MASK, 1) } else { part.to_owned() }
    };
    piece.split_inclusive(is_mark).map(mask).collect()
}

/// Whether a character separates a token from what is written around it.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || "\"'`()[]{}<>,;|".contains(c)
}

fn is_mark(c: char) -> bool {
    matches!(c, ':' | '=' | '@')
}

/// Whether a value is secret because of its name: the name is the name of a secret, and the value is
/// neither a variable nor an authentication mode, as in `--auth envvar`.
pub(super) fn is_secret_pair(name: &str, value: &str) -> bool {
    is_credential_name(name) && !is_variable(value) && !is_mode(name, value)
}

/// Whether a value names an authentication mode and is not a secret.
fn is_mode(name: &str, value: &str) -> bool {
    let name = fold_name(name);
    if PASSWORD_WORDS.iter().any(|word| name.contains(word)) {
        return false;
    }
    let is_plain_word = value.len() <= MODE_CHARS
        && value.bytes().all(|byte| byte.is_ascii_lowercase() || b"-_".contains(&byte));
    let is_mode_name = MODE_NAMES.iter().any(|mode| name.ends_with(mode));
    (is_mode_name && is_plain_word) || MODES.contains(&fold_name(value).as_str())
}

/// Whether the text is exactly one `${NAME}`, which is displayed because the user needs to see the name.
pub(super) fn is_variable(text: &str) -> bool {
    text.strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|name| !name.contains(['}', '$']))
}

/// Whether a text looks like a token: by its prefix, or because it is long and random.
pub(super) fn looks_secret(text: &str) -> bool {
    has_token_prefix(text) || is_long_hex(text) || is_random(text) || is_mixed_run(text)
}

fn has_token_prefix(text: &str) -> bool {
    let has_prefix = TOKEN_PREFIXES.iter().any(|prefix| text.starts_with(prefix));
    has_prefix && text.len() >= TOKEN_CHARS / 2
}

fn is_long_hex(text: &str) -> bool {
    let digits = text.bytes().filter(|byte| *byte != b'-');
    text.len() >= 32 && digits.clone().count() >= 32 && digits.clone().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the text is one long run of mixed-case letters and digits, unlike any word, path or package.
fn is_random(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+=.~".contains(&byte);
    text.len() >= TOKEN_CHARS
        && text.bytes().all(allowed)
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
        && text.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Whether letters and digits alternate in one long run without a separator.
fn is_mixed_run(text: &str) -> bool {
    let kinds = || text.bytes().map(|byte| byte.is_ascii_digit());
    text.len() >= TOKEN_CHARS
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && kinds().zip(kinds().skip(1)).filter(|(one, next)| one != next).count() >= MIXED_CHANGES
}

fn fold_name(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}
