//! Redacts a server's secrets in its output: many programs print their settings when they fail.

use std::borrow::Cow;
use std::sync::Arc;

use mcparley_model::config::{
    RemoteConfig, ServerConfig, StdioConfig, TransportConfig, secret_path_segments,
};
use mcparley_model::secret::MASK;
use mcparley_model::text::{TRUNCATED, Untrusted};
use mcparley_wire::{Failure, RpcError};

/// The minimum length of a secret. Shorter values are words such as `debug` or `8080`, and redacting them
/// would hide the message, not a secret.
const SHORTEST: usize = 8;

/// Redacts the secret values of one entry.
#[derive(Clone, Default)]
pub struct Redactor(Vec<String>);

impl Redactor {
    /// The redactor for an entry: values of variables and headers, credentials, tokens and parameters of the
    /// URL, and arguments that look like keys.
    pub fn from_config(config: &ServerConfig) -> Self {
        let mut values = Vec::new();
        match &config.transport {
            TransportConfig::Stdio(StdioConfig { args, env, .. }) => {
                values.extend(env.iter().map(|(_, value)| value.expose().clone()));
                let keys = args.iter().map(|argument| argument.expose().as_str());
                values.extend(
                    keys.map(argument_value).filter(|value| looks_like_key(value)).map(str::to_owned),
                );
            }
            TransportConfig::Sse(remote) | TransportConfig::Http(remote) | TransportConfig::Ws(remote) => {
                add_remote_secrets(remote, &mut values)
            }
            TransportConfig::SseIde(ide) | TransportConfig::WsIde(ide) => {
                values.extend(ide.auth_token.iter().map(|token| token.expose().clone()));
            }
            TransportConfig::Sdk { .. } | TransportConfig::ClaudeAiProxy { .. } => {}
        }
        values.retain(|value| value.len() >= SHORTEST);
        // Longest first: one value may be a prefix of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// Redacts the secrets in a text.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut redacted = Cow::Borrowed(text);
        for value in &self.0 {
            if redacted.contains(value.as_str()) {
                redacted = Cow::Owned(redacted.replace(value.as_str(), MASK));
            }
        }
        match self.strip_cut_secret(&redacted) {
            Some(rest) => Cow::Owned(format!("{rest}{MASK}{TRUNCATED}")),
            None => redacted,
        }
    }

    /// Redacts the secrets in a failure: a server's error may repeat the request.
    pub fn redact_failure(&self, failure: Failure) -> Failure {
        let words = |words: &str| Arc::from(self.redact(words).as_ref());
        let text = |text: &Untrusted| Untrusted::new(self.redact(text.raw()));
        match failure {
            Failure::Refused { obstacle, reason, hint } => {
                Failure::Refused { obstacle, reason: words(&reason), hint: hint.as_deref().map(words) }
            }
            Failure::Protocol(why) => Failure::Protocol(words(&why)),
            Failure::ErrorResponse(RpcError { code, message, data }) => {
                Failure::ErrorResponse(RpcError { code, message: text(&message), data })
            }
            Failure::Status { code, retry_after, text: message } => {
                Failure::Status { code, retry_after, text: text(&message) }
            }
            failure @ (Failure::TimedOut { .. }
            | Failure::Closed { .. }
            | Failure::Damaged(_)
            | Failure::TooLarge { .. }
            | Failure::Unauthorized { .. }
            | Failure::Forbidden { .. }
            | Failure::SessionExpired
            | Failure::QueueFull { .. }) => failure,
        }
    }

    /// The text before a secret that truncation has cut, of which only the beginning is left.
    fn strip_cut_secret<'t>(&self, text: &'t str) -> Option<&'t str> {
        let text = text.strip_suffix(TRUNCATED)?;
        let beginnings = self.0.iter().flat_map(|value| {
            let ends = value.char_indices().map(|(at, _)| at).rev().take_while(|at| *at >= SHORTEST / 2);
            ends.filter_map(|at| value.get(..at))
        });
        beginnings.filter_map(|beginning| text.strip_suffix(beginning)).min_by_key(|rest| rest.len())
    }
}

/// Adds the secrets of a remote entry: headers, and parts of the URL.
fn add_remote_secrets(remote: &RemoteConfig, values: &mut Vec<String>) {
    for (_, value) in &remote.headers {
        // Servers may print the `abc` of `Bearer abc` alone.
        let token = value.expose().rsplit(' ').next().unwrap_or_default();
        values.extend([value.expose().clone(), token.to_owned()]);
    }
    let url = remote.url.expose();
    values.extend([url.username(), url.password().unwrap_or_default()].map(str::to_owned));
    values.extend(secret_path_segments(url).into_iter().map(str::to_owned));
    values.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
    // A server that prints the URL prints it percent-encoded.
    let written = url.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    values.extend(written.map(|(_, value)| value.to_owned()));
}

/// The value of a `--name=value` argument, or the whole argument.
fn argument_value(argument: &str) -> &str {
    argument.split_once('=').map_or(argument, |(_, value)| value)
}

/// Whether a value looks like a key: long, with both letters and digits, without spaces, slashes and `@`.
fn looks_like_key(value: &str) -> bool {
    let is_mixed = value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic());
    value.len() >= 2 * SHORTEST && is_mixed && !value.contains(['/', ' ', '@'])
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} values)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    //! Redacted and unredacted values.
    use mcparley_model::secret::Secret;

    use super::*;

    fn local(args: &[&str], env: &[(&str, &str)]) -> Redactor {
        let config = ServerConfig::new(TransportConfig::Stdio(StdioConfig {
            command: "x".to_owned(),
            args: args.iter().map(|argument| Secret::new((*argument).to_owned())).collect(),
            env: env
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())))
                .collect(),
            cwd: None,
            inherit_env: false,
        }));
        Redactor::from_config(&config)
    }

    // B62
    #[test]
    fn secrets_are_redacted_in_failures() {
        let redactor = local(&[], &[("API_KEY", "canary-7f3a")]);
        let message = |failure: Failure| redactor.redact_failure(failure).to_string();
        let answered = Failure::ErrorResponse(RpcError::new(-32000, "bad key canary-7f3a"));
        assert_eq!(message(answered), "the server answered with error -32000: bad key ***");
        assert!(message(Failure::Protocol("it says canary-7f3a!".into())).ends_with("it says ***!"));
        let text = Untrusted::new(format!("<p>canary-7{TRUNCATED}"));
        let status = message(Failure::Status { code: 500, retry_after: None, text });
        assert!(status.ends_with(&format!("<p>***{TRUNCATED}")), "{status}");
        assert_eq!(redactor.redact("a can"), "a can");
    }

    // B62
    #[test]
    fn variables_and_keys_are_redacted_and_words_and_folders_stay() {
        let redactor = local(
            &["--token=abcdef0123456789xyz", "/home/somebody/project1", "--verbose"],
            &[("API_KEY", "canary-7f3a"), ("LEVEL", "debug")],
        );
        let message =
            "level debug, key canary-7f3a, token abcdef0123456789xyz in /home/somebody/project1 --verbose";
        assert_eq!(
            redactor.redact(message),
            "level debug, key ***, token *** in /home/somebody/project1 --verbose"
        );
    }

    fn remote(url: &str, headers: &[(&str, &str)]) -> Redactor {
        let header = |(name, value): &(&str, &str)| ((*name).to_owned(), Secret::new((*value).to_owned()));
        Redactor::from_config(&ServerConfig::new(TransportConfig::Http(RemoteConfig {
            url: Secret::new(url.parse().unwrap()),
            headers: headers.iter().map(header).collect(),
            headers_helper: None,
            oauth: None,
        })))
    }

    // B62: masking the shorter one first would leave the end of the longer one.
    #[test]
    fn longest_secret_is_masked_first() {
        let (short, long) = ("canary-7f3a", "canary-7f3a-and-more");
        for variables in [[("A", short), ("B", long)], [("A", long), ("B", short)]] {
            let redactor = local(&[], &variables);
            assert_eq!(redactor.redact("x canary-7f3a-and-more y canary-7f3a z"), "x *** y *** z");
        }
    }

    // B62
    #[test]
    fn token_of_a_header_is_masked_without_its_scheme_too() {
        let redactor = remote("https://h/", &[("Authorization", "Bearer canary-7f3a")]);
        assert_eq!(redactor.redact("sent `Bearer canary-7f3a`"), "sent `***`");
        assert_eq!(redactor.redact("token canary-7f3a expired"), "token *** expired");
        assert_eq!(redactor.redact("Bearer is missing"), "Bearer is missing");
    }

    // B62
    #[test]
    fn url_values_are_masked_encoded_and_decoded() {
        let redactor = remote("https://u:pass-word-9@h/mcp?key=canary%2F7f3a&mode=fast", &[]);
        assert_eq!(redactor.redact("key canary/7f3a"), "key ***");
        assert_eq!(redactor.redact("GET /mcp?key=canary%2F7f3a&mode=fast"), "GET /mcp?key=***&mode=fast");
        assert_eq!(redactor.redact("login pass-word-9"), "login ***");
    }

    // B62 C17
    #[test]
    fn user_and_tokens_in_the_path_of_a_url_are_masked() {
        let redactor = remote("https://canary-user@h/s/ghp_0123456789/mcp", &[]);
        assert_eq!(redactor.redact("no /s/ghp_0123456789/mcp for canary-user"), "no /s/***/mcp for ***");
    }
}
