//! Decides whether an answer is believed (B74).

use aws_lc_rs::constant_time::verify_slices_are_equal;
use mcparley_model::secret::Secret;
use mcparley_model::text::Untrusted;

use super::{Answer, AuthorizeError};
use crate::metadata::Server;

/// What an answer is measured by, as it stood when the browser left.
#[derive(Debug)]
pub(crate) struct Expected {
    state: Secret<String>,
    issuer: String,
    /// Whether the authorization server had promised to name itself.
    names_issuer: bool,
}

impl Expected {
    pub(super) fn new(state: Secret<String>, server: &Server) -> Self {
        Self { state, issuer: server.issuer.clone(), names_issuer: server.names_issuer }
    }

    pub(super) fn state(&self) -> &Secret<String> {
        &self.state
    }

    pub(super) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Whether it has the mark. Takes as long for a near miss as for a far one.
    pub(crate) fn is_for(&self, answer: &Answer) -> bool {
        let state = answer.state().map(|state| state.expose().as_bytes()).unwrap_or_default();
        verify_slices_are_equal(state, self.state.expose().as_bytes()).is_ok()
    }

    /// The code, if the answer may be believed and is a yes.
    ///
    /// The issuer comes before what the answer says: an error of somebody else's is not to be shown.
    pub(crate) fn judge<'a>(&self, answer: &'a Answer) -> Result<&'a Secret<String>, AuthorizeError> {
        if !self.is_for(answer) {
            return Err(AuthorizeError::Stranger);
        }
        self.check_issuer(answer.issuer())?;
        answer.outcome().map_err(|refusal| AuthorizeError::Refused { refusal })
    }

    /// The four rows of the protocol's table. Compared byte for byte: normalising is how two issuers become one.
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
