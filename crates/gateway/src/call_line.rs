//! Relays the requests of servers to the client of one call, in the form of the client's revision.

use std::sync::{Mutex, PoisonError};

use futures_util::future::try_join_all;
use mcparley::BoxedFuture;
use mcparley::model::log_level::LogLevel;
use mcparley::model::name::ServerName;
use mcparley::model::text::{clean_json, display_line};
use mcparley::pool::client_line::ClientLine;
use mcparley_wire::{
    INTERNAL, INVALID_PARAMS, InputRequest, METHOD_NOT_FOUND, ProtocolVersion, RawJson, Replies, RpcError,
};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::client_abilities::{Caller, RequestMeta, TASKS};
use crate::elicitation_form::{fit_form, mint_page_id};
use crate::pending::listed_route::ListedRoute;
use crate::response::log_message::fit_log_message;
use crate::sampling_form::fit_messages;
use crate::session::GatewaySession;
use crate::session::client_tasks::{TaskAddress, TaskFlavor};

/// The `_meta` member by which a request names its task (2025-11-25).
pub(crate) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// The line to the client of one call.
pub(crate) struct CallLine {
    session: GatewaySession,
    caller: Caller,
    route: ListedRoute,
    /// The stream of the request that the client waits for now.
    replies: Mutex<Replies>,
    /// The capabilities that servers of the new era are told.
    capabilities: Value,
    /// The minimum level of log messages that the request asks for (new era).
    level: Option<LogLevel>,
}

impl CallLine {
    pub(crate) fn new(
        session: &GatewaySession,
        (caller, meta): (Caller, &RequestMeta),
        route: ListedRoute,
        replies: &Replies,
    ) -> Self {
        let mut capabilities =
            meta.capabilities().cloned().unwrap_or_else(|| caller.abilities.to_capabilities());
        if !session.is_transparent() && !caller.abilities.tasks {
            // The gateway follows tasks for a client that does not.
            declare_tasks(&mut capabilities);
        }
        Self {
            session: session.clone(),
            caller,
            route,
            replies: Mutex::new(replies.clone()),
            capabilities,
            level: meta.log_level(),
        }
    }

    /// Moves the messages of the call to the stream of the request that resumes it.
    pub(crate) fn move_to(&self, replies: &Replies) {
        *self.replies.lock().unwrap_or_else(PoisonError::into_inner) = replies.clone();
    }

    /// The time of the last answer that a question of the call got from another terminal.
    pub(crate) fn last_answer(&self) -> Option<Instant> {
        self.route.last_answer()
    }

    /// Answers one request: from the stored values of the client, or by asking it.
    async fn answer_request(&self, server: &ServerName, request: InputRequest) -> Result<RawJson, RpcError> {
        let InputRequest { method, params, .. } = request;
        match method.as_str() {
            "elicitation/create" => {
                let params = self.elicitation_params(server, params.as_ref())?;
                self.route.send_question(server, ("elicitation-", "elicitation/create"), params).await
            }
            "sampling/createMessage" => {
                let params = self.sampling_params(server, params.as_ref())?;
                self.route.send_question(server, ("sampling-", "sampling/createMessage"), params).await
            }
            "roots/list" => self.answer_roots(server).await,
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "this client does not offer that method")),
        }
    }

    /// The roots of the client: those it has sent before, or else it is asked.
    async fn answer_roots(&self, server: &ServerName) -> Result<RawJson, RpcError> {
        if !self.caller.abilities.roots {
            return Err(RpcError::new(METHOD_NOT_FOUND, "this client has no roots"));
        }
        match self.session.known_roots().filter(|_| !self.route.is_repeated()) {
            Some(roots) => RawJson::from_value(&json!({ "roots": roots }))
                .map_err(|_| RpcError::new(INTERNAL, "the roots cannot be written")),
            None => {
                self.route.send_question(server, ("roots-", "roots/list"), RawJson::from_text("{}")).await
            }
        }
    }

    /// The parameters of an elicitation for the client.
    ///
    /// # Errors
    /// When the client does not support the mode, which is told to the server: only a user declines.
    fn elicitation_params(&self, server: &ServerName, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        let mut params = self.parse_params(server, params)?;
        let can = self.caller.abilities;
        if !can.form && !can.url {
            return Err(RpcError::new(METHOD_NOT_FOUND, "this client does not support elicitation"));
        }
        let mode = params.get("mode").and_then(Value::as_str).unwrap_or("form").to_owned();
        let is_supported = match mode.as_str() {
            "form" => can.form,
            "url" => can.url,
            _ => false,
        };
        if !is_supported {
            let reason =
                format!("this client does not support elicitation in mode `{}`", display_line(&mode));
            return Err(RpcError::new(INVALID_PARAMS, &reason));
        }
        if self.session.names_servers()
            && let Some(Value::String(message)) = params.get_mut("message")
        {
            // Otherwise a server could ask in the name of another one.
            *message = format!("[{}] {message}", display_line(server.as_str()));
        }
        match (self.caller.is_new(), mode.as_str()) {
            (true, "url") => drop(params.shift_remove("elicitationId")),
            (true, _) => drop(params.entry("mode").or_insert_with(|| "form".into())),
            (false, "url") => {
                let id = params.entry("elicitationId").or_insert_with(mint_page_id);
                self.session.shared.pages.remember_page(server, id.as_str().unwrap_or_default());
            }
            (false, _) if self.caller.spoken.version() < ProtocolVersion::NEWEST_OLD => {
                params.shift_remove("mode");
                fit_form(&mut params)?;
            }
            (false, _) => {}
        }
        write_params(params)
    }

    /// The parameters of a sampling request for the client.
    fn sampling_params(&self, server: &ServerName, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        let can = self.caller.abilities;
        if !can.sampling {
            return Err(RpcError::new(METHOD_NOT_FOUND, "this client does not support sampling"));
        }
        let mut params = self.parse_params(server, params)?;
        let has_tools = params.contains_key("tools") || params.contains_key("toolChoice");
        if has_tools && !can.sampling_tools {
            return Err(RpcError::new(INVALID_PARAMS, "this client does not support tools in sampling"));
        }
        fit_messages(&mut params, self.caller.spoken.version())?;
        write_params(params)
    }

    /// Parses the parameters of a server's request, without hidden characters unless the gateway is
    /// transparent.
    fn parse_params(
        &self,
        server: &ServerName,
        params: Option<&RawJson>,
    ) -> Result<Map<String, Value>, RpcError> {
        let invalid = || RpcError::new(INVALID_PARAMS, "`params` is not an object");
        let params = params.ok_or_else(invalid)?;
        let text = match self.session.is_transparent() {
            true => params.as_str().into(),
            false => clean_json(params.as_str()),
        };
        let mut members: Map<String, Value> = serde_json::from_str(&text).map_err(|_| invalid())?;
        if let Some(Value::Object(meta)) = members.get_mut("_meta") {
            // The server's progress token and task are its own on its own connection.
            meta.shift_remove("progressToken");
            if !self.rename_related_task(server, meta) {
                meta.shift_remove(RELATED_TASK);
            }
            if meta.is_empty() {
                members.shift_remove("_meta");
            }
        }
        Ok(members)
    }

    /// Gives the task that a request belongs to the client's id; returns whether the client follows it.
    fn rename_related_task(&self, server: &ServerName, meta: &mut Map<String, Value>) -> bool {
        let Some(Value::Object(related)) = meta.get_mut(RELATED_TASK) else { return false };
        let Some(Value::String(id)) = related.get_mut("taskId") else { return false };
        let task = TaskAddress { server: server.clone(), flavor: TaskFlavor::Old, id: id.clone() };
        if !self.caller.has_old_tasks() || !self.session.shared.tasks.contains(&task) {
            return false;
        }
        let Some(name) = self.session.client_task_id(&task) else { return false };
        *id = name;
        true
    }

    /// Whether the client wants a log message of this level.
    fn wants_log(&self, level: LogLevel) -> bool {
        match self.caller.is_new() {
            true => self.level.is_some_and(|least| level >= least),
            false => self.session.shared.logging.includes(level),
        }
    }
}

impl ClientLine for CallLine {
    fn ask<'l>(
        &'l self,
        server: &'l ServerName,
        requests: Vec<InputRequest>,
    ) -> BoxedFuture<'l, Result<Vec<RawJson>, RpcError>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(requests.len());
            if !self.route.is_repeated() {
                // One after the other: the user answers one form at a time.
                for request in requests {
                    answers.push(self.answer_request(server, request).await?);
                }
                return Ok(answers);
            }
            // All at once, so that they are in one round.
            try_join_all(requests.into_iter().map(|request| self.answer_request(server, request))).await
        })
    }

    fn send_log(&self, server: &ServerName, params: &RawJson) {
        let level = params.member("level").and_then(|level| level.decode::<String>().ok());
        // A message with an unknown level is treated as `info`.
        let level = level.and_then(|level| level.parse().ok()).unwrap_or(LogLevel::Info);
        if !self.wants_log(level) {
            return;
        }
        let params = fit_log_message(&self.session.shared.gateway.mode, server, params);
        let replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let _delivery = replies.notify("notifications/message", Some(&params));
    }

    fn capabilities(&self) -> &Value {
        &self.capabilities
    }

    fn log_level(&self) -> Option<LogLevel> {
        match self.caller.is_new() {
            true => self.level,
            false => self.session.shared.logging.level(),
        }
    }

    fn relays_input(&self) -> bool {
        self.caller.is_new()
    }

    fn visits_pages(&self) -> bool {
        let is_newest_old = self.caller.spoken.version() == ProtocolVersion::NEWEST_OLD;
        self.session.is_transparent() && is_newest_old && self.caller.abilities.url
    }

    fn asks_roots_in_calls(&self) -> bool {
        // A server of the old era keeps the roots for all calls, so there must be no other client.
        self.caller.is_new() && self.caller.abilities.roots && self.session.shared.gateway.has_one_client()
    }

    fn follows_tasks(&self) -> bool {
        self.caller.is_new() && self.caller.abilities.tasks
    }
}

/// Declares the extension for tasks in capabilities of the new era.
fn declare_tasks(capabilities: &mut Value) {
    let Some(capabilities) = capabilities.as_object_mut() else { return };
    let extensions = capabilities.entry("extensions").or_insert_with(|| json!({}));
    if let Some(extensions) = extensions.as_object_mut() {
        extensions.insert(TASKS.to_owned(), json!({}));
    }
}

fn write_params(params: Map<String, Value>) -> Result<RawJson, RpcError> {
    RawJson::from_value(&Value::Object(params))
        .map_err(|_| RpcError::new(INTERNAL, "the parameters cannot be written"))
}
