//! The script: every request about everything that a server offers, and the messages that came of each.

use std::collections::BTreeMap;
use std::io;

use serde_json::{Value, json};

use crate::ServerEndpoint;
use crate::client::{ProtocolEra, RecordedMessage, RecordingClient};
use crate::tree::TokenTree;

/// The lists of a server: the method, the member with the items, and the member that names an item.
const LISTS: [(&str, &str, &str, &str); 4] = [
    ("tools/list", "tools", "name", "tool"),
    ("resources/list", "resources", "uri", "resource"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate", "template"),
    ("prompts/list", "prompts", "name", "prompt"),
];

/// The item for the log level, which is a request in the old era only.
pub(crate) const LOG_LEVEL: &str = "log level";
/// The item for a call of a tool that does not exist.
pub(crate) const UNKNOWN_TOOL: &str = "error: unknown tool";

/// The limit of pages of a list.
const PAGES: usize = 1000;

/// Which calls a recording makes.
#[derive(Clone, Debug, Default)]
pub struct RecordingOptions {
    /// Arguments of tools for which samples are of no use.
    pub arguments: BTreeMap<String, Value>,
    /// Tools that are listed but not called.
    pub uncalled: Vec<String>,
    /// Texts in log messages that belong to no request and come at any time.
    pub unrelated_logs: Vec<String>,
}

/// The messages of a server about everything it offers, by item.
#[derive(Debug, Default)]
pub struct Recording {
    pub(crate) era: Option<ProtocolEra>,
    pub(crate) items: Vec<(String, Vec<RecordedMessage>)>,
}

impl Recording {
    /// Connects to a server and makes every request of the script.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached or does not answer.
    pub fn record(
        endpoint: &ServerEndpoint,
        era: ProtocolEra,
        options: &RecordingOptions,
    ) -> io::Result<Self> {
        let (client, greeting) = RecordingClient::connect(endpoint, era)?;
        let recording = Self { era: Some(era), items: Vec::new() };
        let mut recorder = Recorder { client, unrelated_logs: options.unrelated_logs.clone(), recording };
        recorder.add_greeting(&greeting);
        recorder.record_all(&greeting.to_value(), options)?;
        Ok(recorder.recording)
    }
}

struct Recorder {
    client: RecordingClient,
    unrelated_logs: Vec<String>,
    recording: Recording,
}

impl Recorder {
    fn add(&mut self, name: impl Into<String>, mut messages: Vec<RecordedMessage>) {
        let is_unrelated = |message: &RecordedMessage| match message {
            RecordedMessage::Notification(log) => {
                let log = log.to_string();
                self.unrelated_logs.iter().any(|text| log.contains(text))
            }
            RecordedMessage::Question(_) | RecordedMessage::Result(_) | RecordedMessage::Error(_) => false,
        };
        messages.retain(|message| !is_unrelated(message));
        self.recording.items.push((name.into(), messages));
    }

    fn add_tree(&mut self, name: impl Into<String>, tree: &TokenTree) {
        self.add(name, vec![RecordedMessage::Result(tree.clone())]);
    }

    fn record_request(&mut self, name: impl Into<String>, method: &str, params: Value) -> io::Result<()> {
        let messages = self.client.request(method, params)?;
        self.add(name, messages);
        Ok(())
    }

    fn add_greeting(&mut self, greeting: &TokenTree) {
        let info = greeting.get("serverInfo").or_else(|| {
            greeting.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo"))
        });
        let parts = [
            ("server info", info),
            ("capabilities", greeting.get("capabilities")),
            ("instructions", greeting.get("instructions")),
        ];
        for (name, part) in parts {
            self.add_tree(name, part.unwrap_or(&TokenTree::Scalar("null".to_owned())));
        }
        let mut rest = greeting.clone();
        rest.remove(&["serverInfo", "capabilities", "instructions", "_meta"]);
        self.add_tree("handshake", &rest);
    }

    fn record_all(&mut self, greeting: &Value, options: &RecordingOptions) -> io::Result<()> {
        let capabilities = &greeting["capabilities"];
        if self.client.era == ProtocolEra::Old && capabilities.get("logging").is_some() {
            self.record_request(LOG_LEVEL, "logging/setLevel", json!({ "level": "debug" }))?;
        }
        for (method, member, key, word) in LISTS {
            let family = method.split('/').next().unwrap_or_default();
            if capabilities.get(family).is_none() {
                continue;
            }
            let items = self.record_list(method, member, key, word)?;
            for item in &items {
                self.record_use(word, item, capabilities, options)?;
            }
        }
        if capabilities["extensions"].get("io.modelcontextprotocol/skills").is_some() {
            let skills = self.record_list("skills/list", "skills", "uri", "skill")?;
            for skill in &skills {
                let name = format!("get {}", skill["uri"].as_str().unwrap_or_default());
                self.record_request(name, "skills/get", json!({ "uri": skill["uri"] }))?;
            }
        }
        self.record_errors(capabilities)
    }

    /// Records a list, whole and item by item.
    fn record_list(&mut self, method: &str, member: &str, key: &str, word: &str) -> io::Result<Vec<Value>> {
        let (mut items, mut cursor): (Vec<TokenTree>, Option<Value>) = (Vec::new(), None);
        for page in 0..PAGES {
            let params = cursor.take().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let messages = self.client.request(method, params)?;
            let Some(RecordedMessage::Result(result)) = messages.last() else {
                self.add(method, messages);
                return Ok(Vec::new());
            };
            items.extend(result.get(member).map(TokenTree::elements).unwrap_or_default().iter().cloned());
            cursor = result.get("nextCursor").map(TokenTree::to_value);
            if page == 0 {
                let mut rest = result.clone();
                if let Some(list) = rest.get_mut(member) {
                    *list = TokenTree::Array(Vec::new());
                }
                self.add_tree(method, &rest);
            }
            if cursor.is_none() {
                break;
            }
        }
        let null = || TokenTree::Scalar("null".to_owned());
        let names = items.iter().map(|item| item.get(key).cloned().unwrap_or_else(null)).collect();
        self.add_tree(format!("order of {member}"), &TokenTree::Array(names));
        for item in &items {
            let name = item.get(key).and_then(TokenTree::as_text).unwrap_or_default();
            self.add_tree(format!("{word} {name}"), item);
        }
        Ok(items.iter().map(TokenTree::to_value).collect())
    }

    /// Records the use of one item of a list.
    fn record_use(
        &mut self,
        word: &str,
        item: &Value,
        capabilities: &Value,
        options: &RecordingOptions,
    ) -> io::Result<()> {
        let has_completions = capabilities.get("completions").is_some();
        match word {
            "tool" => {
                let name = item["name"].as_str().unwrap_or_default();
                if options.uncalled.iter().any(|uncalled| uncalled == name) {
                    return Ok(());
                }
                let messages = self.client.call_tool(item, options.arguments.get(name))?;
                self.add(format!("call {name}"), messages);
                if name.starts_with("toggle") {
                    // Otherwise the tool would send messages at any time, which belong to no request.
                    self.client.call_tool(item, options.arguments.get(name))?;
                }
            }
            "resource" => self.record_read(item["uri"].as_str().unwrap_or_default())?,
            "template" => {
                let template = item["uriTemplate"].as_str().unwrap_or_default();
                self.record_read(&expand_template(template))?;
                if has_completions {
                    let reference = json!({ "type": "ref/resource", "uri": template });
                    for variable in template_variables(template) {
                        self.record_completion(template, &reference, &variable)?;
                    }
                }
            }
            _ => self.record_prompt(item, has_completions)?,
        }
        Ok(())
    }

    fn record_read(&mut self, uri: &str) -> io::Result<()> {
        self.record_request(format!("read {uri}"), "resources/read", json!({ "uri": uri }))
    }

    fn record_prompt(&mut self, prompt: &Value, has_completions: bool) -> io::Result<()> {
        let name = prompt["name"].as_str().unwrap_or_default();
        let arguments = prompt["arguments"].as_array().cloned().unwrap_or_default();
        let names: Vec<&str> = arguments.iter().filter_map(|argument| argument["name"].as_str()).collect();
        let given: serde_json::Map<String, Value> =
            names.iter().map(|&argument| (argument.to_owned(), json!("1"))).collect();
        let params = json!({ "name": name, "arguments": given });
        self.record_request(format!("get {name}"), "prompts/get", params)?;
        if has_completions {
            for argument in names {
                let reference = json!({ "type": "ref/prompt", "name": name });
                self.record_completion(name, &reference, argument)?;
            }
        }
        Ok(())
    }

    fn record_completion(&mut self, of: &str, reference: &Value, argument: &str) -> io::Result<()> {
        let params = json!({ "ref": reference, "argument": { "name": argument, "value": "" } });
        self.record_request(format!("complete {argument} of {of}"), "completion/complete", params)
    }

    /// Records the answers to requests that a server refuses.
    fn record_errors(&mut self, capabilities: &Value) -> io::Result<()> {
        let missing = "no-such-item";
        if capabilities.get("tools").is_some() {
            let params = json!({ "name": missing, "arguments": {} });
            self.record_request(UNKNOWN_TOOL, "tools/call", params)?;
        }
        if capabilities.get("resources").is_some() {
            let params = json!({ "uri": format!("{missing}://x") });
            self.record_request("error: unknown resource", "resources/read", params)?;
        }
        if capabilities.get("prompts").is_some() {
            self.record_request("error: unknown prompt", "prompts/get", json!({ "name": missing }))?;
        }
        if capabilities.get("completions").is_some() {
            let reference = json!({ "type": "ref/prompt", "name": missing });
            let params = json!({ "ref": reference, "argument": { "name": "x", "value": "" } });
            self.record_request("error: completion of an unknown prompt", "completion/complete", params)?;
        }
        Ok(())
    }
}

/// The address of a template with `1` for each variable.
fn expand_template(template: &str) -> String {
    let parts = template.split('{').enumerate();
    let expand = |(place, part): (usize, &str)| match part.split_once('}') {
        Some((variable, rest)) if place > 0 && variable.starts_with('?') => rest.to_owned(),
        Some((_, rest)) if place > 0 => format!("1{rest}"),
        _ => part.to_owned(),
    };
    parts.map(expand).collect()
}

fn template_variables(template: &str) -> Vec<String> {
    let names = template.split('{').skip(1).filter_map(|part| part.split_once('}'));
    names.map(|(name, _)| name.trim_matches(['+', '#', '/', '?', '&', '*', ';']).to_owned()).collect()
}
