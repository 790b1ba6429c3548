//! Sign-in in a build without the feature `http`: no server needs one, because none has a URL.
//!
//! The types have the names and the signatures of those of `mcparley-auth`, so that no caller knows the
//! difference.

use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::config::RemoteConfig;
use mcparley_model::explain::Explain;
use mcparley_model::name::ServerName;
use mcparley_model::settings::IdentityProvider;
use mcparley_wire::Failure;
use mcparley_wire::authorizer::{
    Authorizer, Challenge, Credentials, NoAuthorizer, RequestTarget, RetryDecision,
};
use mcparley_wire::peer::BoxedFuture;
use mcparley_wire::transport::http::Network;

pub mod headers_helper {
    //! Commands that print headers, which no request is sent with.

    use std::ffi::OsString;
    use std::path::PathBuf;
    use std::time::Duration;

    use mcparley_model::secret::Secret;
    use mcparley_wire::authorizer::NoAuthorizer;
    use url::Url;

    use super::Account;

    /// A command, its environment and its timeout.
    #[derive(Clone, Debug)]
    pub struct HelperSettings {
        /// The command line, for `/bin/sh`.
        pub command: Secret<String>,
        /// The server's name.
        pub name: String,
        /// The server's address.
        pub url: Secret<Url>,
        /// The environment of the command, besides name and address.
        pub env: Vec<(OsString, OsString)>,
        /// The working folder: the project's folder.
        pub cwd: PathBuf,
        /// The timeout.
        pub limit: Duration,
    }

    /// A command that is never run.
    #[derive(Debug)]
    pub struct HeadersHelper;

    impl HeadersHelper {
        /// Takes the settings.
        #[must_use]
        pub fn new(_settings: HelperSettings) -> Self {
            Self
        }

        /// The authorizer of requests that are never sent.
        #[must_use]
        pub fn with_account(self, _account: Option<Account>) -> NoAuthorizer {
            NoAuthorizer
        }
    }
}

pub mod vault {
    //! A vault that stores nothing.

    use std::path::PathBuf;
    use std::time::Duration;

    use mcparley_model::limits::KEYCHAIN_TIME;
    use mcparley_model::secret::Secret;

    /// The vault of one profile.
    #[derive(Clone, Debug)]
    pub struct Vault;

    impl Vault {
        /// Takes the settings.
        #[must_use]
        pub fn new(_settings: VaultSettings) -> Self {
            Self
        }
    }

    /// The folder of a vault, and the place of its key.
    #[derive(Clone, Debug)]
    pub struct VaultSettings {
        /// The folder of its files.
        pub folder: PathBuf,
        /// The place of its key.
        pub storage: KeyStorage,
        /// The address of the session bus.
        pub session_bus: Option<String>,
        /// The timeout of a keychain.
        pub keychain_time: Duration,
    }

    impl VaultSettings {
        /// The usual settings for a folder.
        #[must_use]
        pub fn new(folder: PathBuf) -> Self {
            Self { folder, storage: KeyStorage::Automatic, session_bus: None, keychain_time: KEYCHAIN_TIME }
        }
    }

    /// The place of the vault's key.
    #[derive(Clone, Debug, Default)]
    pub enum KeyStorage {
        /// The system's keychain, or else a file.
        #[default]
        Automatic,
        /// The system's keychain only.
        Keyring,
        /// A file.
        File,
        /// No place: the key is this value.
        Environment(Secret<String>),
    }
}

/// The sign-in to one server, which never takes place.
#[derive(Clone, Debug)]
pub struct Account;

impl Account {
    /// Whether only the user can sign in.
    #[must_use]
    pub fn needs_user(&self) -> bool {
        false
    }

    /// Whether the sign-in is that of a principal of a gateway.
    #[must_use]
    pub fn has_principal(&self) -> bool {
        false
    }

    /// Whether the headers helper of the entry sends its own credentials.
    #[must_use]
    pub fn has_helper_credentials(&self) -> bool {
        false
    }

    /// Whether the server can be reached without asking the user.
    pub async fn can_sign_in_silently(&self) -> bool {
        false
    }

    /// Whether the server says how to sign in.
    pub async fn describes_sign_in(&self) -> bool {
        false
    }

    /// Watches for sign-ins from now on.
    #[must_use]
    pub fn watch_sign_ins(&self) -> SignInWatcher {
        SignInWatcher
    }

    /// Starts no sign-in.
    ///
    /// # Errors
    /// Always [`SignInError::Unsupported`].
    pub async fn begin_sign_in(&self, _way: SignInMethod) -> Result<Flow, SignInError> {
        Err(SignInError::Unsupported)
    }

    /// The sign-in in progress: there is none.
    pub async fn running_flow(&self) -> Option<Flow> {
        None
    }

    /// Signs out of nothing.
    ///
    /// # Errors
    /// Always [`SignInError::Unsupported`].
    pub async fn sign_out(&self) -> Result<SignOutOutcome, SignInError> {
        Err(SignInError::Unsupported)
    }
}

impl Authorizer for Account {
    fn authorize_request<'a>(
        &'a self,
        request: RequestTarget<'a>,
    ) -> BoxedFuture<'a, Result<Credentials, Failure>> {
        NoAuthorizer.authorize_request(request)
    }

    fn handle_refusal<'a>(
        &'a self,
        _sent: &'a Credentials,
        _challenge: &'a Challenge,
    ) -> BoxedFuture<'a, RetryDecision> {
        Box::pin(std::future::ready(RetryDecision::GiveUp))
    }
}

/// Waits for a sign-in that never comes.
#[derive(Debug)]
pub struct SignInWatcher;

impl SignInWatcher {
    /// Notes that the attempt was refused.
    pub fn note_refusal(&mut self) {}

    /// Whether a sign-in in this process is pending.
    #[must_use]
    pub fn has_new_sign_in(&self) -> bool {
        false
    }

    /// Never returns.
    pub async fn wait_for_sign_in(&mut self) {
        std::future::pending().await
    }
}

/// The sign-ins of a user: none.
#[derive(Clone, Debug)]
pub struct Accounts(Arc<AccountsSettings>);

/// The services and settings that sign-ins use.
#[derive(Debug)]
pub struct AccountsSettings {
    /// The network settings.
    pub network: Network,
    /// The vault.
    pub vault: Option<vault::Vault>,
    /// The identity provider.
    pub identity: Option<UserIdentity>,
    /// The folder in which files named by entries are looked up.
    pub folder: PathBuf,
}

impl Accounts {
    /// Takes the settings.
    #[must_use]
    pub fn new(settings: AccountsSettings) -> Self {
        Self(Arc::new(settings))
    }

    /// The sign-ins of a principal: none either.
    #[must_use]
    pub fn for_principal(&self, _principal: &str, _sign_in: PrincipalSignIn) -> Self {
        self.clone()
    }

    /// The sign-in to a server.
    #[must_use]
    pub fn account_for(&self, _server: &ServerName, _remote: &RemoteConfig) -> Account {
        Account
    }

    /// The vault.
    #[must_use]
    pub fn vault(&self) -> Option<&vault::Vault> {
        self.0.vault.as_ref()
    }

    /// Waits for nothing.
    pub async fn finish_pending_writes(&self) {}
}

/// The means by which a principal of a gateway signs in to servers: none.
#[derive(Clone, Debug, Default)]
pub struct PrincipalSignIn;

/// The identity provider, and our client there.
#[derive(Clone, Debug)]
pub struct IdentitySettings;

impl From<&IdentityProvider> for IdentitySettings {
    fn from(_provider: &IdentityProvider) -> Self {
        Self
    }
}

/// The user's identity at an identity provider.
#[derive(Clone, Debug)]
pub struct UserIdentity;

impl UserIdentity {
    /// No identity.
    #[must_use]
    pub fn new(
        _settings: IdentitySettings,
        _network: &Network,
        _vault: Option<vault::Vault>,
    ) -> Option<Self> {
        None
    }
}

/// The method by which the user signs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignInMethod {
    /// In a browser.
    #[default]
    Browser,
    /// On another device.
    Device,
}

/// A sign-in in progress: there is none.
#[derive(Clone, Debug)]
pub enum Flow {}

impl Flow {
    /// The page to show.
    #[must_use]
    pub fn page(&self) -> Option<&BrowserPage> {
        match *self {}
    }

    /// The page, if it was not shown yet.
    #[must_use]
    pub fn take_unseen_page(&self) -> Option<&BrowserPage> {
        match *self {}
    }

    /// The code that the page asks for.
    #[must_use]
    pub fn user_code(&self) -> Option<&str> {
        match *self {}
    }

    /// Waits for the end of the sign-in.
    ///
    /// # Errors
    /// None: there is no value of this type.
    pub async fn wait_until_done(&self) -> Result<(), Arc<SignInError>> {
        match *self {}
    }

    /// Takes the address the browser ended on.
    ///
    /// # Errors
    /// None: there is no value of this type.
    pub async fn paste_address(&self, _text: &str) -> Result<(), SignInError> {
        match *self {}
    }
}

/// A sign-in page: there is none.
#[derive(Clone, Debug)]
pub enum BrowserPage {}

impl BrowserPage {
    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match *self {}
    }
}

/// The outcome of a sign-out: there is none.
#[derive(Debug)]
pub enum SignOutOutcome {}

/// The reason why a sign-in failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignInError {
    /// The program was built without sign-in.
    #[error("this program was built without sign-in")]
    Unsupported,
    /// The sign-in is shared by all clients of the gateway.
    #[error("all clients of the gateway share the sign-in to this server")]
    SharedSignIn,
    /// No sign-in is in progress.
    #[error("no sign-in is in progress")]
    NoFlowRunning,
    /// The sign-in page could not be shown to the user.
    #[error("cannot show the sign-in page")]
    PageNotShown,
}

impl SignInError {
    /// The error in one line.
    #[must_use]
    pub fn to_single_line(&self) -> String {
        self.to_string()
    }
}

impl Explain for SignInError {
    fn hint(&self) -> Option<String> {
        None
    }
}

/// A challenge of a server, which no request gets.
#[derive(Clone, Debug)]
pub struct TokenChallenge {
    /// The scopes the request needs.
    pub scope: Vec<String>,
}

impl TokenChallenge {
    /// Parses nothing.
    #[must_use]
    pub fn parse(_words: &str) -> Option<Self> {
        None
    }

    /// Whether the request needs more scopes.
    #[must_use]
    pub fn wants_more_scopes(&self) -> bool {
        false
    }
}
