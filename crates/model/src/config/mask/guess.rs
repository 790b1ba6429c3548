//! Guesses which parts of a visible string are secrets.
//!
//! It errs on the side of hiding: a hidden version number costs a look into the file, a shown token costs
//! a token.

use crate::secret::MASK;

/// Words that make a name the name of a secret, compared without `-`, `_` and case.
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

/// How tokens of well-known services begin.
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

/// Below this length random text is too short to be worth anything.
const TOKEN_CHARS: usize = 20;

/// Whether a header or variable of this name carries `scheme credential`.
pub(super) fn is_credential_name(name: &str) -> bool {
    let folded = fold(name);
    SECRET_WORDS.iter().any(|word| folded.contains(word))
}

/// Whether a word is an authentication scheme and not the secret itself.
pub(super) fn is_auth_scheme(word: &str) -> bool {
    AUTH_SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Masks a list of arguments.
pub(super) fn mask_arguments(arguments: impl Iterator<Item = String>) -> Vec<String> {
    mask_sequence(arguments, mask)
}

/// Masks the secret parts of one string.
pub(super) fn mask(text: &str) -> String {
    if let Some((name, value)) = text.split_once('=')
        && !name.contains("://")
        && !name.contains(' ')
        && is_credential_name(name)
        && !is_variable(value)
    {
        return format!("{name}={MASK}");
    }
    if let Some((name, value)) = text.split_once(": ")
        && is_credential_name(name)
    {
        return format!("{name}: {}", mask_credential(value));
    }
    // Some launchers break at spaces, so their users write `Authorization:Bearer …`.
    if let Some((name, value)) = text.split_once(':')
        && !name.contains([' ', '/', '{'])
        && !value.starts_with("//")
        && is_credential_name(name)
        && !is_variable(value)
    {
        return format!("{name}:{}", mask_credential(value));
    }
    mask_sequence(text.split(' ').map(str::to_owned), mask_word).join(" ")
}

/// Masks one after the other, where a flag may announce that the next one is secret.
fn mask_sequence(parts: impl Iterator<Item = String>, mask: impl Fn(&str) -> String) -> Vec<String> {
    let mut announced = false;
    let mut masked = Vec::new();
    for part in parts {
        let is_flag = part.starts_with('-');
        let is_secret = announced && !is_flag && !is_variable(&part);
        masked.push(if is_secret { MASK.to_owned() } else { mask(&part) });
        announced = is_flag && !part.contains('=') && is_credential_name(&part);
    }
    masked
}

fn mask_credential(value: &str) -> String {
    match value.split_once(' ') {
        Some((scheme, _)) if is_auth_scheme(scheme) => format!("{scheme} {MASK}"),
        Some(_) | None => MASK.to_owned(),
    }
}

fn mask_word(word: &str) -> String {
    if let Some((scheme, rest)) = word.split_once("://") {
        return format!("{scheme}://{}", mask_address(rest));
    }
    match word.split_once('=') {
        Some((name, value)) if !is_variable(value) && (looks_secret(value) || is_credential_name(name)) => {
            format!("{name}={MASK}")
        }
        _ if looks_secret(word) => MASK.to_owned(),
        _ => word.to_owned(),
    }
}

/// What follows `://`: a password before `@`, tokens in the path, every value of the query, the fragment.
fn mask_address(rest: &str) -> String {
    let (rest, fragment) = split_at(rest, '#');
    let (rest, query) = split_at(rest, '?');
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((name, password)) if is_variable(password) => format!("{name}:{password}@{host}"),
            Some((name, _)) => format!("{name}:{MASK}@{host}"),
            None if is_variable(user) => format!("{user}@{host}"),
            None => format!("{MASK}@{host}"),
        },
        None => mask_port(authority),
    };
    let path = path.split('/').map(|part| if looks_secret(part) { MASK } else { part });
    let mut masked = format!("{authority}{}", path.collect::<Vec<_>>().join("/"));
    if let Some(query) = query {
        masked.push('?');
        masked.push_str(&query.split('&').map(mask_pair).collect::<Vec<_>>().join("&"));
    }
    if fragment.is_some() {
        masked.push('#');
        masked.push_str(MASK);
    }
    masked
}

/// A port that is no number is the beginning of a password with a `/` in it.
fn mask_port(authority: &str) -> String {
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) || text.ends_with(']');
    match authority.rsplit_once(':') {
        Some((host, port)) if !is_port(port) && !is_variable(port) => format!("{host}:{MASK}"),
        Some(_) | None => authority.to_owned(),
    }
}

fn mask_pair(pair: &str) -> String {
    match pair.split_once('=') {
        Some((_, value)) if value.is_empty() || is_variable(value) => pair.to_owned(),
        Some((name, _)) => format!("{name}={MASK}"),
        None if pair.is_empty() || is_variable(pair) => pair.to_owned(),
        None => MASK.to_owned(),
    }
}

fn split_at(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.split_once(mark) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// Exactly one `${NAME}`: shown, because a name is what people need to see.
fn is_variable(text: &str) -> bool {
    text.strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|name| !name.contains(['}', '$']))
}

fn looks_secret(text: &str) -> bool {
    let has_prefix = TOKEN_PREFIXES.iter().any(|prefix| text.starts_with(prefix));
    if has_prefix && text.len() >= TOKEN_CHARS / 2 {
        return true;
    }
    is_long_hex(text) || is_random(text)
}

fn is_long_hex(text: &str) -> bool {
    let digits = text.bytes().filter(|byte| *byte != b'-');
    text.len() >= 32 && digits.clone().count() >= 32 && digits.clone().all(|byte| byte.is_ascii_hexdigit())
}

/// Letters of both cases and digits in one long unbroken run: no word, path or package looks like this.
fn is_random(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+=.~".contains(&byte);
    text.len() >= TOKEN_CHARS
        && text.bytes().all(allowed)
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
        && text.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}
