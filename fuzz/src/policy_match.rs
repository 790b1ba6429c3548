//! Oracle of policy patterns, for addresses and for commands.
//!
//! A pattern for plain hosts agrees with a reference that compares part by part. What an address is called
//! otherwise (its user, its fragment, the dot of the DNS root) changes nothing. A command that a pattern allows
//! is also denied by it, as is every command that equals the pattern word by word, also behind `env`.

use mcparley_model::document::JsonDocument;
use mcparley_model::name::ServerName;
use mcparley_model::policy::{
    Policy, PolicyList, PolicyOwner, PolicySubject, PolicyTarget, ResolvedCommand, UrlPattern,
};
use mcparley_model::scope::{Scope, Source};
use serde_json::json;
use url::{Host, Url};

use crate::wildcard::matches_wildcard;

/// The most words of a command.
const WORDS: usize = 12;

/// Checks four lines: a pattern for addresses, an address, a pattern for commands, a command.
pub fn check_policy(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.split('\n');
    let mut next = || lines.next().unwrap_or_default();
    let (pattern, address, wanted, command) = (next(), next(), next(), next());
    if let Ok(url) = Url::parse(address) {
        check_own_pattern(&url);
        if let Ok(parsed) = UrlPattern::parse(pattern) {
            check_address(pattern, &parsed, &url);
        }
    }
    let words = |line: &'_ str| line.split(' ').take(WORDS).map(str::to_owned).collect::<Vec<_>>();
    check_command(&words(wanted), &words(command));
}

/// An address matches the pattern that spells it out, and the patterns that leave parts open.
fn check_own_pattern(url: &Url) {
    let Some(host) = url.host_str().filter(|host| !host.is_empty()) else { return };
    let everything = UrlPattern::parse("*://*:*");
    assert!(everything.is_ok_and(|pattern| pattern.matches_url(url)), "{url}");
    let Some(port) = url.port_or_known_default() else { return };
    let origin = format!("{}://{host}:{port}", url.scheme());
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    // A pattern cannot spell out a star, and must not have a backslash.
    if [host, url.path(), &query].iter().any(|part| part.contains(['*', '\\'])) {
        return;
    }
    for pattern in [format!("{origin}{}{query}", url.path()), origin.clone(), format!("{origin}/*")] {
        let parsed = UrlPattern::parse(&pattern);
        let is_special = matches!(url.scheme(), "http" | "https" | "ws" | "wss");
        assert!(parsed.is_ok() || !is_special, "{pattern} is refused");
        assert!(parsed.is_ok_and(|parsed| parsed.matches_url(url)) || !is_special, "{pattern} for {url}");
    }
}

fn check_address(written: &str, pattern: &UrlPattern, url: &Url) {
    let matches = pattern.matches_url(url);
    let mut other = url.clone();
    other.set_fragment(Some("elsewhere"));
    // Addresses without a host cannot have a user.
    let _hostless = (other.set_username("user"), other.set_password(Some("password")));
    assert_eq!(pattern.matches_url(&other), matches, "{written} for {other}");
    if let Some(Host::Domain(host)) = url.host()
        && !host.ends_with('.')
    {
        let rooted = format!("{host}.");
        if other.set_host(Some(&rooted)).is_ok() && other.host_str() == Some(&rooted) {
            assert_eq!(pattern.matches_url(&other), matches, "{written} for {other}");
        }
    }
    if let Some(expected) = match_plainly(written, url) {
        assert_eq!(matches, expected, "{written} for {url}");
    }
}

/// The reference, for plain patterns and addresses; `None` for all others.
fn match_plainly(pattern: &str, url: &Url) -> Option<bool> {
    let (scheme, rest) = pattern.split_once("://")?;
    let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(authority_end)?;
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let (path, query) = tail.split_once('?').map_or((tail, None), |(path, query)| (path, Some(query)));
    let is_plain =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._=&*".contains(&byte));
    let is_host = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || b"-.*".contains(&byte));
    let Host::Domain(found) = url.host()? else { return None };
    let found_query = url.query().unwrap_or_default();
    let texts = [path, query.unwrap_or_default(), url.path(), found_query];
    let is_local = |host: &str| host.contains("localhost");
    let is_readable = texts.into_iter().all(is_plain) && [host, found].into_iter().all(is_host);
    if !is_readable
        || is_local(host)
        || is_local(found)
        || [host, found].iter().any(|host| host.ends_with('.'))
    {
        return None;
    }
    let plain_scheme = |scheme: &str| match scheme {
        "ws" => "http".to_owned(),
        "wss" => "https".to_owned(),
        other => other.to_ascii_lowercase(),
    };
    let port_fits = match port {
        "" if authority.contains(':') => return None,
        "" => url.port().is_none(),
        "*" => true,
        digits => url.port_or_known_default() == Some(digits.parse().ok()?),
    };
    Some(
        (scheme == "*" || plain_scheme(scheme) == plain_scheme(url.scheme()))
            && matches_wildcard(host, found)
            && !(host.starts_with("*.") && found.starts_with('.'))
            && port_fits
            && (path.is_empty() || matches_wildcard(path, url.path()))
            && query.is_none_or(|query| matches_wildcard(query, found_query)),
    )
}

fn check_command(pattern: &[String], argv: &[String]) {
    let Some(program) = argv.first() else { return };
    let [is_allowed, is_denied] = decide_command(pattern, argv);
    assert!(!is_allowed || is_denied, "{pattern:?} allows {argv:?} and cannot deny it");
    let equals = |(wanted, word): (&String, &String)| matches_wildcard(wanted, word);
    let is_equal = |pattern: &[String], argv: &[String]| {
        pattern.len() == argv.len() && pattern.iter().zip(argv).all(equals)
    };
    assert!(is_denied || !is_equal(pattern, argv), "{pattern:?} does not deny {argv:?}");
    let arguments = |words: &[String]| words.get(1..).unwrap_or_default().to_vec();
    assert!(!is_allowed || is_equal(&arguments(pattern), &arguments(argv)), "{pattern:?} allows {argv:?}");
    if program.is_empty() || program.starts_with('-') || program.contains('=') {
        return;
    }
    let wrapped = [vec!["env".to_owned(), "A=1".to_owned()], argv.to_vec()].concat();
    let [is_wrapped_allowed, is_wrapped_denied] = decide_command(pattern, &wrapped);
    assert!(!is_denied || is_wrapped_denied, "{pattern:?} does not deny {wrapped:?}");
    assert!(!is_wrapped_allowed || is_equal(&arguments(pattern), &arguments(&wrapped)));
}

/// Whether a policy with the pattern as its only entry allows the command, and whether it denies it.
fn decide_command(pattern: &[String], argv: &[String]) -> [bool; 2] {
    let text = json!([{ "serverCommand": pattern }]).to_string();
    let Ok(document) = JsonDocument::parse(Source::from_label("fuzz"), &text) else {
        unreachable!("printed JSON parses")
    };
    let Some(root) = document.root() else { unreachable!("{text} is a list") };
    let (list, warnings) = PolicyList::from_node(root);
    assert_eq!(warnings, []);
    let (mut allowing, mut denying) = (Policy::default(), Policy::default());
    allowing.add_allow_list(PolicyOwner::Managed, list.clone());
    denying.add_deny_list(list);
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    let command = ResolvedCommand::from_argv(&words);
    let name = ServerName::new("s");
    let target = PolicyTarget::Command { command: &command, env_names: &[] };
    let subject = PolicySubject { name: &name, scope: Scope::User, target };
    [allowing.check_server(&subject).is_ok(), denying.check_server(&subject).is_err()]
}
