//! Distinguishes a URL from a command among the words of `add`.

use super::AddArgs;

impl AddArgs {
    /// Whether the target is a URL, and not a command that looks like one.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        let Some((target, arguments)) = self.target.split_first() else { return false };
        match self.options.transport.as_deref() {
            Some(transport) if is_remote_transport(transport) => {
                has_scheme(target) || is_host(target) || target.starts_with("${")
            }
            Some(_) => false,
            // An existing path is a program, even if its name looks like a host.
            None => {
                let is_address =
                    arguments.is_empty() && target.contains('/') && is_host(target) && !is_file(target);
                has_scheme(target) || is_address
            }
        }
    }
}

/// The URL with a scheme: `https`, or `http` for loopback addresses. A URL that begins with a variable is not
/// changed.
#[must_use]
pub fn with_scheme(url: &str) -> String {
    if has_scheme(url) || url.starts_with("${") {
        return url.to_owned();
    }
    let scheme = if is_loopback(host_part(url)) { "http" } else { "https" };
    format!("{scheme}://{url}")
}

pub(super) fn has_scheme(word: &str) -> bool {
    let scheme = word.split_once("://").map_or("", |(scheme, _)| scheme);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

pub(super) fn is_remote_transport(word: &str) -> bool {
    matches!(word, "http" | "streamable-http" | "sse" | "ws")
}

/// Whether a word begins with a host name, as in `example.com/mcp` and `localhost:3000/mcp`.
fn is_host(word: &str) -> bool {
    let host = host_part(word);
    let labels: Vec<&str> = host.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty()
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && !label.starts_with('-')
    };
    let is_domain = labels.len() > 1
        && labels.iter().all(is_label)
        && labels.last().is_some_and(|last| last.len() > 1 && last.chars().all(|c| c.is_ascii_alphabetic()));
    is_domain || is_loopback(host) || host.parse::<std::net::Ipv4Addr>().is_ok()
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host == "[::1]"
        || host.parse().is_ok_and(|ip: std::net::Ipv4Addr| ip.is_loopback())
}

/// The host part of a URL without scheme, without its port.
fn host_part(word: &str) -> &str {
    let authority = word.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        Some(_) | None => authority,
    }
}

fn is_file(word: &str) -> bool {
    std::path::Path::new(word).exists()
}
