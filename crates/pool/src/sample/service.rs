//! Answers the sampling requests of one server, with a concurrency limit and a rate limit.

use std::sync::Arc;

use mcparley_model::limits::{SAMPLES_A_MINUTE, SAMPLES_AT_ONCE, SAMPLES_EVERY};
use mcparley_model::name::ServerName;
use mcparley_wire::{INTERNAL, INVALID_PARAMS, METHOD_NOT_FOUND, RawJson, RpcError};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::request::{SamplingRequest, includes_tools};
use super::{Sampler, SamplingRefusal};
use crate::log::ServerLog;
use crate::token_bucket::TokenBucket;

/// The error code from the protocol's example for a request that the user declined.
const DECLINED: i64 = -1;

/// Answers the sampling requests of one server.
pub(crate) struct SamplingService {
    server: ServerName,
    sampler: Option<Arc<dyn Sampler>>,
    log: Arc<ServerLog>,
    turns: Semaphore,
    rate_limit: TokenBucket,
}

/// The reason a sampling request has no answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SamplingError {
    #[error("this client does not offer sampling")]
    NoSampler,
    #[error("calls of several principals are in flight, and the question names none of them")]
    AmbiguousCall,
    #[error("{0}")]
    Request(String),
    #[error("its sampling requests exceed {SAMPLES_A_MINUTE} a minute")]
    TooMany,
    #[error(transparent)]
    Refused(SamplingRefusal),
}

impl SamplingService {
    /// The service for the requests of this server.
    pub(crate) fn new(server: ServerName, sampler: Option<Arc<dyn Sampler>>, log: Arc<ServerLog>) -> Self {
        let rate_limit = TokenBucket::new(SAMPLES_A_MINUTE, SAMPLES_EVERY);
        Self { server, sampler, log, turns: Semaphore::new(SAMPLES_AT_ONCE), rate_limit }
    }

    /// Answers a request with the sampler of the call, or else the host's own.
    pub(crate) async fn answer_request(
        &self,
        of_call: Option<&Arc<dyn Sampler>>,
        params: Option<&RawJson>,
    ) -> Result<Value, SamplingError> {
        let Some(sampler) = of_call.or(self.sampler.as_ref()) else {
            self.log.add_event("sampling request refused: no sampling handler");
            return Err(SamplingError::NoSampler);
        };
        let request = self.parse_request(sampler.as_ref(), params).map_err(SamplingError::Request)?;
        if !self.rate_limit.try_take() {
            self.log.add_trouble("sampling request refused: rate limit exceeded");
            return Err(SamplingError::TooMany);
        }
        // The semaphore is never closed, so acquiring does not fail.
        let _turn = self.turns.acquire().await;
        let sampled = sampler.sample(&request).await;
        self.log.add_event(match &sampled {
            Ok(_) => "sampling request answered",
            Err(SamplingRefusal::Declined) => "sampling request declined",
            Err(SamplingRefusal::Failed { .. }) => "sampling request failed",
        });
        sampled.map(super::SamplingResult::into_result).map_err(SamplingError::Refused)
    }

    /// Parses a request and checks that the sampler supports it.
    fn parse_request(
        &self,
        sampler: &dyn Sampler,
        params: Option<&RawJson>,
    ) -> Result<SamplingRequest, String> {
        let params = params.ok_or("it has no parameters")?;
        // The protocol requires an error here: a model without the tools would answer another request.
        if !sampler.takes_tools() && includes_tools(params) {
            return Err("it includes tools, which this client does not support".to_owned());
        }
        SamplingRequest::parse(&self.server, params)
    }
}

impl SamplingError {
    /// The JSON-RPC error for a server of the old era.
    pub(crate) fn into_rpc_error(self) -> RpcError {
        let code = match &self {
            Self::NoSampler => METHOD_NOT_FOUND,
            Self::Request(_) => INVALID_PARAMS,
            Self::Refused(SamplingRefusal::Declined) => DECLINED,
            Self::TooMany | Self::AmbiguousCall | Self::Refused(SamplingRefusal::Failed { .. }) => INTERNAL,
        };
        RpcError::new(code, &self.to_string())
    }
}
