//! The model APIs that a conversation can use, with their defaults.

use std::fmt;
use std::str::FromStr;

use mcparley::catalog::Dialect;
use serde::Serialize;

/// A model API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions API, which many services implement.
    OpenAi,
    /// Gemini's `generateContent`.
    Gemini,
}

/// The default model of Anthropic's API: the current one of the middle size.
pub const ANTHROPIC_DEFAULT_MODEL: &str = "claude-sonnet-5-5";

/// The default model of OpenAI's API.
pub const OPENAI_DEFAULT_MODEL: &str = "gpt-5.4";

/// The default model of Gemini's API: an alias for the current one.
pub const GEMINI_DEFAULT_MODEL: &str = "gemini-flash-latest";

/// The environment variables of one provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProviderVariables {
    /// The key; the first variable that is set counts.
    pub(crate) keys: &'static [&'static str],
    /// A bearer token in place of the key.
    pub(crate) token: Option<&'static str>,
    pub(crate) base_url: &'static str,
    pub(crate) model: &'static str,
}

impl Provider {
    /// All providers, in the order in which they are chosen when several are configured.
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::Gemini];

    /// The name in `provider:model`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
        }
    }

    /// The name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
            Self::Gemini => "Gemini",
        }
    }

    /// The form of the tool list.
    #[must_use]
    pub fn dialect(self) -> Dialect {
        match self {
            Self::Anthropic => Dialect::Anthropic,
            Self::OpenAi => Dialect::OpenAiChat,
            Self::Gemini => Dialect::Gemini,
        }
    }

    /// The model that is used if none is named.
    #[must_use]
    pub fn default_model(self) -> &'static str {
        match self {
            Self::Anthropic => ANTHROPIC_DEFAULT_MODEL,
            Self::OpenAi => OPENAI_DEFAULT_MODEL,
            Self::Gemini => GEMINI_DEFAULT_MODEL,
        }
    }

    /// The size of the context in tokens that even small current models of the provider have. It decides
    /// which tools are deferred.
    #[must_use]
    pub fn context_window(self) -> u64 {
        match self {
            Self::Anthropic => 200_000,
            Self::OpenAi => 128_000,
            Self::Gemini => 1_000_000,
        }
    }

    pub(crate) fn default_base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    pub(crate) fn variables(self) -> ProviderVariables {
        match self {
            Self::Anthropic => ProviderVariables {
                keys: &["ANTHROPIC_API_KEY"],
                token: Some("ANTHROPIC_AUTH_TOKEN"),
                base_url: "ANTHROPIC_BASE_URL",
                model: "ANTHROPIC_MODEL",
            },
            Self::OpenAi => ProviderVariables {
                keys: &["OPENAI_API_KEY"],
                token: None,
                base_url: "OPENAI_BASE_URL",
                model: "OPENAI_MODEL",
            },
            Self::Gemini => ProviderVariables {
                keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
                token: None,
                base_url: "GEMINI_BASE_URL",
                model: "GEMINI_MODEL",
            },
        }
    }

    /// The provider whose models usually have such names.
    pub(crate) fn guess_from_model(model: &str) -> Option<Self> {
        let starts = |words: &[&str]| words.iter().any(|word| model.starts_with(word));
        match () {
            () if starts(&["claude"]) => Some(Self::Anthropic),
            () if starts(&["gpt-", "chatgpt-", "o1", "o3", "o4"]) => Some(Self::OpenAi),
            () if starts(&["gemini"]) => Some(Self::Gemini),
            () => None,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == name).ok_or(UnknownProvider)
    }
}

/// The error for an unknown provider name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `anthropic`, `openai` or `gemini`")]
pub struct UnknownProvider;
