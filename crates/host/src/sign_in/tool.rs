//! The sign-in tools that replace the tools of a server which requires a sign-in.

use std::sync::Arc;

use mcparley_model::name::ServerName;
use mcparley_model::text::display_line;
use serde_json::{Value, json};

use super::{SignInError, SignInMethod};
use crate::call::{Call, CallContext, ClientSignInError, own_answer, sign_in_through_client};
use crate::call_error::CallError;
use crate::host::Host;
use mcparley_catalog::SignInTool;
use mcparley_results::CallOutcome;

impl Host {
    pub(crate) async fn sign_in_by_tool(
        &self,
        server: &ServerName,
        tool: SignInTool,
        call: &Call,
    ) -> Result<CallOutcome, CallError> {
        let text = match tool {
            SignInTool::Authenticate => self.start_sign_in(server, call.context()).await,
            SignInTool::Complete => {
                let address = call.arguments.get("callback_url").and_then(Value::as_str);
                self.redeem_pasted_url(server, address.unwrap_or_default()).await
            }
        };
        let (text, is_error) = match text {
            Ok(text) => (text, false),
            Err(error) => (failure_text(server, &error), true),
        };
        own_answer(&json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
    }

    /// Starts a sign-in, and returns the address to open at once.
    async fn start_sign_in(
        &self,
        server: &ServerName,
        context: Option<&CallContext>,
    ) -> Result<String, Arc<SignInError>> {
        if let (Some(connection), Some(_)) =
            (self.connection(server), context.and_then(CallContext::page_opener))
        {
            // A client must not give its sign-in to all others.
            if connection.account().is_none_or(|account| !account.has_principal()) {
                return Err(Arc::new(SignInError::SharedSignIn));
            }
            match sign_in_through_client(&connection, context).await {
                Ok(()) => return Ok(signed_in_text(server)),
                Err(ClientSignInError::Failed(error)) => return Err(error),
                Err(ClientSignInError::NotShown { .. } | ClientSignInError::NotOffered) => {}
            }
        }
        let flow = self.sign_in(server, SignInMethod::Browser).await?;
        let shown = display_line(server.as_str());
        let Some(page) = flow.page() else {
            flow.wait_until_done().await?;
            return Ok(signed_in_text(server));
        };
        let is_open = match flow.take_unseen_page() {
            Some(page) => self.page_opener().open_page(server, page).await,
            None => false,
        };
        let how = if is_open { "A browser was opened at" } else { "Ask the user to open" };
        let code = flow.user_code().map(|code| format!("\n\nThe page asks for this code: {code}"));
        Ok(format!(
            "{how} this address to sign in to `{shown}`:\n\n{}{}\n\nThe tools of `{shown}` take the place of this one when \
             the user has signed in. If the browser is on another machine and ends on a page that cannot be \
             reached, `{}` takes the address of that page.",
            page.as_str(),
            code.unwrap_or_default(),
            SignInTool::Complete.as_str(),
        ))
    }

    /// Completes a sign-in with the address the browser ended on, and waits for its end.
    async fn redeem_pasted_url(
        &self,
        server: &ServerName,
        address: &str,
    ) -> Result<String, Arc<SignInError>> {
        let account = self.account(server).ok_or(SignInError::Unsupported)?;
        let flow = account.running_flow().await.ok_or(SignInError::NoFlowRunning)?;
        flow.paste_address(address).await?;
        flow.wait_until_done().await?;
        Ok(signed_in_text(server))
    }
}

/// The text for a model when the sign-in succeeded.
fn signed_in_text(server: &ServerName) -> String {
    let shown = display_line(server.as_str());
    format!("Signed in to `{shown}`. Its tools are available as soon as it is connected.")
}

/// The text for a model when the sign-in failed.
fn failure_text(server: &ServerName, error: &SignInError) -> String {
    use mcparley_model::explain::Explain as _;
    let hint = error.hint().map(|hint| format!("\n\n{hint}")).unwrap_or_default();
    format!("Signing in to `{}` failed: {}{hint}", display_line(server.as_str()), error.to_single_line())
}
