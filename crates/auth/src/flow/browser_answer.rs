//! The authorization response of a sign-in in a browser.

use tokio::sync::mpsc;

use super::PastedAddress;
use crate::authorize::{AuthorizationAttempt, AuthorizationResponse};
use crate::callback::Callback;
use crate::error::SignInError;

/// Waits for the authorization response: by the browser's redirect, or pasted by the user.
pub(crate) async fn await_authorization_response(
    callback: &mut Callback,
    attempt: &AuthorizationAttempt,
    mut pasted: mpsc::Receiver<PastedAddress>,
) -> Result<AuthorizationResponse, SignInError> {
    let (redirect, limit) = (callback.redirect_url().clone(), callback.time_limit());
    let by_hand = async {
        while let Some(PastedAddress { text, reply }) = pasted.recv().await {
            match AuthorizationResponse::from_pasted(&text, &redirect) {
                Ok(answer) if attempt.matches_state(&answer) => {
                    let _gone = reply.send(Ok(()));
                    return answer;
                }
                Ok(_) => {
                    let _gone = reply.send(Err(SignInError::OtherAttempt));
                }
                Err(error) => {
                    let _gone = reply.send(Err(SignInError::Pasted(error)));
                }
            }
        }
        std::future::pending().await
    };
    tokio::select! {
        answer = callback.wait_for_response(attempt, limit) => Ok(answer?),
        answer = by_hand => Ok(answer),
    }
}
