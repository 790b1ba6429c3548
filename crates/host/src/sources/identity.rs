//! Who knows the person, as the settings say, and whether that is switched on (A6).

use mcparley_auth::IdentitySettings;
use mcparley_model::expand::Env;

use super::Loaded;

/// What switches sign-in across applications on; the second is how the program people come from calls it.
const SWITCHES: [&str; 2] = ["MCPARLEY_ENABLE_XAA", "CLAUDE_CODE_ENABLE_XAA"];

impl Loaded {
    /// Who knows the person, for servers whose entries say `xaa`; nobody unless it is switched on.
    #[must_use]
    pub fn identity(&self) -> Option<IdentitySettings> {
        self.identity_settings().filter(|_| is_switched_on(&self.env))
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

fn is_switched_on(env: &Env) -> bool {
    SWITCHES.iter().any(|name| matches!(env.get(name), Some("1" | "true")))
}
