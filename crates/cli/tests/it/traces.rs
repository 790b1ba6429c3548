//! Traces of `serve`: from the client through the gateway to the server, and to a collector.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcparley_testkit::{CollectedSpan, ScriptedStdio, TraceCollector};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::serve::Served;
use crate::talk::{entry, heard, world};
use crate::world::{World, wait_for};

const NEW: &str = "2026-07-28";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CLIENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const CLIENT_SPAN: &str = "b7ad6b7169203331";
/// More than any step takes on a machine that is busy.
const LONG: Duration = Duration::from_secs(30);

/// A gateway with one server, whose messages are logged.
pub(crate) struct TracedGateway {
    world: World,
    child: Child,
    address: String,
    log: PathBuf,
    /// Lines of standard error after the start.
    said: Arc<Mutex<Vec<String>>>,
    _folder: TempDir,
}

impl TracedGateway {
    pub(crate) fn start(variables: &[(&str, &str)], options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let server = ScriptedStdio::new(&[]).with_log(&log);
        let mut entry = entry(&server);
        entry["env"] = json!({ "TOKEN": "s3cret-env" });
        let mut world = world(&json!({ "one": entry }));
        variables.iter().for_each(|(name, value)| world.set(name, *value));
        let words = [&["serve", "--http", "127.0.0.1:0", "--allowed-tools", "mcp__one"], options].concat();
        let mut command = world.command(&words);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut early = Vec::new();
        let address = lines
            .by_ref()
            .find_map(|line| {
                early.push(line.clone());
                line.split("http://").nth(1)?.strip_suffix("/mcp").map(str::to_owned)
            })
            .unwrap();
        let said = Arc::new(Mutex::new(early));
        let saying = Arc::clone(&said);
        std::thread::spawn(move || lines.for_each(|line| saying.lock().unwrap().push(line)));
        Self { world, child, address, log, said, _folder: folder }
    }

    fn said(&self) -> String {
        self.said.lock().unwrap().join("\n")
    }

    /// Posts a request of the new era with more members of `_meta` and more headers; returns the answer.
    fn post(&self, method: &str, params: Value, meta: &Value, headers: &str) -> String {
        let mut params = params;
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {} });
        for (name, value) in meta.as_object().unwrap() {
            params["_meta"][name] = value.clone();
        }
        let name = params["name"].as_str().map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        self.send(
            &format!(
                "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nMCP-Protocol-Version: {NEW}\r\n\
             Mcp-Method: {method}\r\n{name}{headers}Content-Length: {}\r\n",
                body.len()
            ),
            &body,
        )
    }

    pub(crate) fn send(&self, head: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        write!(stream, "{head}Host: {}\r\nConnection: close\r\n\r\n{body}", self.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Calls the tool `echo`, and returns the `_meta` that the server got.
    pub(crate) fn echo(&self, name: &str, meta: &Value, headers: &str) -> Value {
        let before = heard(&self.log, "tools/call").len();
        let arguments = json!({ "name": name, "arguments": { "message": "s3cret-argument" } });
        let answer = self.post("tools/call", arguments, meta, headers);
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("s3cret-argument"), "{answer}");
        wait_for("the call at the server", LONG, || heard(&self.log, "tools/call").len() > before);
        heard(&self.log, "tools/call").remove(before)["params"]["_meta"].clone()
    }

    fn metric(&self, name: &str) -> u64 {
        let metrics = self.send("GET /metrics HTTP/1.1\r\n", "");
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap();
        line.parse().unwrap()
    }

    /// Ends the gateway by a signal; returns how long that took.
    fn stop(&mut self) -> Duration {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let signaled = Instant::now();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        signaled.elapsed()
    }
}

impl Drop for TracedGateway {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().unwrap();
    }
}

fn endpoint(collector: &TraceCollector) -> (&'static str, String) {
    ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url())
}

fn find(spans: &[CollectedSpan], what: impl Fn(&CollectedSpan) -> bool) -> &CollectedSpan {
    spans.iter().find(|span| what(span)).unwrap_or_else(|| panic!("{spans:#?}"))
}

// G6
#[test]
fn call_is_one_trace_from_the_client_through_the_gateway_to_the_server() {
    let collector = TraceCollector::start();
    let (name, url) = endpoint(&collector);
    let mut gateway =
        TracedGateway::start(&[(name, &url), ("OTEL_SERVICE_NAME", "tools of a team")], &["--no-token"]);
    let meta = json!({ "traceparent": CLIENT, "tracestate": "vendor=1", "baggage": "k=v", "own": 7 });
    let got = gateway.echo("one__echo", &meta, "");
    assert!(gateway.stop() < Duration::from_secs(5));
    let all = collector.spans();
    let spans: Vec<CollectedSpan> = all.into_iter().filter(|span| span.trace == TRACE).collect();
    let request = find(&spans, |span| span.kind == 2);
    let call = find(&spans, |span| span.name == "call");
    let upstream = find(&spans, |span| span.kind == 3 && span.parent == call.id);
    assert_eq!((request.parent.as_str(), call.parent.as_str()), (CLIENT_SPAN, request.id.as_str()));
    assert_eq!((request.name.as_str(), upstream.name.as_str()), ("tools/call one__echo", "tools/call"));
    assert_eq!(got["traceparent"], format!("00-{TRACE}-{}-01", upstream.id));
    // What belongs to others is passed on as it came.
    let others = [&got["tracestate"], &got["baggage"], &got["own"]];
    assert_eq!(others, [&json!("vendor=1"), &json!("k=v"), &json!(7)]);
    for span in [request, call, upstream] {
        assert_eq!((span.state.as_str(), span.service.as_str()), ("vendor=1", "tools of a team"));
        assert_eq!((span.attribute("mcparley.server"), span.attribute("mcparley.outcome")), ("one", "ok"));
        assert_eq!(span.status, 0, "{span:?}");
    }
    for (name, value) in [
        ("mcp.method.name", "tools/call"),
        ("mcparley.client.era", "new"),
        ("enduser.id", "open"),
        ("gen_ai.tool.name", "one__echo"),
    ] {
        assert_eq!(request.attribute(name), value, "{name}");
    }
}

// G6
#[test]
fn header_of_http_counts_if_the_request_itself_has_no_trace() {
    let collector = TraceCollector::start();
    let (name, url) = endpoint(&collector);
    let gateway = TracedGateway::start(&[(name, &url)], &["--no-token"]);
    let other = CLIENT.replace(TRACE, &"a".repeat(32));
    let headers = format!("traceparent: {other}\r\ntracestate: a=1\r\ntracestate: b=2\r\n");
    let from_header = gateway.echo("one__echo", &json!({}), &headers);
    let from_meta = gateway.echo("one__echo", &json!({ "traceparent": CLIENT }), &headers);
    let from_none = gateway.echo("one__echo", &json!({ "traceparent": "00-x", "tracestate": "v=1" }), "");
    let trace = |meta: &Value| meta["traceparent"].as_str().unwrap()[3..35].to_owned();
    assert_eq!((trace(&from_header), trace(&from_meta)), ("a".repeat(32), TRACE.to_owned()));
    assert_eq!((&from_header["tracestate"], &from_meta["tracestate"]), (&json!("a=1,b=2"), &Value::Null));
    // A wrong one is replaced, and what depends on it left out.
    assert!(![TRACE, &"a".repeat(32)].contains(&&*trace(&from_none)), "{from_none}");
    assert_eq!(from_none["tracestate"], Value::Null);
}

// G6
#[test]
fn connecting_has_spans_and_a_failed_request_has_the_code_of_its_error() {
    let collector = TraceCollector::start();
    let (name, url) = endpoint(&collector);
    let gateway = TracedGateway::start(&[(name, &url)], &["--no-token"]);
    gateway.echo("one__echo", &json!({}), "");
    let connect = collector.wait_for_span("connect");
    let parent = collector.wait_for_span("start_server");
    assert_eq!((connect.parent, connect.trace, connect.kind), (parent.id, parent.trace, 3));
    assert_eq!(connect.attributes["mcparley.outcome"], "connected");
    let refused =
        gateway.post("tools/call", json!({ "name": "one__fail-none", "arguments": {} }), &json!({}), "");
    assert!(refused.contains("error"), "{refused}");
    let failed = collector.wait_for_span("tools/call unknown");
    assert_eq!((failed.status, failed.attribute("mcparley.outcome")), (2, "error"));
    assert_eq!(failed.attribute("rpc.response.status_code"), "-32602");
}

// G6 G7
#[test]
fn bytes_of_the_client_stay_as_they_are_in_transparent_mode_and_without_a_collector() {
    let collector = TraceCollector::start();
    let (name, url) = endpoint(&collector);
    let meta = json!({ "traceparent": CLIENT, "tracestate": "vendor=1" });
    for (variables, options, tool) in [
        (&[(name, url.as_str())][..], &["--no-token", "--one", "one"][..], "echo"),
        (&[], &["--no-token"], "one__echo"),
        (&[(name, url.as_str()), ("OTEL_SDK_DISABLED", "true")], &["--no-token"], "one__echo"),
    ] {
        let before = collector.request_count();
        let mut gateway = TracedGateway::start(variables, options);
        let got = gateway.echo(tool, &meta, "");
        assert_eq!(
            (&got["traceparent"], &got["tracestate"]),
            (&json!(CLIENT), &json!("vendor=1")),
            "{options:?}"
        );
        gateway.stop();
        // The gateway itself is part of the trace also where the server does not learn of it.
        let is_traced = collector.request_count() > before;
        assert_eq!(is_traced, options.contains(&"--one"), "{options:?}");
    }
    let request = collector.wait_for_span("tools/call echo");
    assert_eq!((request.trace.as_str(), request.parent.as_str()), (TRACE, CLIENT_SPAN));
}

// G6
#[test]
fn trace_that_is_not_sampled_is_passed_on_and_not_exported() {
    let collector = TraceCollector::start();
    let (name, url) = endpoint(&collector);
    let mut gateway =
        TracedGateway::start(&[(name, &url), ("OTEL_TRACES_SAMPLER", "always_off")], &["--no-token"]);
    let got = gateway.echo("one__echo", &json!({ "traceparent": CLIENT }), "");
    let sent = got["traceparent"].as_str().unwrap();
    assert!(
        sent.starts_with(&CLIENT[..36]) && sent.ends_with("-00") && !sent.contains(CLIENT_SPAN),
        "{sent}"
    );
    gateway.stop();
    assert_eq!(collector.request_count(), 0);
    // A client that does not sample decides for everything behind it.
    let mut gateway = TracedGateway::start(&[(name, &url)], &["--no-token"]);
    gateway.echo("one__echo", &json!({ "traceparent": CLIENT.replace("-01", "-00") }), "");
    gateway.stop();
    assert!(collector.spans().iter().all(|span| span.trace != TRACE), "{:#?}", collector.spans());
}

// G6 N7 B62
#[test]
fn no_secret_argument_or_result_reaches_the_collector() {
    let collector = TraceCollector::start();
    let (name, url) = endpoint(&collector);
    let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20s3cret-collector");
    let tokens = tempfile::tempdir().unwrap();
    let file = tokens.path().join("tokens");
    std::fs::write(&file, "ada:s3cret-token\n").unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut gateway =
        TracedGateway::start(&[(name, &url), headers], &["--token-file", file.to_str().unwrap()]);
    let token = "Authorization: Bearer s3cret-token\r\n";
    gateway.echo("one__echo", &json!({ "traceparent": CLIENT, "own": "s3cret-meta" }), token);
    let calls = [
        ("tools/call", json!({ "name": "s3cret-tool", "arguments": {} })),
        ("s3cret/method", json!({})),
        ("resources/read", json!({ "uri": "file:///s3cret-uri" })),
        ("prompts/get", json!({ "name": "s3cret-prompt" })),
        ("tools/call", json!({ "name": "one__add", "arguments": { "a": "s3cret-wrong" } })),
    ];
    for (method, params) in calls {
        gateway.post(method, params, &json!({}), &format!("{token}Mcp-Name: s3cret\r\n"));
        gateway.post(method, json!({ "name": "s3cret" }), &json!({}), token);
    }
    gateway.stop();
    let request = collector.wait_for_span("tools/call one__echo");
    assert_eq!(request.attribute("enduser.id"), "token:ada");
    assert!(collector.spans().iter().any(|span| span.name == "other"), "{:#?}", collector.spans());
    assert!(!collector.bodies().contains("s3cret"), "{}", collector.bodies());
    assert!(collector.heads().contains("Bearer s3cret-collector"), "{}", collector.heads());
    assert!(!gateway.said().contains("s3cret"), "{}", gateway.said());
}

// G6
#[test]
fn collector_that_is_away_costs_one_warning_and_no_call_and_no_end() {
    // A port that nothing listens on.
    let away = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut gateway = TracedGateway::start(
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://u:s3cret@{away}"))],
        &["--no-token"],
    );
    gateway.echo("one__echo", &json!({}), "");
    wait_for("the warning", LONG, || gateway.said().contains("traces are not exported"));
    for _ in 0..20 {
        gateway.echo("one__echo", &json!({}), "");
    }
    // Two seconds for the spans that are left, besides the usual end.
    let took = gateway.stop();
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(gateway.said().matches("traces are not exported").count(), 1, "{}", gateway.said());
    assert!(!gateway.said().contains("s3cret"), "{}", gateway.said());
}

// G6
#[test]
fn collector_that_does_not_answer_or_refuses_costs_spans_which_are_counted() {
    let collector = TraceCollector::start();
    let (name, url) = endpoint(&collector);
    collector.set_status(400);
    let mut gateway = TracedGateway::start(&[(name, &url)], &["--no-token"]);
    gateway.echo("one__echo", &json!({}), "");
    wait_for("dropped spans", LONG, || gateway.metric("mcparley_trace_spans_dropped_total") > 0);
    assert_eq!(gateway.metric("mcparley_trace_spans_exported_total"), 0);
    // It is back: nothing has to be restarted.
    collector.set_status(200);
    gateway.echo("one__echo", &json!({}), "");
    wait_for("exported spans", LONG, || gateway.metric("mcparley_trace_spans_exported_total") > 0);
    collector.set_status(0);
    let (before, begun) = (collector.request_count(), Instant::now());
    gateway.echo("one__echo", &json!({}), "");
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    wait_for("a request that gets no answer", LONG, || collector.request_count() > before);
    let took = gateway.stop();
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(gateway.said().matches("traces are not exported").count(), 1, "{}", gateway.said());
    // The world is as it was: nothing of it is written to a file.
    assert!(!gateway.world.files().iter().any(|file| file.contains("trace")), "{:?}", gateway.world.files());
}

// G6
#[test]
fn gateway_of_standard_streams_exports_its_traces_before_it_ends() {
    let collector = TraceCollector::start();
    let mut world = world(&json!({ "one": entry(&ScriptedStdio::new(&[])) }));
    world.set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", format!("{}/v1/traces", collector.url()));
    let mut served = Served::start(&world, &["--allowed-tools", "mcp__one"]);
    let params =
        json!({ "name": "one__echo", "arguments": { "message": "m" }, "_meta": { "traceparent": CLIENT } });
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params });
    let mut answer = served.ask(&call.to_string());
    while answer["id"] != 5 {
        answer = served.next_message();
    }
    let Served { mut child, input, .. } = served;
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let spans = collector.spans();
    let request = find(&spans, |span| span.name == "tools/call one__echo");
    assert_eq!((request.trace.as_str(), request.parent.as_str()), (TRACE, CLIENT_SPAN));
    assert_eq!(request.attribute("mcparley.client.era"), "old");
}
