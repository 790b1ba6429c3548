//! Decides whether an authorization response is accepted.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;

use super::{AuthorizationResponse, AuthorizeError};
use crate::metadata::AuthServerMetadata;

/// The values a response is checked against, recorded when the browser left.
#[derive(Debug)]
pub(crate) struct ExpectedResponse {
    state: Secret<String>,
    issuer: String,
    /// Whether the authorization server's metadata promised to name the issuer.
    names_issuer: bool,
}

impl ExpectedResponse {
    pub(super) fn new(state: Secret<String>, server: &AuthServerMetadata) -> Self {
        Self { state, issuer: server.issuer.clone(), names_issuer: server.names_issuer }
    }

    pub(super) fn state(&self) -> &Secret<String> {
        &self.state
    }

    pub(super) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Whether the response repeats the `state`. Compared in constant time, so that timing does not reveal
    /// it.
    pub(crate) fn matches_state(&self, answer: &AuthorizationResponse) -> bool {
        let state = answer.state().map(|state| state.expose().as_bytes()).unwrap_or_default();
        verify_slices_are_equal(state, self.state.expose().as_bytes()).is_ok()
    }

    /// Returns the code, if the response is genuine and not a refusal.
    ///
    /// The issuer is checked first: an error from another party must not be shown.
    pub(crate) fn verify_response<'a>(
        &self,
        answer: &'a AuthorizationResponse,
    ) -> Result<&'a Secret<String>, AuthorizeError> {
        if !self.matches_state(answer) {
            return Err(AuthorizeError::StateMismatch);
        }
        self.check_issuer(answer.issuer())?;
        answer.outcome().map_err(|refusal| AuthorizeError::Refused { refusal })
    }

    /// Checks the issuer by the four rows of the protocol's table. Compared byte for byte: normalizing could
    /// turn two issuers into one.
    fn check_issuer(&self, named: Option<&Untrusted>) -> Result<(), AuthorizeError> {
        let expected = || Untrusted::new(&self.issuer);
        match (self.names_issuer, named) {
            (true | false, Some(named)) if named.raw() == self.issuer => Ok(()),
            (true | false, Some(_)) => Err(AuthorizeError::WrongIssuer { expected: expected() }),
            (true, None) => Err(AuthorizeError::NoIssuer { expected: expected() }),
            (false, None) => Ok(()),
        }
    }
}
