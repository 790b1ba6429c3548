//! Parses the parameters of `elicitation/create`.

use mcparley_model::limits::QUESTION_CHARS;
use mcparley_model::text::{clean_text, truncate_text};
use mcparley_wire::RawJson;
use serde::Deserialize;

use super::{ElicitationForm, ElicitationPage, ElicitationRequest};

/// A parsed elicitation.
#[derive(Debug)]
pub struct ParsedElicitation {
    /// The server's message, cleaned and shortened.
    pub message: String,
    /// The requested form or page.
    pub request: ElicitationRequest,
}

/// The reason why an elicitation cannot be shown to a user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidElicitation(String);

impl ParsedElicitation {
    /// Parses the parameters of `elicitation/create`.
    ///
    /// # Errors
    /// When they are malformed, or the form or the page cannot be shown.
    pub fn parse(params: Option<&RawJson>) -> Result<Self, InvalidElicitation> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ElicitationParams {
            message: String,
            #[serde(default)]
            mode: Option<String>,
            #[serde(default)]
            url: Option<String>,
            #[serde(default)]
            elicitation_id: Option<String>,
        }
        let trouble = |reason: &dyn ToString| InvalidElicitation(reason.to_string());
        let params = params.ok_or_else(|| trouble(&"it has no parameters"))?;
        let wire: ElicitationParams =
            params.decode().map_err(|_| trouble(&"its parameters are malformed"))?;
        let request = match wire.mode.as_deref() {
            None | Some("form") => ElicitationRequest::Form(
                ElicitationForm::parse(params.member("requestedSchema")).map_err(|fault| trouble(&fault))?,
            ),
            Some("url") => {
                let page = ElicitationPage::parse(wire.url.as_deref(), wire.elicitation_id);
                ElicitationRequest::Page(page.map_err(|fault| trouble(&fault))?)
            }
            Some(_) => return Err(trouble(&"its `mode` is neither `form` nor `url`")),
        };
        let message = truncate_text(&clean_text(&wire.message), QUESTION_CHARS).into_owned();
        Ok(Self { message, request })
    }
}
