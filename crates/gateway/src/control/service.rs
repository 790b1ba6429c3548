//! Answers the requests of the control protocol.

use mcparley_wire::peer::{BoxedFuture, Handler};
use mcparley_wire::{INTERNAL, INVALID_PARAMS, Incoming, METHOD_NOT_FOUND, Notice, RawJson, RpcError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{GatewayFacts, PROTOCOL, ReconnectRequest, UNKNOWN_QUESTION};
use crate::gateway::Gateway;
use crate::pending::{AnswerError, TerminalAnswer};

/// The service of one gateway. Any connection may use it, such as that of a daemon.
#[derive(Clone, Debug)]
pub(crate) struct ControlService {
    gateway: Gateway,
}

#[derive(Default, Deserialize)]
struct ListParams {
    #[serde(default)]
    details: bool,
}

#[derive(Deserialize)]
struct QuestionParams {
    id: String,
}

#[derive(Deserialize)]
struct AnswerParams {
    id: String,
    answer: TerminalAnswer,
}

#[derive(Deserialize)]
struct ReconnectParams {
    request: ReconnectRequest,
}

impl ControlService {
    pub(crate) fn new(gateway: &Gateway) -> Self {
        Self { gateway: gateway.clone() }
    }

    async fn answer_request(&self, method: &str, params: Option<&RawJson>) -> Result<RawJson, RpcError> {
        let pending = &self.gateway.pending;
        match method {
            "control/about" => write_result(&self.gateway_facts()),
            "control/pending" => {
                let ListParams { details } = params.map_or(Ok(ListParams::default()), parse_params)?;
                write_result(&json!({ "questions": pending.list_open(details) }))
            }
            "control/question" => {
                let QuestionParams { id } = required_params(params)?;
                write_result(&pending.find_question(&id).map_err(|error| rpc_error(&error))?)
            }
            "control/answer" => {
                let AnswerParams { id, answer } = required_params(params)?;
                pending.answer_question(&id, answer).map_err(|error| rpc_error(&error))?;
                write_result(&json!({}))
            }
            "control/reconnect" => {
                let ReconnectParams { request } = required_params(params)?;
                let host = self.gateway.log_host.as_ref().unwrap_or(&self.gateway.host);
                let servers = host.reconnect_on_request(&request).await;
                let names: Vec<&str> = servers.iter().map(|server| server.as_str()).collect();
                write_result(&json!({ "servers": names }))
            }
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "unknown method")),
        }
    }

    fn gateway_facts(&self) -> GatewayFacts {
        GatewayFacts {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            project: self.gateway.host.paths().project_key(),
        }
    }
}

impl Handler for ControlService {
    fn handle_request(&self, incoming: Incoming) -> BoxedFuture<'static, Result<RawJson, RpcError>> {
        let service = self.clone();
        Box::pin(async move { service.answer_request(&incoming.method, incoming.params.as_ref()).await })
    }

    fn handle_notice(&self, _notice: Notice) {}
}

fn required_params<T: DeserializeOwned>(params: Option<&RawJson>) -> Result<T, RpcError> {
    parse_params(params.ok_or_else(|| RpcError::new(INVALID_PARAMS, "`params` is required"))?)
}

fn parse_params<T: DeserializeOwned>(params: &RawJson) -> Result<T, RpcError> {
    let invalid = |error: serde_json::Error| RpcError::new(INVALID_PARAMS, &format!("`params`: {error}"));
    serde_json::from_slice::<Value>(params.as_bytes()).and_then(serde_json::from_value).map_err(invalid)
}

fn rpc_error(error: &AnswerError) -> RpcError {
    let code = match error {
        AnswerError::Unknown { .. } => UNKNOWN_QUESTION,
        AnswerError::WrongKind { .. }
        | AnswerError::AskedEachTime
        | AnswerError::IncompleteResult { .. }
        | AnswerError::Mismatch { .. } => INVALID_PARAMS,
    };
    RpcError::new(code, &error.to_string())
}

fn write_result(result: &impl serde::Serialize) -> Result<RawJson, RpcError> {
    let unwritten = |_| RpcError::new(INTERNAL, "the result cannot be written");
    let result = serde_json::to_value(result).map_err(unwritten)?;
    RawJson::from_value(&result).map_err(|_| RpcError::new(INTERNAL, "the result cannot be written"))
}
