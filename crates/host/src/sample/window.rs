//! Answers what one server asks a model: a few questions at a time, and not without end (B114).

use std::sync::Arc;

use mcparley_model::limits::{SAMPLES_A_MINUTE, SAMPLES_AT_ONCE, SAMPLES_EVERY};
use mcparley_model::name::ServerName;
use mcparley_wire::{INTERNAL, INVALID_PARAMS, METHOD_NOT_FOUND, RawJson, RpcError};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::request::{Sampling, brings_tools};
use super::{Refusal, Sampler};
use crate::log::Log;
use crate::token_bucket::TokenBucket;

/// What the protocol's page answers with when a person says no.
const DECLINED: i64 = -1;

/// Where the questions of one server to a model are answered.
pub(crate) struct Window {
    server: ServerName,
    sampler: Option<Arc<dyn Sampler>>,
    log: Arc<Log>,
    turns: Semaphore,
    rate_limit: TokenBucket,
}

/// Why a question has no answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsampled {
    #[error("this client has no model to ask")]
    Nobody,
    #[error("{0}")]
    Request(String),
    #[error("its questions to a model are more than {SAMPLES_A_MINUTE} a minute")]
    TooMany,
    #[error(transparent)]
    Refused(Refusal),
}

impl Window {
    pub(crate) fn new(server: ServerName, sampler: Option<Arc<dyn Sampler>>, log: Arc<Log>) -> Self {
        let rate_limit = TokenBucket::new(SAMPLES_A_MINUTE, SAMPLES_EVERY);
        Self { server, sampler, log, turns: Semaphore::new(SAMPLES_AT_ONCE), rate_limit }
    }

    /// Has the model answer.
    pub(crate) async fn answer(&self, params: Option<&RawJson>) -> Result<Value, Unsampled> {
        let Some(sampler) = &self.sampler else {
            self.log.event("it asks a model, and none is there to be asked");
            return Err(Unsampled::Nobody);
        };
        let request = self.read(sampler.as_ref(), params).map_err(Unsampled::Request)?;
        if !self.rate_limit.take() {
            self.log.trouble("it asks a model too often, and was refused");
            return Err(Unsampled::TooMany);
        }
        // It is never closed; were it so, nobody would have to wait.
        let _turn = self.turns.acquire().await;
        let sampled = sampler.sample(&request).await;
        self.log.event(match &sampled {
            Ok(_) => "it asked a model, which answered",
            Err(Refusal::Declined) => "it asked a model, and that was declined",
            Err(Refusal::Failed { .. }) => "it asked a model, which gave no answer",
        });
        sampled.map(super::Sampled::into_result).map_err(Unsampled::Refused)
    }

    fn read(&self, sampler: &dyn Sampler, params: Option<&RawJson>) -> Result<Sampling, String> {
        let params = params.ok_or("it has no parameters")?;
        // The protocol wants an error: a model without its tools would answer another question.
        if !sampler.takes_tools() && brings_tools(params) {
            return Err("it brings tools, and the model here takes none".to_owned());
        }
        Sampling::read(&self.server, params)
    }
}

impl Unsampled {
    /// As a server of the old era is told.
    pub(crate) fn into_error(self) -> RpcError {
        let code = match &self {
            Self::Nobody => METHOD_NOT_FOUND,
            Self::Request(_) => INVALID_PARAMS,
            Self::Refused(Refusal::Declined) => DECLINED,
            Self::TooMany | Self::Refused(Refusal::Failed { .. }) => INTERNAL,
        };
        RpcError::new(code, &self.to_string())
    }
}
