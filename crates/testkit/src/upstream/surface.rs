//! The methods of the server that both eras share: lists, reads, prompts, completion, calls.

use super::rpc::{RpcFailure, RpcOutcome, text_block, text_result};
use super::scope::{Era, RequestScope, input_required};
use super::seal::StateSeal;
use super::tasks::TaskStore;
use super::{inputs, skills, tasks, tools};
use serde_json::{Value, json};

/// The server behind both eras.
#[derive(Debug)]
pub(crate) struct UpstreamSurface {
    seal: StateSeal,
    tasks: TaskStore,
}

const PROMPTS: [(&str, &str, &[&str]); 5] = [
    ("test_simple_prompt", "A prompt without arguments", &[]),
    ("test_prompt_with_arguments", "A prompt with two arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", "A prompt with a resource", &["resourceUri"]),
    ("test_prompt_with_image", "A prompt with an image", &[]),
    ("test_input_required_result_prompt", "A prompt that asks first", &[]),
];

const RESOURCES: [(&str, &str, &str); 3] = [
    ("test://static-text", "Static text", "text/plain"),
    ("test://static-binary", "Static binary", "image/png"),
    ("test://watched-resource", "Watched resource", "text/plain"),
];

impl UpstreamSurface {
    pub(crate) fn new() -> Self {
        Self { seal: StateSeal::new(), tasks: TaskStore::default() }
    }

    /// The capabilities, the same in both eras but for the tasks extension.
    pub(crate) fn capabilities(era: Era) -> Value {
        let mut extensions = json!({ "io.modelcontextprotocol/skills": { "directoryRead": true } });
        if era == Era::New {
            extensions["io.modelcontextprotocol/tasks"] = json!({});
        }
        json!({
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "resources": { "listChanged": true, "subscribe": true },
            "completions": {},
            "logging": {},
            "extensions": extensions,
        })
    }

    /// Answers a request.
    pub(crate) fn answer(&self, method: &str, scope: &RequestScope<'_>) -> RpcOutcome {
        let params = scope.params;
        let uri = params["uri"].as_str().unwrap_or_default();
        match method {
            "tools/list" => Ok(json!({ "tools": list_tools(scope.era) })),
            "prompts/list" => Ok(json!({ "prompts": list_prompts() })),
            "resources/list" => Ok(json!({ "resources": list_resources() })),
            "resources/templates/list" => Ok(json!({ "resourceTemplates": [{
                "uriTemplate": "test://template/{id}/data",
                "name": "Template",
                "description": "Data by id",
                "mimeType": "application/json",
            }] })),
            "resources/read" => read_resource(uri, scope.era),
            "resources/directory/read" => skills::read_directory(uri),
            "skills/list" => Ok(json!({ "skills": skills::list_skills() })),
            "skills/get" => skills::skill_entry(uri).map(|skill| json!({ "skill": skill })),
            "prompts/get" => render_prompt(scope),
            "completion/complete" => complete_argument(params),
            "tools/call" => self.call_tool(scope),
            _ => {
                let unknown = || Err(RpcFailure::new(-32601, format!("unknown method `{method}`")));
                self.tasks.answer(method, scope).unwrap_or_else(unknown)
            }
        }
    }

    fn call_tool(&self, scope: &RequestScope<'_>) -> RpcOutcome {
        let name = scope.params["name"].as_str().unwrap_or_default();
        let called = tools::call_plain_tool(name, scope)
            .or_else(|| self.tasks.call_tool(name, scope))
            .or_else(|| inputs::call_input_tool(name, scope, &self.seal));
        match called {
            Some(Ok(result)) if scope.era == Era::Old && result["resultType"].is_string() => {
                Ok(text_result(format!("`{name}` asks only in the new era")))
            }
            Some(outcome) => outcome,
            None if CHANGES.iter().any(|(known, _)| *known == name) => Ok(text_result("The list changed.")),
            None => Err(RpcFailure::new(-32602, format!("unknown tool `{name}`"))),
        }
    }
}

/// The tools that publish a change, with the list that changes.
pub(crate) const CHANGES: [(&str, &str); 2] =
    [("test_trigger_tool_change", "tools"), ("test_trigger_prompt_change", "prompts")];

fn list_tools(era: Era) -> Vec<Value> {
    let changes = CHANGES.map(|(name, list)| {
        tools::define_tool(name, &format!("Publishes a change of the {list}"), &json!({}), &[])
    });
    let mut all = tools::plain_tools();
    all.extend(changes);
    all.extend(inputs::input_tools());
    // Revisions of the old era do not have the extension that these tools need.
    all.extend(tasks::task_tools().into_iter().filter(|_| era == Era::New));
    all
}

fn list_prompts() -> Vec<Value> {
    let argument =
        |name: &&str| json!({ "name": name, "description": format!("The {name}"), "required": true });
    let prompt = |(name, description, arguments): (&str, &str, &[&str])| {
        let arguments: Vec<Value> = arguments.iter().map(argument).collect();
        json!({ "name": name, "description": description, "arguments": arguments })
    };
    PROMPTS.map(prompt).to_vec()
}

fn list_resources() -> Vec<Value> {
    let resource = |(uri, name, mime): (&str, &str, &str)| json!({ "uri": uri, "name": name, "description": format!("{name} of the test server"), "mimeType": mime });
    RESOURCES.map(resource).into_iter().chain(skills::skill_resources()).collect()
}

fn read_resource(uri: &str, era: Era) -> RpcOutcome {
    let text = |mime: &str, text: String| Some(json!({ "uri": uri, "mimeType": mime, "text": text }));
    let template = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let contents = match (uri, template) {
        ("test://static-text", _) => {
            text("text/plain", "This is the content of the static text resource.".to_owned())
        }
        ("test://static-binary", _) => {
            Some(json!({ "uri": uri, "mimeType": "image/png", "blob": tools::PNG }))
        }
        ("test://watched-resource", _) => text("text/plain", "Watched.".to_owned()),
        (_, Some(id)) => {
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            text("application/json", data.to_string())
        }
        _ => skills::read_skill_file(uri),
    };
    let code = if era == Era::New { -32602 } else { -32002 };
    let missing = || RpcFailure::new(code, "resource not found").with_data(json!({ "uri": uri }));
    contents.map(|contents| json!({ "contents": [contents] })).ok_or_else(missing)
}

fn render_prompt(scope: &RequestScope<'_>) -> RpcOutcome {
    let name = scope.params["name"].as_str().unwrap_or_default();
    let found = PROMPTS.iter().find(|(known, _, _)| *known == name);
    let (_, description, _) =
        found.ok_or_else(|| RpcFailure::new(-32602, format!("unknown prompt `{name}`")))?;
    let blocks = match name {
        "test_simple_prompt" => vec![text_block("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, two) = (scope.argument("arg1"), scope.argument("arg2"));
            vec![text_block(format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let text = "Embedded resource content for testing.";
            let resource = tools::resource(scope.argument("resourceUri"), "text/plain", text);
            vec![resource, text_block("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => vec![tools::image(), text_block("Please analyze the image above.")],
        _ => match (scope.era, scope.input("user_context")) {
            (Era::New, None) => {
                let question = inputs::ask_for("Which context?", "context");
                return Ok(input_required(&json!({ "user_context": question }), None));
            }
            (_, given) => {
                let context = given.and_then(|given| given["content"]["context"].as_str()).unwrap_or("none");
                vec![text_block(format!("Context: {context}"))]
            }
        },
    };
    let message = |content: Value| json!({ "role": "user", "content": content });
    let messages: Vec<Value> = blocks.into_iter().map(message).collect();
    Ok(json!({ "description": description, "messages": messages }))
}

fn complete_argument(params: &Value) -> RpcOutcome {
    let prompt = params["ref"]["name"].as_str().unwrap_or_default();
    let is_known = PROMPTS.iter().any(|(known, _, _)| *known == prompt);
    if params["ref"]["type"] == "ref/prompt" && !is_known {
        return Err(RpcFailure::new(-32602, format!("unknown prompt `{prompt}`")));
    }
    let typed = params["argument"]["value"].as_str().unwrap_or_default();
    let values: Vec<&str> =
        ["testing", "tested", "terse"].into_iter().filter(|value| value.starts_with(typed)).collect();
    Ok(json!({ "completion": { "values": values, "total": values.len(), "hasMore": false } }))
}
