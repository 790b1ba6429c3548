//! The stored form of a tool, which parses back to the same tool, and its digest.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::definition::ToolDefinition;
use super::{Audience, HeaderParam, TaskSupport, Tool, ToolHints, ToolLoading};
use crate::hex::Hex;
use crate::name::ToolName;

/// The digest of a tool's definition: all fields that the user or a model was shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolDigest(pub(super) [u8; 32]);

/// The stored fields of a tool's definition. Derived fields are computed again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRecord<'t> {
    #[serde(borrow)]
    name: Cow<'t, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    title: Option<Cow<'t, str>>,
    #[serde(borrow)]
    description: Cow<'t, str>,
    #[serde(borrow)]
    input_schema: &'t RawValue,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'t RawValue>,
    hints: ToolHints,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    search_hint: Option<Cow<'t, str>>,
    loading: ToolLoading,
    #[serde(default, skip_serializing_if = "TaskSupport::is_forbidden")]
    task: TaskSupport,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result_chars: Option<usize>,
    #[serde(default, skip_serializing_if = "Audience::includes_model")]
    audience: Audience,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    says_destructive: bool,
}

impl ToolRecord<'_> {
    /// The tool of this record; `None` if the record is invalid.
    #[must_use]
    pub fn into_tool(self) -> Option<Tool> {
        let Self {
            name,
            title,
            description,
            input_schema,
            output_schema,
            hints,
            search_hint,
            loading,
            task,
            result_chars,
            audience,
            says_destructive,
        } = self;
        let header_params = HeaderParam::parse_schema(input_schema).ok()?.into();
        Some(Tool {
            name: ToolName::new(&name),
            title: title.map(Box::from),
            description: Box::from(description),
            input_schema: input_schema.to_owned(),
            output_schema: output_schema.map(ToOwned::to_owned),
            hints,
            search_hint: search_hint.map(Box::from),
            loading,
            header_params,
            task,
            result_chars,
            audience,
            says_destructive,
            definition: ToolDefinition::default(),
        })
    }
}

impl Tool {
    /// The digest of the tool: two tools of one server with the same digest are interchangeable.
    #[must_use]
    pub fn digest(&self) -> ToolDigest {
        // The destructive hint is part of the hints; declaring it explicitly does not make another tool.
        let record = ToolRecord { says_destructive: false, ..self.to_record() };
        let record = serde_json::to_vec(&record).unwrap_or_default();
        ToolDigest(Sha256::digest(&record).into())
    }

    /// The tool's definition in its stored form.
    #[must_use]
    pub fn to_record(&self) -> ToolRecord<'_> {
        let Self {
            name,
            title,
            description,
            input_schema,
            output_schema,
            hints,
            search_hint,
            loading,
            header_params: _,
            task,
            result_chars,
            audience,
            says_destructive,
            definition: _,
        } = self;
        ToolRecord {
            name: Cow::Borrowed(name.as_str()),
            title: title.as_deref().map(Cow::Borrowed),
            description: Cow::Borrowed(description),
            input_schema,
            output_schema: output_schema.as_deref(),
            hints: *hints,
            search_hint: search_hint.as_deref().map(Cow::Borrowed),
            loading: *loading,
            task: *task,
            result_chars: *result_chars,
            audience: *audience,
            says_destructive: *says_destructive,
        }
    }
}

impl fmt::Display for ToolDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(f)
    }
}

impl fmt::Debug for ToolDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

#[cfg(test)]
mod tests {
    //! Tests of the round trip of a record, and of the digest.
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn tool(change: impl FnOnce(&mut serde_json::Value)) -> Tool {
        let mut entry = json!({
            "name": "query", "title": "Query", "description": "d".repeat(5_000),
            "inputSchema": {
                "type": "object",
                "properties": { "tenant": { "type": "string", "x-mcp-header": "Tenant" } },
            },
            "outputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
            "execution": { "taskSupport": "required" },
            "_meta": { "anthropic/searchHint": " two  words ", "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": 9_000_000 },
        });
        change(&mut entry);
        Tool::parse(&to_raw_value(&entry).unwrap()).unwrap()
    }

    // L12
    #[test]
    fn tool_record_round_trips() {
        let tool = Tool { definition: ToolDefinition::default(), ..tool(|_| ()) };
        let written = serde_json::to_string(&tool.to_record()).unwrap();
        let again = serde_json::from_str::<ToolRecord<'_>>(&written).unwrap().into_tool().unwrap();
        assert_eq!(format!("{again:?}"), format!("{tool:?}"));
        assert_eq!(again.digest(), tool.digest());
        assert_eq!((again.header_params.len(), again.result_chars), (1, Some(500_000)));
    }

    // L12 B47
    #[test]
    fn every_part_of_a_definition_counts_in_its_digest() {
        let same = tool(|_| ()).digest();
        let changes: [fn(&mut serde_json::Value); 8] = [
            |entry| entry["title"] = json!("Other"),
            |entry| entry["description"] = json!("other"),
            |entry| entry["inputSchema"]["required"] = json!(["tenant"]),
            |entry| entry["outputSchema"]["title"] = json!("t"),
            |entry| entry["annotations"]["readOnlyHint"] = json!(false),
            |entry| entry["_meta"]["anthropic/searchHint"] = json!("words"),
            |entry| entry["_meta"]["anthropic/maxResultSizeChars"] = json!(7),
            |entry| entry["_meta"]["ui"] = json!({ "visibility": ["app"] }),
        ];
        for change in changes {
            assert_ne!(tool(change).digest(), same);
        }
    }

    #[test]
    fn incomplete_record_is_an_error() {
        assert!(serde_json::from_str::<ToolRecord<'_>>(r#"{ "name": "half" }"#).is_err());
    }
}
