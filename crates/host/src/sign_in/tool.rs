//! The tools that stand in for those of a server which wants a sign-in, when a model calls them (A5).

use std::sync::Arc;

use mcparley_model::name::ServerName;
use mcparley_model::text::display;
use serde_json::{Value, json};

use super::{SignInError, Way};
use crate::call::{Call, CallError, Outcome, own_answer};
use crate::catalog::SignInTool;
use crate::host::Host;

impl Host {
    pub(crate) async fn sign_in_by_tool(
        &self,
        server: &ServerName,
        tool: SignInTool,
        call: &Call,
    ) -> Result<Outcome, CallError> {
        let text = match tool {
            SignInTool::Authenticate => self.authenticate(server).await,
            SignInTool::Complete => {
                let address = call.arguments.get("callback_url").and_then(Value::as_str);
                self.redeem_pasted(server, address.unwrap_or_default()).await
            }
        };
        let (text, is_error) = match text {
            Ok(text) => (text, false),
            Err(error) => (told(server, &error), true),
        };
        own_answer(&json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
    }

    /// Begins, and says at once where to go.
    async fn authenticate(&self, server: &ServerName) -> Result<String, Arc<SignInError>> {
        let flow = self.sign_in(server, Way::Browser).await?;
        let shown = display(server.as_str());
        let Some(page) = flow.page() else {
            flow.wait().await?;
            return Ok(format!(
                "Signed in to `{shown}`. Its tools are available as soon as it is connected."
            ));
        };
        let is_open = match flow.unseen_page() {
            Some(page) => self.page_opener().open(server, page).await,
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

    /// Takes the address the browser ended on, and waits for what comes of it.
    async fn redeem_pasted(&self, server: &ServerName, address: &str) -> Result<String, Arc<SignInError>> {
        let account = self.account(server).ok_or(SignInError::NotHere)?;
        let flow = account.running().await.ok_or(SignInError::NothingBegun)?;
        flow.paste(address).await?;
        flow.wait().await?;
        let shown = display(server.as_str());
        Ok(format!("Signed in to `{shown}`. Its tools are available as soon as it is connected."))
    }
}

/// What a model is told when it did not work.
fn told(server: &ServerName, error: &SignInError) -> String {
    use mcparley_model::explain::Explain as _;
    let hint = error.hint().map(|hint| format!("\n\n{hint}")).unwrap_or_default();
    format!("Signing in to `{}` did not work: {}{hint}", display(server.as_str()), error.in_one_line())
}
