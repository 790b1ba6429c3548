//! Masks secrets in URLs for display.
//!
//! A URL is parsed by the parser that connects, so that the displayed host is the contacted host:
//! `https://a\@b/` is shown as `https://a/@b/`. Where the text holds `${VARIABLE}`, a stand-in takes its
//! place while the URL is parsed ([`stand_in`]). A text that does not parse is masked except for its
//! scheme, since its password cannot be located.

mod stand_in;

use percent_encoding::percent_decode_str;
use url::Url;

use self::stand_in::ParsedUrl;
use super::guess::{is_secret_pair, is_variable, looks_secret, mask_tokens, mask_word};
use crate::secret::MASK;

/// The longest fragment that passes for a heading in a document.
const HEADING_CHARS: usize = 40;

/// The shortest hexadecimal path segment that is taken for a token.
const HEX_TOKEN_CHARS: usize = 16;

/// Masks a word that is a URL with an authority; `None` for any other text.
///
/// The parser removes tabs and line breaks, which end words: what was several words would be shown as one, so
/// only the scheme is. The same holds for a host that holds a token.
pub(super) fn mask_url(text: &str) -> Option<String> {
    let shown = mask_whole_url(text)?;
    let Some((scheme, rest)) = shown.split_once("://") else { return Some(shown) };
    let authority = rest.split('/').next().unwrap_or_default();
    let is_several_words = text.contains(['\t', '\n', '\r']);
    let is_hidden = is_several_words || mask_tokens(authority) != authority;
    Some(if is_hidden { hide_behind_scheme(scheme) } else { shown })
}

fn mask_whole_url(text: &str) -> Option<String> {
    let parsed = ParsedUrl::parse(text).filter(|parsed| parsed.url.has_authority())?;
    // Where a part that cannot be expanded was masked, the text before it may be a password.
    if parsed.url.host_str().is_some_and(|host| host.contains(MASK)) {
        return None;
    }
    let shown = format_masked_url(&parsed);
    // The parser ends a bare host with `/`, which is not in the text.
    let is_as_written = shown.strip_suffix('/').is_some_and(|bare| bare == text);
    Some(if is_as_written { text.to_owned() } else { shown })
}

/// Masks the URL field of an entry; a text that is not a URL may still expand to one.
pub(super) fn mask_url_field(text: &str) -> String {
    if is_variable(text) {
        return text.to_owned();
    }
    if let Some(shown) = mask_whole_url(text) {
        return shown;
    }
    match text.split_once("://") {
        Some((scheme, _)) => hide_behind_scheme(scheme),
        // `${BASE}/mcp?key=…` and `example.com/mcp` read like the rest of a URL.
        None => mask_whole_url(&format!("https://{text}"))
            .and_then(|shown| shown.strip_prefix("https://").map(str::to_owned))
            .unwrap_or_else(|| MASK.to_owned()),
    }
}

/// Masks a word that contains a URL, such as `--url=https://…` and `'https://…'`.
pub(super) fn mask_embedded_url(word: &str) -> Option<String> {
    let (before, _) = word.split_once("://")?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.${}_".contains(c);
    let start = before.rfind(|c| !is_scheme(c)).map_or(0, |at| at + char_len(before, at));
    let (prefix, rest) = word.split_at_checked(start)?;
    let quote = prefix.chars().next_back().filter(|c| matches!(c, '"' | '\'' | '`'));
    let end = quote.and_then(|quote| rest.find(quote)).unwrap_or(rest.len());
    let (url, suffix) = rest.split_at_checked(end)?;
    let prefix = if looks_secret(prefix.trim_end_matches(|c: char| !c.is_ascii_alphanumeric())) {
        MASK.to_owned()
    } else {
        mask_tokens(prefix)
    };
    Some(match mask_url(url) {
        Some(shown) => format!("{prefix}{shown}{}", mask_word(suffix)),
        None => {
            format!("{prefix}{}", hide_behind_scheme(url.split_once("://").map_or("", |(scheme, _)| scheme)))
        }
    })
}

/// Whether a URL holds a literal secret.
///
/// Display masks every query value; here `?mode=fast` is not a secret.
pub(super) fn holds_secret(text: &str) -> bool {
    let Some(ParsedUrl { url, stand_ins }) = ParsedUrl::parse(text) else { return text.contains('@') };
    let is_literal = |part: &str| !part.is_empty() && !is_variable(&stand_ins.restore_placeholders(part));
    let mut pairs = url.query().into_iter().chain(url.fragment()).flat_map(|part| part.split('&'));
    is_literal(url.username())
        || url.password().is_some_and(is_literal)
        || url.path().split('/').any(|segment| is_secret_segment(&stand_ins.restore_placeholders(segment)))
        || pairs.any(|pair| is_secret_text(&stand_ins.restore_placeholders(pair)))
}

/// The segments of a URL's path that look like tokens, as they are sent.
pub(super) fn secret_path_segments(url: &Url) -> Vec<&str> {
    url.path().split('/').filter(|segment| is_secret_segment(segment)).collect()
}

fn format_masked_url(ParsedUrl { url, stand_ins }: &ParsedUrl) -> String {
    let restore = |part: &str| stand_ins.restore_placeholders(part);
    let mut shown = format!("{}://", restore(url.scheme()));
    if !url.username().is_empty() {
        shown.push_str(&mask_part(restore(url.username())));
    }
    if let Some(password) = url.password() {
        shown.push(':');
        shown.push_str(&mask_part(restore(password)));
    }
    if !url.username().is_empty() || url.password().is_some() {
        shown.push('@');
    }
    shown.push_str(&restore(url.host_str().unwrap_or_default()));
    if let Some(port) = url.port() {
        shown.push(':');
        shown.push_str(&stand_ins.restore_port(port));
    }
    let path = url.path().split('/').map(|segment| mask_segment(restore(segment)));
    shown.push_str(&path.collect::<Vec<_>>().join("/"));
    if let Some(query) = url.query() {
        shown.push('?');
        shown.push_str(&mask_pairs(&restore(query)));
    }
    if let Some(fragment) = url.fragment().map(restore) {
        shown.push('#');
        let is_plain = is_variable(&fragment) || is_heading(&fragment);
        shown.push_str(&if is_plain { fragment } else { mask_pairs(&fragment) });
    }
    shown
}

/// Masks a user name or password unless it is a variable.
fn mask_part(part: String) -> String {
    if is_variable(&part) { part } else { MASK.to_owned() }
}

fn mask_segment(segment: String) -> String {
    if is_secret_segment(&segment) { MASK.to_owned() } else { segment }
}

fn mask_pairs(query: &str) -> String {
    query.split('&').map(mask_pair).collect::<Vec<_>>().join("&")
}

/// Masks the value of a query pair regardless of its name, because no list of secret names is complete.
fn mask_pair(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, value)) if value.is_empty() || is_variable(value) || is_flag(value) => {
            format!("{}={value}", mask_pair_name(name))
        }
        Some((name, _)) => format!("{}={MASK}", mask_pair_name(name)),
        None if pair.is_empty() || is_variable(pair) => pair.to_owned(),
        None => MASK.to_owned(),
    }
}

/// Masks the name of a query pair if it holds a token.
fn mask_pair_name(name: &str) -> &str {
    let text = percent_decode_str(name).decode_utf8_lossy();
    if mask_tokens(&text) == text { name } else { MASK }
}

/// Whether a fragment is a heading in a document, such as `getting-started`: words without digits.
fn is_heading(fragment: &str) -> bool {
    fragment.len() <= HEADING_CHARS
        && fragment.bytes().all(|byte| byte.is_ascii_alphabetic() || b"-_/".contains(&byte))
}

fn is_flag(value: &str) -> bool {
    matches!(value, "true" | "false" | "0" | "1")
}

/// Whether a path segment is a token, contains one, or contains the credentials of another URL.
fn is_secret_segment(segment: &str) -> bool {
    let text = stand_in::without_placeholders(segment);
    let text = percent_decode_str(&text).decode_utf8_lossy();
    let has_credentials = text.split_once('@').is_some_and(|(user, _)| user.contains(':'));
    // The digest of a pinned image is public: users compare it.
    has_credentials || (!text.contains("@sha256:") && (is_secret_text(&text) || is_hex_token(&text)))
}

/// Whether the text is a hexadecimal number, too long for a version and too mixed for a word.
fn is_hex_token(text: &str) -> bool {
    text.len() >= HEX_TOKEN_CHARS
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_secret_text(text: &str) -> bool {
    let is_named_secret = text.split_once('=').is_some_and(|(name, value)| is_secret_pair(name, value));
    is_named_secret
        || looks_secret(text)
        || text.split([':', ';', ',', '=']).any(looks_secret)
        || mask_tokens(text) != text
}

fn hide_behind_scheme(scheme: &str) -> String {
    format!("{}://{MASK}", mask_tokens(scheme))
}

fn char_len(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
}
