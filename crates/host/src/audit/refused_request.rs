//! A request that a gateway refused and the audit log records, such as one with the session of another client.

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::AUDIT_NAME_CHARS;
use mcparley_model::text::{clean_text, truncate_text};
use mcparley_pool::principal::ClientIdentity;

use super::AuditLog;
use super::record::{AuditRecord, CalledTool};

/// A request that a gateway refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRequest {
    /// The reason as a word, such as `token_expired`.
    pub reason: &'static str,
    /// The path of the request.
    pub path: String,
    /// The address of the client.
    pub address: String,
    /// The client, if its token was valid.
    pub client: Option<Arc<ClientIdentity>>,
}

impl AuditLog {
    /// Records a refused request.
    pub(crate) fn record_refusal(&self, mut refused: RefusedRequest) {
        refused.path = truncate_text(&clean_text(&refused.path), AUDIT_NAME_CHARS).into_owned();
        let mut record = AuditRecord::new(CalledTool::UnknownName(String::new()), None, Duration::ZERO);
        record.client = refused.client.take();
        record.refused = Some(refused);
        self.push_record(record);
    }
}
