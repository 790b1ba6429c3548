//! Takes a server's own secrets out of what it says: many programs print their settings when they fail (B62).

use std::borrow::Cow;

use mcparley_model::config::{Remote, ServerConfig, Stdio, Transport};
use mcparley_model::secret::MASK;

/// Shorter values are words like `debug` or `8080`; taking them out would hide the message, not a secret.
const SHORTEST: usize = 8;

/// The values that must not be seen in what a server says.
#[derive(Clone, Default)]
pub(crate) struct Redactor(Vec<String>);

impl Redactor {
    /// Values of variables and headers, passwords and parameters of the address, and arguments that look like keys.
    pub(crate) fn of(config: &ServerConfig) -> Self {
        let mut values = Vec::new();
        match &config.transport {
            Transport::Stdio(Stdio { args, env, .. }) => {
                values.extend(env.iter().map(|(_, value)| value.expose().clone()));
                let keys = args.iter().map(|argument| argument.expose().as_str());
                values.extend(
                    keys.map(after_equals).filter(|value| looks_like_a_key(value)).map(str::to_owned),
                );
            }
            Transport::Sse(remote) | Transport::Http(remote) | Transport::Ws(remote) => {
                of_remote(remote, &mut values)
            }
            Transport::Sdk { .. }
            | Transport::SseIde(_)
            | Transport::WsIde(_)
            | Transport::ClaudeAiProxy { .. } => {}
        }
        values.retain(|value| value.len() >= SHORTEST);
        // The longest first: one value may be the beginning of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// The text without them.
    pub(crate) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut redacted = Cow::Borrowed(text);
        for value in &self.0 {
            if redacted.contains(value.as_str()) {
                redacted = Cow::Owned(redacted.replace(value.as_str(), MASK));
            }
        }
        redacted
    }
}

fn of_remote(remote: &Remote, values: &mut Vec<String>) {
    for (_, value) in &remote.headers {
        // `Bearer abc` is told as `abc` too.
        let token = value.expose().rsplit(' ').next().unwrap_or_default();
        values.extend([value.expose().clone(), token.to_owned()]);
    }
    let url = remote.url.expose();
    values.extend(url.password().map(str::to_owned));
    values.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
}

fn after_equals(argument: &str) -> &str {
    argument.split_once('=').map_or(argument, |(_, value)| value)
}

/// Long, without blanks and slashes, and made of letters and digits both.
fn looks_like_a_key(value: &str) -> bool {
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
    //! What is taken out, and what is not.
    use mcparley_model::secret::Secret;

    use super::*;

    fn local(args: &[&str], env: &[(&str, &str)]) -> Redactor {
        let config = ServerConfig {
            transport: Transport::Stdio(Stdio {
                command: "x".to_owned(),
                args: args.iter().map(|argument| Secret::new((*argument).to_owned())).collect(),
                env: env
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())))
                    .collect(),
                cwd: None,
                inherit_env: false,
            }),
            timeout: None,
            idle_timeout: None,
            always_load: false,
            required: false,
            era: mcparley_model::config::Era::Auto,
            enabled_tools: Vec::new(),
            disabled_tools: Vec::new(),
        };
        Redactor::of(&config)
    }

    // B62
    #[test]
    fn variables_and_keys_are_taken_out_and_words_and_folders_stay() {
        let redactor = local(
            &["--token=abcdef0123456789xyz", "/home/somebody/project1", "--verbose"],
            &[("API_KEY", "canary-7f3a"), ("LEVEL", "debug")],
        );
        let said =
            "level debug, key canary-7f3a, token abcdef0123456789xyz in /home/somebody/project1 --verbose";
        assert_eq!(
            redactor.redact(said),
            "level debug, key ***, token *** in /home/somebody/project1 --verbose"
        );
    }
}
