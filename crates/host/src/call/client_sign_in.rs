//! Sign-in of a principal of a gateway, on a page that the client of its call shows.

use std::sync::Arc;

use mcparley_pool::auth::{SignInError, SignInMethod};
use mcparley_pool::connection::Connection;

use super::context::CallContext;

/// The reason why a call goes on without a sign-in.
#[derive(Debug)]
pub(crate) enum ClientSignInError {
    /// The call has no client that signs in, or the sign-in is not that of its principal.
    NotOffered,
    /// The client has not shown the page, which is at this address.
    NotShown {
        /// The address of the page.
        page: Arc<str>,
    },
    /// The sign-in failed.
    Failed(Arc<SignInError>),
}

/// Signs the principal of a call in to the server of a connection, and waits until the user has done it.
///
/// Every call shows the page by its own client. The first one that ends the sign-in withdraws the others.
pub(crate) async fn sign_in_through_client(
    connection: &Connection,
    context: Option<&CallContext>,
) -> Result<(), ClientSignInError> {
    let opener = context.and_then(CallContext::page_opener);
    let account = connection.account().filter(|account| account.has_principal());
    let (Some(opener), Some(account)) = (opener, account) else { return Err(ClientSignInError::NotOffered) };
    let failed = |error: SignInError| ClientSignInError::Failed(Arc::new(error));
    let flow = account.begin_sign_in(SignInMethod::Browser).await.map_err(failed)?;
    let Some(page) = flow.page() else {
        return flow.wait_until_done().await.map_err(ClientSignInError::Failed);
    };
    let done = tokio::select! {
        biased;
        done = flow.wait_until_done() => done,
        is_shown = opener.open_page(&connection.name, page) => {
            if !is_shown {
                return Err(ClientSignInError::NotShown { page: Arc::from(page.as_str()) });
            }
            flow.wait_until_done().await
        }
    };
    done.map_err(ClientSignInError::Failed)
}
