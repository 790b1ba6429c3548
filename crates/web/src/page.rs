//! The handler of all requests below `/ui/`: finds the route, checks the session, and answers.

use std::sync::Arc;
use std::time::Duration;

use hyper::header::{HeaderValue, SET_COOKIE};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use mcparley::{BoxedFuture, Host};
use mcparley_door::{PAGE_PATH, PageBody, PageHandler, PageRequest};
use mcparley_gateway::Gateway;
use serde_json::json;

use crate::page_state::{PageOptions, PageState};
use crate::response::{
    ErrorResponse, asset_response, error_response, json_response, method_response, redirect_response,
};
use crate::session::check_page_header;
use crate::{api, asset, events, log_stream};

/// The web page of a host. Cheap to clone; all clones are one page.
#[derive(Clone, Debug)]
pub struct UiPage {
    state: Arc<PageState>,
}

/// The routes of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    Session,
    Events,
    Logs,
    Tools,
    Tool,
    Call,
    Answer,
    Server,
    Trust,
}

impl UiPage {
    /// The page of a host. `gateway` lists the questions of its calls, and makes none itself.
    #[must_use]
    pub fn new(host: &Host, gateway: &Gateway, options: PageOptions) -> Self {
        let state = PageState::new(host, gateway, options);
        Self { state: Arc::new(state) }
    }

    /// Waits until no browser was connected for this time.
    pub async fn wait_until_idle(&self, idle: Duration) {
        self.state.visitors.wait_until_idle(idle).await;
    }

    async fn answer_route(&self, request: PageRequest) -> Result<Response<PageBody>, ErrorResponse> {
        let path = request.parts.uri.path().to_owned();
        let Some(below) = path.strip_prefix(PAGE_PATH) else { return Ok(redirect_response()) };
        if let Some(asset) = asset::find_asset(below) {
            return match request.parts.method == Method::GET {
                true => Ok(asset_response(asset)),
                false => Err(method_response("GET")),
            };
        }
        let route = Route::from_path(below)
            .ok_or_else(|| error_response(StatusCode::NOT_FOUND, "there is nothing at this path", None))?;
        route.check_method(&request.parts.method)?;
        if route == Route::Session {
            return self.open_session(&request);
        }
        let principal = self.state.sessions.check_request(&request.parts.headers)?;
        let state = &self.state;
        match route {
            Route::Session => self.open_session(&request),
            Route::Events => events::open_stream(state),
            Route::Logs => log_stream::open_stream(state, &request),
            Route::Tools => Ok(json_response(api::tools::list_tools(&state.host))),
            Route::Tool => api::tools::describe_tool(&state.host, &request).map(json_response),
            Route::Call => api::call::call_tool(state, &principal, &request).await.map(json_response),
            Route::Answer => api::questions::answer_question(state, &request).await.map(json_response),
            Route::Server => api::actions::act_on_server(state, &request).await.map(json_response),
            Route::Trust => api::trust::decide_items(state, &request).await.map(json_response),
        }
    }

    /// Exchanges the token, which the door has checked, for a cookie.
    fn open_session(&self, request: &PageRequest) -> Result<Response<PageBody>, ErrorResponse> {
        let headers = &request.parts.headers;
        check_page_header(headers)?;
        if request.principal.is_none() {
            return Err(error_response(StatusCode::UNAUTHORIZED, "a token is required", None));
        }
        let cookie = self.state.sessions.open_session(headers);
        let cookie = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok());
        let Some(cookie) = cookie else {
            let reason = "the system gives no random numbers";
            return Err(error_response(StatusCode::INTERNAL_SERVER_ERROR, reason, None));
        };
        let mut response = json_response(json!({}));
        response.headers_mut().insert(SET_COOKIE, cookie);
        Ok(response)
    }
}

impl PageHandler for UiPage {
    fn check_session(&self, parts: &Parts) -> Result<(), ErrorResponse> {
        self.state.sessions.check_request(&parts.headers).map(drop)
    }

    fn answer_request(&self, request: PageRequest) -> BoxedFuture<'_, Response<PageBody>> {
        Box::pin(async move { self.answer_route(request).await.unwrap_or_else(|response| *response) })
    }
}

impl Route {
    fn from_path(below: &str) -> Option<Self> {
        Some(match below {
            "session" => Self::Session,
            "events" => Self::Events,
            "api/logs" => Self::Logs,
            "api/tools" => Self::Tools,
            "api/tool" => Self::Tool,
            "api/call" => Self::Call,
            "api/answer" => Self::Answer,
            "api/server" => Self::Server,
            "api/trust" => Self::Trust,
            _ => return None,
        })
    }

    /// Checks the method: every change is a `POST`.
    fn check_method(self, method: &Method) -> Result<(), ErrorResponse> {
        let (wanted, word) = match self {
            Self::Events | Self::Logs | Self::Tools | Self::Tool => (Method::GET, "GET"),
            Self::Session | Self::Call | Self::Answer | Self::Server | Self::Trust => (Method::POST, "POST"),
        };
        if *method == wanted { Ok(()) } else { Err(method_response(word)) }
    }
}
