//! Actions on a server: reconnect, enable, disable, sign in. Choices are recorded in the same files as by the
//! commands of the same names.

use std::sync::Arc;

use hyper::StatusCode;
use mcparley::auth::SignInMethod;
use mcparley::config::change::{self, WriteScope};
use mcparley::model::explain::Explain as _;
use mcparley::model::name::ServerName;
use mcparley_door::PageRequest;
use mcparley_platform::thread::run_blocking;
use serde::Deserialize;
use serde_json::{Value, json};

use super::parse_body;
use crate::page_state::PageState;
use crate::response::{ErrorResponse, error_response};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerOrder {
    server: String,
    action: ServerAction,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum ServerAction {
    Reconnect,
    Enable,
    Disable,
    SignIn,
}

/// Carries out an action on a server, and returns the message for the person.
pub(crate) async fn act_on_server(
    state: &Arc<PageState>,
    request: &PageRequest,
) -> Result<Value, ErrorResponse> {
    let ServerOrder { server, action } = parse_body(request)?;
    let name = ServerName::new(&server);
    let is_configured = !state.host.loaded_config().plan.servers_by_name(&server).is_empty();
    if !is_configured && !state.host.servers().iter().any(|it| it.name == name) {
        let unknown = format!("there is no server `{server}`");
        return Err(error_response(StatusCode::NOT_FOUND, &unknown, None));
    }
    match action {
        ServerAction::Reconnect => Ok(reconnect_server(state, &name).await),
        ServerAction::Enable => switch_server(state, &name, true, is_configured).await,
        ServerAction::Disable => switch_server(state, &name, false, is_configured).await,
        ServerAction::SignIn => sign_in(state, &name).await,
    }
}

/// Reads the configuration again, since it may have been mended, and connects.
async fn reconnect_server(state: &PageState, server: &ServerName) -> Value {
    let changes = state.host.reload().await;
    if !changes.changed.contains(server) && !changes.added.contains(server) {
        state.host.reconnect_server(server).await;
    }
    match state.host.connect_server(server).await {
        Ok(()) => json!({ "message": format!("{} is connected", server.as_str()) }),
        Err(why) => json!({ "message": format!("{}: {why}", server.as_str()), "failed": true }),
    }
}

async fn switch_server(
    state: &PageState,
    server: &ServerName,
    on: bool,
    is_configured: bool,
) -> Result<Value, ErrorResponse> {
    let mut still_disabled = None;
    if is_configured {
        let (paths, loaded, name) = (state.host.paths(), state.host.loaded_config(), server.clone());
        let switched = run_blocking(move || match on {
            true => change::enable_server(&paths, &loaded, name.as_str()),
            false => change::disable_server(&paths, &loaded, name.as_str(), WriteScope::Local),
        });
        match switched.await {
            Some(Ok(switched)) => still_disabled = switched.still_disabled,
            Some(Err(error)) => {
                return Err(error_response(
                    StatusCode::CONFLICT,
                    &error.to_string(),
                    error.hint().as_deref(),
                ));
            }
            None => return Err(unwritten_response()),
        }
        state.host.reload().await;
    }
    // A server of the program itself, or a host that does not read its files again.
    if on {
        state.host.enable_server(server).await;
    } else if state.host.servers().iter().any(|it| it.name == *server) {
        state.host.disable_server(server).await;
    }
    let name = server.as_str();
    Ok(json!({ "message": match (on, still_disabled) {
        (true, Some(by)) => format!("{name} is still disabled in {by}"),
        (true, None) => format!("{name} is enabled"),
        (false, _) => format!("{name} is disabled"),
    } }))
}

/// Begins a sign-in and returns its page. The sign-in goes on when the request has ended, and its end is a
/// notice.
async fn sign_in(state: &Arc<PageState>, server: &ServerName) -> Result<Value, ErrorResponse> {
    let flow = state
        .host
        .sign_in(server, SignInMethod::Browser)
        .await
        .map_err(|error| error_response(StatusCode::BAD_GATEWAY, &error.to_single_line(), None))?;
    let page = flow.page().map(|page| page.as_str().to_owned());
    let answer = json!({
        "message": format!("Sign in to {} on the page that opens", server.as_str()),
        "page": page, "code": flow.user_code(), "tokenOrigin": flow.token_origin(),
    });
    let (name, notices) = (server.as_str().to_owned(), Arc::downgrade(state));
    state.spawn_task(async move {
        let message = match flow.wait_until_done().await {
            Ok(()) => format!("Signed in to {name}"),
            Err(error) => format!("{name}: {}", error.to_single_line()),
        };
        if let Some(state) = notices.upgrade() {
            state.send_notice(message);
        }
    });
    Ok(answer)
}

/// The response when a file could not be written because of an internal error.
pub(super) fn unwritten_response() -> ErrorResponse {
    error_response(StatusCode::INTERNAL_SERVER_ERROR, "the choice could not be recorded", None)
}
