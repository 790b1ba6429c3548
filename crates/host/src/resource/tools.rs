//! The built-in tools for resources: `ListMcpResources` and `ReadMcpResource`.

use std::sync::Arc;

use mcparley_model::limits::{RESOURCE_LINE_CHARS, RESOURCES_SHOWN};
use mcparley_model::name::{PublicName, ServerName};
use mcparley_model::text::truncate_text;
use serde_json::{Map, Value, json};

use super::error::ResourceError;
use super::{ListedResource, ResourceTemplate, Resources};
use crate::call::{Call, RequestError, own_answer};
use crate::call_error::CallError;
use crate::host::Host;
use mcparley_catalog::BuiltIn;
use mcparley_results::CallOutcome;

impl Host {
    /// Lists one page of resources and templates, resources first.
    pub(crate) fn list_resources(&self, call: &Call) -> Result<CallOutcome, CallError> {
        let server = call.arguments.get("server").and_then(Value::as_str).map(ServerName::new);
        let offset = call.arguments.get("offset").and_then(Value::as_u64).unwrap_or(0);
        let Resources { resources, templates } =
            self.resources(server.as_ref()).map_err(|error| self.with_known_servers(error))?;
        let roster = self.roster();
        let is_shown = |server: &ServerName| roster.gate.denial_of_server(server).is_none();
        let resources = resources.iter().filter(|resource| is_shown(&resource.server)).map(resource_to_json);
        let templates = templates.iter().filter(|template| is_shown(&template.server)).map(template_to_json);
        let all: Vec<Value> = resources.chain(templates).collect();
        let begin = usize::try_from(offset).unwrap_or(usize::MAX).min(all.len());
        let end = (begin + RESOURCES_SHOWN).min(all.len());
        let page = Value::from(all.get(begin..end).unwrap_or_default());
        let mut content = vec![json!({ "type": "text", "text": page.to_string() })];
        if end < all.len() {
            let more = format!("{} more: call again with `offset` {end}", all.len() - end);
            content.push(json!({ "type": "text", "text": more }));
        }
        own_answer(&json!({ "content": content }))
    }

    /// Reads one resource. A missing resource is an answer that a model can use, and no failure of the tool.
    pub(crate) async fn read_resource_for_model(&self, call: &Call) -> Result<CallOutcome, CallError> {
        let argument = |name: &str| call.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let (server, uri) = (ServerName::new(argument("server")), argument("uri"));
        if let Some(decision) = self.roster().gate.denial_of_server(&server) {
            let message = format!("everything of server `{}` is denied by {}", server, decision.why);
            let tool = PublicName::for_built_in(BuiltIn::ReadResource.as_str());
            return Err(match tool {
                Some(tool) => CallError::Denied { tool, decision: Box::new(decision), message },
                None => CallError::BuiltInTool { message: Arc::from(message) },
            });
        }
        match self.read_resource_as_outcome(&server, uri).await {
            Ok(outcome) => Ok(outcome),
            Err(error @ ResourceError::NotFound { .. }) => {
                let text = format!("{error}. Call `ListMcpResources` to see all resources.");
                own_answer(&json!({ "content": [{ "type": "text", "text": text }], "isError": true }))
            }
            Err(ResourceError::Request(error)) => Err(self.with_known_servers(error)),
            Err(error) => Err(CallError::BuiltInTool { message: Arc::from(error.to_string()) }),
        }
    }

    /// The error of a tool; for an unknown server, with the names of the known ones.
    fn with_known_servers(&self, error: RequestError) -> CallError {
        match error {
            RequestError::UnknownServer { name, similar, .. } => {
                let roster = self.roster();
                let known: Vec<String> = roster.connections().map(|it| it.name.to_string()).collect();
                let because = Some(format!("there are {}", known.join(", ")));
                CallError::UnknownServer { name, similar, because }
            }
            RequestError::Unavailable { server, why } => CallError::Unavailable { server, why },
            error => CallError::BuiltInTool { message: Arc::from(error.to_string()) },
        }
    }
}

/// A resource as JSON for a model.
fn resource_to_json(resource: &ListedResource) -> Value {
    let mut shown = entry_fields(&resource.server, "uri", &resource.uri);
    add_field(&mut shown, "name", Some(&resource.name));
    add_field(&mut shown, "title", resource.title.as_ref());
    add_field(&mut shown, "description", resource.description.as_ref());
    add_field(&mut shown, "mimeType", resource.mime.as_ref());
    if let Some(size) = resource.size {
        shown.insert("size".to_owned(), Value::from(size));
    }
    Value::Object(shown)
}

/// A template as JSON for a model.
fn template_to_json(template: &ResourceTemplate) -> Value {
    let mut shown = entry_fields(&template.server, "uriTemplate", &template.uri_template);
    add_field(&mut shown, "name", Some(&template.name));
    add_field(&mut shown, "title", template.title.as_ref());
    add_field(&mut shown, "description", template.description.as_ref());
    add_field(&mut shown, "mimeType", template.mime.as_ref());
    Value::Object(shown)
}

fn entry_fields(server: &ServerName, key: &str, address: &str) -> Map<String, Value> {
    let fields = [("server", server.as_str()), (key, address)];
    fields.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

fn add_field(shown: &mut Map<String, Value>, name: &str, text: Option<&String>) {
    if let Some(text) = text {
        shown.insert(name.to_owned(), Value::from(truncate_text(text, RESOURCE_LINE_CHARS)));
    }
}
