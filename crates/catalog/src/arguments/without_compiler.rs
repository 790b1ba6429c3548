//! JSON Schema in a build without the feature `schema`: a schema beyond the simple validator is left to the
//! server.

use serde_json::Value;

use super::ArgumentMismatch;

/// A schema that arguments are validated against: there is none.
#[derive(Debug)]
pub(super) enum CompiledSchema {}

impl CompiledSchema {
    /// The reason why no schema is compiled.
    pub(super) fn new(_text: &str) -> Result<Self, String> {
        Err("this program was built without JSON Schema".into())
    }

    /// Whether the arguments fit.
    pub(super) fn is_valid(&self, _arguments: &Value) -> bool {
        match *self {}
    }

    /// Lists the mismatches.
    pub(super) fn collect_mismatches(&self, _arguments: &Value) -> Vec<ArgumentMismatch> {
        match *self {}
    }
}
