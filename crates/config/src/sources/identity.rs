//! Identity provider for cross-application access (`xaaIdp`), and whether it is enabled.

use mcparley_model::settings::IdentityProvider;

use super::LoadedConfig;

/// The environment variables that enable cross-application access: ours, and the one of Claude Code.
const SWITCHES: [&str; 2] = ["MCPARLEY_ENABLE_XAA", "CLAUDE_CODE_ENABLE_XAA"];

impl LoadedConfig {
    /// The identity provider for servers whose entries say `xaa`; `None` unless enabled.
    #[must_use]
    pub fn identity_provider(&self) -> Option<&IdentityProvider> {
        self.configured_identity_provider().filter(|_| self.is_identity_enabled())
    }

    /// Whether the identity provider signs the user in to servers whose entries say `xaa`.
    #[must_use]
    pub fn is_identity_enabled(&self) -> bool {
        SWITCHES.iter().any(|name| matches!(self.env.get(name), Some("1" | "true")))
    }

    /// The identity provider in the settings, whether it is enabled or not.
    #[must_use]
    pub fn configured_identity_provider(&self) -> Option<&IdentityProvider> {
        self.settings.identity.as_ref().map(|provider| &provider.value)
    }
}
