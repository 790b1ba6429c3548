//! A scripted model: the Anthropic, OpenAI and Gemini APIs on one port, streaming included.
//!
//! | responsibility | module |
//! |---|---|
//! | the script: which turn answers which request | `turn` |
//! | the answer as the events of an API | `anthropic`, `open_ai`, `gemini` |
//! | writing the events, with the faults of the script | `answer` |
//!
//! Requests are checked by `mcparley_testkit::schema_problems` and `order_problems`. `GET /requests` returns
//! all requests so far.

mod answer;
mod anthropic;
mod gemini;
mod open_ai;
mod turn;

use crate::http::request::HttpRequest;
use crate::http::wire::HttpWire;
use crate::life;
use crate::lock::lock;
use mcparley_testkit::{ModelApi, order_problems, schema_problems};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use turn::{Script, Turn};

/// The options of the command line.
#[derive(Debug, Default)]
pub(crate) struct ModelOptions {
    /// The file of the script; `-` is the first line of stdin.
    script: String,
    port: u16,
    lenient: bool,
}

impl ModelOptions {
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut rest = arguments.iter().map(|word| word.to_string_lossy());
        while let Some(option) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("`{option}` needs a value"));
            match option.as_ref() {
                "--script" => options.script = value()?.into_owned(),
                "--port" => options.port = value()?.parse().map_err(|_| "`--port` is not a port")?,
                "--lenient" => options.lenient = true,
                other => return Err(format!("unknown option `{other}`")),
            }
        }
        if options.script.is_empty() { Err("`--script` is needed".to_owned()) } else { Ok(options) }
    }
}

/// The state shared by all connections.
#[derive(Debug)]
struct ScriptedModel {
    script: Mutex<Script>,
    requests: Mutex<Vec<Value>>,
    lenient: bool,
}

/// Serves until stdin ends.
pub(crate) fn serve_model(options: &ModelOptions) -> io::Result<()> {
    life::limit_lifetime()?;
    let mut stdin = io::stdin().lock();
    let mut text = String::new();
    match options.script.as_str() {
        "-" => drop(stdin.read_line(&mut text)?),
        path => text = read_script(path)?,
    }
    let script = Script::parse(&text).map_err(io::Error::other)?;
    let model = Arc::new(ScriptedModel {
        script: Mutex::new(script),
        requests: Mutex::default(),
        lenient: options.lenient,
    });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
    let mut out = io::stdout().lock();
    writeln!(out, "listening http://{}", listener.local_addr()?)?;
    out.flush()?;
    let accept = move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            let model = Arc::clone(&model);
            // An I/O error on one connection does not affect the others.
            thread::spawn(move || model.serve_connection(stream).unwrap_or_default());
        }
    };
    thread::Builder::new().name("accept".to_owned()).spawn(accept)?;
    io::copy(&mut stdin, &mut io::sink()).map(drop)
}

#[expect(clippy::disallowed_methods, reason = "a script of the test itself, of any size")]
fn read_script(path: &str) -> io::Result<String> {
    std::fs::read_to_string(path)
}

impl ScriptedModel {
    fn serve_connection(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let wire = HttpWire::new(stream);
        while let Some(request) = HttpRequest::read_next(&mut reader)? {
            if !self.respond(&request, &wire)? || request.is_last() {
                break;
            }
        }
        wire.close()
    }

    /// Responds to a request; returns whether the connection stays open.
    fn respond(&self, request: &HttpRequest, wire: &HttpWire) -> io::Result<bool> {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/requests") => {
                let requests = Value::Array(lock(&self.requests).clone());
                return wire.write_json(200, &[], &requests).map(|_| true);
            }
            ("HEAD", _) => return wire.write_empty(200).map(|_| true),
            ("POST", "/v1/messages/count_tokens") => {
                return wire.write_json(200, &[], &json!({ "input_tokens": 100 })).map(|_| true);
            }
            _ => {}
        }
        match ModelApi::from_path(&request.path).filter(|_| request.method == "POST") {
            Some(api) => self.answer(api, request, wire),
            None => wire.write_json(404, &[], &error_body("not_found_error", "no such path")).map(|_| true),
        }
    }

    fn answer(&self, api: ModelApi, request: &HttpRequest, wire: &HttpWire) -> io::Result<bool> {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let mut problems = order_problems(api, &body);
        if !self.lenient {
            problems.extend(schema_problems(api, &body));
            problems.extend(header_problems(api, request));
        }
        let mut record = request.to_json();
        record["body"] = body.clone();
        record["problems"] = json!(problems);
        lock(&self.requests).push(record);
        if !problems.is_empty() && !self.lenient {
            let message = problems.join("; ");
            return wire.write_json(400, &[], &error_body("invalid_request_error", &message)).map(|_| true);
        }
        let turn = match self.lenient && body.get("tools").is_none_or(is_empty_list) {
            true => Ok(Turn::with_text("ok")),
            false => lock(&self.script).next_turn(&body),
        };
        match turn {
            Ok(turn) => answer::write_turn(api, &turn, &body, wire),
            Err(message) => {
                wire.write_json(400, &[], &error_body("invalid_request_error", &message)).map(|_| true)
            }
        }
    }
}

fn is_empty_list(value: &Value) -> bool {
    value.as_array().is_none_or(Vec::is_empty)
}

/// The problems of the headers: content type, version and key.
fn header_problems(api: ModelApi, request: &HttpRequest) -> Vec<String> {
    let key = match api {
        ModelApi::Anthropic if request.header("authorization").is_some() => "authorization",
        ModelApi::Anthropic => "x-api-key",
        ModelApi::OpenAiChat => "authorization",
        ModelApi::Gemini => "x-goog-api-key",
    };
    let version = (api == ModelApi::Anthropic).then_some("anthropic-version");
    let needed = [key, "content-type"].into_iter().chain(version);
    let missing = needed.filter(|name| request.header(name).is_none());
    missing.map(|name| format!("the header `{name}` is missing")).collect()
}

/// An error in a form that all three APIs have in common.
fn error_body(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}
