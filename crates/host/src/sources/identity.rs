//! Who knows the person, as the settings say, and whether that is switched on (A6).

use mcparley_auth::IdentitySettings;

use super::Loaded;

/// What switches sign-in across applications on; the second is how the program people come from calls it.
const SWITCHES: [&str; 2] = ["MCPARLEY_ENABLE_XAA", "CLAUDE_CODE_ENABLE_XAA"];

impl Loaded {
    /// Who knows the person, for servers whose entries say `xaa`; nobody unless it is switched on.
    #[must_use]
    pub fn identity(&self) -> Option<IdentitySettings> {
        self.identity_settings().filter(|_| self.is_identity_switched_on())
    }

    /// Whether servers whose entries say `xaa` are signed in to through the identity provider.
    #[must_use]
    pub fn is_identity_switched_on(&self) -> bool {
        SWITCHES.iter().any(|name| matches!(self.env.get(name), Some("1" | "true")))
    }

    /// The same, whether it is switched on or not.
    #[must_use]
    pub fn identity_settings(&self) -> Option<IdentitySettings> {
        let provider = self.settings.identity.as_ref().map(|provider| provider.value.clone())?;
        Some(IdentitySettings {
            issuer: provider.issuer,
            client_id: provider.client_id,
            client_secret: None,
            callback_port: provider.callback_port,
            id_token: None,
        })
    }
}
