//! Tests from an entry's text to a typed configuration and its display.

use serde_json::json;

use super::*;
use crate::document::JsonDocument;
use crate::expand::Env;
use crate::explain::Explain;
use crate::scope::{ConfigOrigin, Source};

fn env() -> Env {
    [("TOKEN", "s3cret-value"), ("HOST", "example.com")]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn origin() -> ConfigOrigin {
    ConfigOrigin::for_source(Source::from_label("test"))
}

fn raw(text: &str) -> Result<RawServer, ConfigError> {
    let document = JsonDocument::parse(Source::from_label("test"), text).unwrap();
    RawServer::from_node("s", document.root().unwrap())
}

fn config(text: &str) -> Result<ServerConfig, ConfigError> {
    raw(text)?.to_config(&env(), &origin())
}

// C10
#[test]
fn each_of_the_eight_types_is_read() {
    for (text, kind) in [
        (r#"{"command": "x"}"#, TransportKind::Stdio),
        (r#"{"type": "stdio", "command": "x"}"#, TransportKind::Stdio),
        (r#"{"type": "sse", "url": "https://h/sse"}"#, TransportKind::Sse),
        (r#"{"type": "http", "url": "https://h/mcp"}"#, TransportKind::Http),
        (r#"{"type": "streamable-http", "url": "https://h/mcp"}"#, TransportKind::Http),
        (r#"{"url": "https://h/mcp"}"#, TransportKind::Http),
        (r#"{"url": "wss://h/mcp"}"#, TransportKind::Ws),
        (r#"{"type": "ws", "url": "ws://h/mcp"}"#, TransportKind::Ws),
        (r#"{"type": "sdk", "name": "mine"}"#, TransportKind::Sdk),
        (r#"{"type": "sse-ide", "url": "http://127.0.0.1:1/sse", "ideName": "Ed"}"#, TransportKind::SseIde),
        (
            r#"{"type": "ws-ide", "url": "ws://127.0.0.1:1", "ideName": "Ed", "authToken": "t"}"#,
            TransportKind::WsIde,
        ),
        (r#"{"type": "claudeai-proxy", "url": "https://h/p", "id": "srv"}"#, TransportKind::ClaudeAiProxy),
    ] {
        assert_eq!(config(text).map(|config| config.kind()), Ok(kind), "{text}");
    }
}

// C6 C10
#[test]
fn every_string_of_an_entry_expands() {
    let stdio = config(
        r#"{"command": "${HOST}", "args": ["${HOST}"], "env": {"K": "${TOKEN}"}, "cwd": "/${HOST}",
            "timeout": 5, "idleTimeout": 7, "alwaysLoad": true, "required": true, "era": "old",
            "enabledTools": ["a*"], "disabledTools": ["b"], "inheritEnv": true, "share": "project"}"#,
    );
    let expected = ServerConfig {
        transport: TransportConfig::Stdio(StdioConfig {
            command: "example.com".into(),
            args: vec![Secret::new("example.com".into())],
            env: vec![("K".into(), Secret::new("s3cret-value".into()))],
            cwd: Some("/example.com".into()),
            inherit_env: true,
        }),
        timeout: Some(Duration::from_millis(5)),
        idle_timeout: Some(Duration::from_millis(7)),
        always_load: true,
        required: true,
        era: Era::Old,
        enabled_tools: vec!["a*".into()],
        disabled_tools: vec!["b".into()],
        roots: RootsPolicy::Offered,
        share: SharePolicy::Project,
        credentials: CredentialPolicy::Auto,
    };
    assert_eq!(stdio, Ok(expected));

    let http = config(
        r#"{"type": "http", "url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"},
            "headersHelper": "help ${HOST}", "oauth": {"clientId": "${HOST}", "callbackPort": 8080,
            "authServerMetadataUrl": "https://${HOST}/meta", "scopes": "a b", "xaa": true, "resource": false}}"#,
    );
    let Ok(ServerConfig { transport: TransportConfig::Http(remote), .. }) = http else { panic!("{http:?}") };
    let expected = RemoteConfig {
        url: Secret::new(Url::parse("https://example.com/mcp").unwrap()),
        headers: vec![("Authorization".into(), Secret::new("Bearer s3cret-value".into()))],
        headers_helper: Some(Secret::new("help example.com".into())),
        oauth: Some(OauthConfig {
            client_id: Some("example.com".into()),
            callback_port: Some(8080),
            auth_server_metadata_url: Some(Url::parse("https://example.com/meta").unwrap()),
            scopes: vec!["a".into(), "b".into()],
            xaa: true,
            omit_resource: true,
            ..OauthConfig::default()
        }),
    };
    assert_eq!(remote, expected);
}

// B53 C10
#[test]
fn config_error_names_the_field_and_its_location() {
    for (text, message) in [
        (r#"{"type": "bogus", "command": "x"}"#, "`mcpServers.s.type` cannot be `bogus`"),
        (r#"{"type": "HTTP", "url": "https://h"}"#, "`mcpServers.s.type` cannot be `HTTP`"),
        (r#"{}"#, "neither `command` nor `url` is given"),
        (r#"{"type": "http"}"#, "a `http` server needs `url`"),
        (r#"{"type": "stdio", "command": " "}"#, "`command` is empty"),
        (r#"{"command": "x", "url": "https://h"}"#, "`command` and `url` are both given"),
        (r#"{"command": "x", "args": ["a", 1]}"#, "`mcpServers.s.args[1]` is a number, not a string"),
        (r#"{"command": "x", "args": "a"}"#, "`mcpServers.s.args` is a string, not an array of strings"),
        (r#"{"command": "x", "env": {"A": 1}}"#, "`mcpServers.s.env.A` is a number, not a string"),
        (r#"{"command": "x", "env": {"A=B": "1"}}"#, "`env.A=B` is not a usable name"),
        (
            r#"{"command": "x", "timeout": -1}"#,
            "`mcpServers.s.timeout` is `-1`, not a whole number of milliseconds, 0 or more",
        ),
        (
            r#"{"command": "x", "timeout": 1.5}"#,
            "`mcpServers.s.timeout` is `1.5`, not a whole number of milliseconds, 0 or more",
        ),
        (
            r#"{"command": "x", "alwaysLoad": "yes"}"#,
            "`mcpServers.s.alwaysLoad` is a string, not true or false",
        ),
        (r#"{"command": "x", "era": "2026"}"#, "`mcpServers.s.era` cannot be `2026`"),
        (
            r#"{"type": "http", "url": "https://h", "oauth": {"callbackPort": 70000}}"#,
            "`mcpServers.s.oauth.callbackPort` is `70000`, not a port from 1 to 65535",
        ),
        (r#"{"type": "http", "url": "not a url"}"#, "`url` is not a URL: relative URL without a base"),
        (r#"{"type": "http", "url": "ftp://h/x"}"#, "`url` must begin with https:// or http://"),
        (r#"{"type": "ws", "url": "https://h/x"}"#, "`url` must begin with wss:// or ws://"),
        (
            r#"{"type": "http", "url": "https://h", "headers": {"A b": "1"}}"#,
            "`headers.A b` is not a usable name",
        ),
        (
            r#"{"type": "http", "url": "https://h", "headers": {"A": "1\r\nX: 2"}}"#,
            "`headers.A` contains NUL or a line break",
        ),
        (r#"{"command": "a\u0000b"}"#, "`command` contains NUL or a line break"),
        (r#"{"command": "${MISSING}"}"#, "environment variable `MISSING` is not set"),
        (r#"[]"#, "`mcpServers.s` is an array, not an object"),
        (r#"null"#, "`mcpServers.s` is null, not an object"),
    ] {
        assert_eq!(config(text).map_err(|error| error.to_string()), Err(message.to_owned()), "{text}");
    }
    let error = config("{\n  \"command\": \"x\",\n  \"args\": [7]\n}").unwrap_err();
    assert_eq!(error.origin().to_string(), "test:3:12");
    let error = config(r#"{"type": "bogus"}"#).unwrap_err();
    assert!(error.hint().unwrap().contains("stdio, sse, http"));
}

// C10
#[test]
fn unknown_and_unused_fields_are_hints() {
    let server = raw("{\"command\": \"x\",\n\"colour\": 1, \"headers\": {\"A\": \"b\"}}").unwrap();
    let hints: Vec<String> = server
        .hints_for_kind(TransportKind::Stdio)
        .into_iter()
        .map(|hint| format!("{}: {}", hint.origin, hint.text))
        .collect();
    assert_eq!(
        hints,
        [
            "test:2:1: `mcpServers.s.colour` is not a known field; it is kept but has no effect",
            "test:2:31: `headers` has no effect for a `stdio` server",
        ]
    );
}

// H26 C10
#[test]
fn reserved_header_is_not_sent_and_reported() {
    let text = r#"{"type": "http", "url": "https://h", "headers": {"Mcp-Session-Id": "x", "A": "b"}}"#;
    let Ok(ServerConfig { transport: TransportConfig::Http(remote), .. }) = config(text) else { panic!() };
    assert_eq!(remote.headers, [("A".to_owned(), Secret::new("b".to_owned()))]);
    assert!(raw(text).unwrap().hints_for_kind(TransportKind::Http)[0].text.contains("`Mcp-Session-Id`"));
}

// C10: the parser reads the fields of the table that generates the schema and the docs.
#[test]
fn every_field_of_the_table_is_read_and_none_is_missing() {
    let sample = |shape| match shape {
        field::EntryFieldShape::Text => json!("x"),
        field::EntryFieldShape::TextList
        | field::EntryFieldShape::Globs
        | field::EntryFieldShape::Words
        | field::EntryFieldShape::Roots => {
            json!(["x"])
        }
        field::EntryFieldShape::TextMap => json!({"x": "y"}),
        field::EntryFieldShape::Milliseconds | field::EntryFieldShape::Port => json!(1),
        field::EntryFieldShape::Flag => json!(true),
        field::EntryFieldShape::Choice(words) => json!(words[1]),
        field::EntryFieldShape::Oauth => json!({"clientId": "x"}),
    };
    for field in field::FIELDS {
        let server = raw(&json!({field.name: sample(field.shape)}).to_string()).unwrap();
        assert_ne!(server, RawServer::default(), "{} is read", field.name);
        assert_eq!(server.hints, [], "{} is known", field.name);
    }
    for field in field::OAUTH {
        let oauth = json!({field.name: sample(field.shape)});
        let server = raw(&json!({"oauth": oauth}).to_string()).unwrap();
        assert_ne!(server.oauth, Some(RawOauth::default()), "oauth.{} is read", field.name);
    }
}

fn shown(text: &str) -> String {
    let server = raw(text).unwrap();
    serde_json::to_string(
        &server.to_displayed(server.effective_kind(&origin()).ok(), SecretVisibility::Masked),
    )
    .unwrap()
}

// B62 B63
#[test]
fn displayed_entry_masks_secrets_and_lists_variables() {
    let shown = shown(
        r#"{"type": "http", "url": "https://u:pw-canary@h/v1/AbCdEf0123456789canary/mcp?key=q-canary&x=${X}",
            "headers": {"Authorization": "Bearer ${TOKEN}", "X-Any": "h-canary"},
            "env": {"SOME": "e-canary"}, "headersHelper": "help --token t-canary"}"#,
    );
    assert!(!shown.contains("canary"), "{shown}");
    assert!(shown.contains(r#""Authorization":"Bearer ***""#), "{shown}");
    assert!(shown.contains(r#""variables":["X","TOKEN"]"#), "{shown}");
}

// B63
#[test]
fn secrets_in_arguments_are_masked_and_the_rest_stays_readable() {
    for (args, expected) in [
        (
            json!(["-y", "@modelcontextprotocol/server-filesystem", "."]),
            json!(["-y", "@modelcontextprotocol/server-filesystem", "."]),
        ),
        (
            json!(["mcp-server-git@2025.1.14", "--repository", "/a/b"]),
            json!(["mcp-server-git@2025.1.14", "--repository", "/a/b"]),
        ),
        (json!(["--api-key", "abc"]), json!(["--api-key", "***"])),
        (json!(["--api-key=abc"]), json!(["--api-key=***"])),
        (json!(["--api-key", "${KEY}"]), json!(["--api-key", "${KEY}"])),
        (json!(["--api-key", "--verbose"]), json!(["--api-key", "--verbose"])),
        (json!(["--header", "Authorization: Bearer abc"]), json!(["--header", "Authorization: Bearer ***"])),
        (json!(["PASSWORD=abc"]), json!(["PASSWORD=***"])),
        (json!(["ghp_0123456789"]), json!(["***"])),
        (json!(["postgres://u:p@h/db"]), json!(["postgres://***:***@h/db"])),
        (json!(["https://h/x?a=b#c"]), json!(["https://h/x?a=***#c"])),
        (json!(["https://u:p/w@h/", "http://[::1]:80/"]), json!(["https://***", "http://[::1]/"])),
        (json!(["http://[::1]/", "http://h:${PORT}/"]), json!(["http://[::1]/", "http://h:${PORT}/"])),
        (json!(["https://h/x?abc&${X}"]), json!(["https://h/x?***&${X}"])),
        (json!(["${TOKEN:-literal}"]), json!(["${TOKEN:-***}"])),
        (json!(["${DOLLAR:-$}{TOKEN:-literal}"]), json!(["${DOLLAR:-***}{TOKEN:-***}"])),
        (json!(["a-${A:-${B:-literal}}"]), json!(["a-***"])),
        (json!(["${A:-literal"]), json!(["***"])),
        (json!(["--header", "Authorization:Bearer abc"]), json!(["--header", "Authorization:Bearer ***"])),
        (json!(["--header", "X-Api-Key:abc"]), json!(["--header", "X-Api-Key:***"])),
        (json!(["--header", "Authorization:${AUTH}"]), json!(["--header", "Authorization:${AUTH}"])),
        (json!(["0123456789abcdef0123456789abcdef"]), json!(["***"])),
    ] {
        let value: serde_json::Value =
            serde_json::from_str(&shown(&json!({"command": "x", "args": args}).to_string())).unwrap();
        assert_eq!(value["args"], expected);
    }
}

// B62
#[test]
fn a_typed_configuration_does_not_print_its_secrets() {
    let config = config(
        r#"{"type": "http", "url": "https://h/?k=${TOKEN}", "headers": {"A": "${TOKEN}"}, "headersHelper": "${TOKEN}"}"#,
    );
    assert!(!format!("{config:?}").contains("s3cret"));
}

// C4
#[test]
fn literal_secrets_are_found_by_name_and_by_value() {
    let cases: [(&str, &[&str]); 17] = [
        (r#"{"command": "x", "env": {"API_KEY": "abc", "MODE": "fast"}}"#, &["env.API_KEY"]),
        (r#"{"command": "x", "env": {"API_KEY": "${API_KEY}", "B": "${B:-}"}}"#, &[]),
        (r#"{"command": "x", "env": {"API_KEY": "${API_KEY:-abc}"}}"#, &["env.API_KEY"]),
        (r#"{"command": "x", "env": {"ANY": "ghp_0123456789"}}"#, &["env.ANY"]),
        (r#"{"command": "x", "args": ["--token", "abc"]}"#, &["args"]),
        (r#"{"command": "x", "args": ["--token", "${T}", "-y", "pkg@1.2.3"]}"#, &[]),
        (r#"{"command": "x", "args": ["--token", "${T:-abc}"]}"#, &["args"]),
        (r#"{"url": "https://h/mcp?mode=fast"}"#, &[]),
        (r#"{"url": "https://h/mcp?api_key=abc"}"#, &["url"]),
        (r#"{"url": "https://u:p@h/mcp"}"#, &["url"]),
        (r#"{"url": "HTTPS://H", "command": "x", "args": ["HTTPS://H", "--auth", "envvar"]}"#, &[]),
        (r#"{"command": "x", "env": {"AUTH_MODE": "envvar"}}"#, &[]),
        (r#"{"url": "https://h/s/ghp_0123456789/mcp"}"#, &["url"]),
        (r#"{"url": "https://${U}:${P}@h:${PORT}/mcp?token=${T}"}"#, &[]),
        (
            r#"{"url": "https://h/mcp", "headers": {"Authorization": "Bearer abc"}}"#,
            &["headers.Authorization"],
        ),
        (r#"{"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${T}", "X-Mode": "a"}}"#, &[]),
        (
            r#"{"url": "https://h/mcp", "oauth": {"clientId": "c", "clientSecret": "s"}}"#,
            &["oauth.clientSecret"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(raw(text).unwrap().literal_secrets(), expected, "{text}");
    }
}

// X6 C10
#[test]
fn roots_are_false_or_folders_that_expand() {
    let roots = |value: &str| config(&format!(r#"{{"command": "x", "roots": {value}}}"#)).map(|it| it.roots);
    assert_eq!(config(r#"{"command": "x"}"#).map(|it| it.roots), Ok(RootsPolicy::Offered));
    assert_eq!(roots("false"), Ok(RootsPolicy::Withheld));
    assert_eq!(roots("[]"), Ok(RootsPolicy::Folders(vec![])));
    let folders = vec!["/srv/example.com".to_owned(), "src".to_owned()];
    assert_eq!(roots(r#"["/srv/${HOST}", "src"]"#), Ok(RootsPolicy::Folders(folders)));
    for wrong in ["true", "7", r#""/srv""#, "{}"] {
        let message = roots(wrong).unwrap_err().to_string();
        assert!(message.contains("`false` or an array of folders"), "{wrong}: {message}");
    }
}

// G8 C10
#[test]
fn share_is_one_of_four_words_and_concerns_local_servers_only() {
    let share = |value: &str| config(&format!(r#"{{"command": "x", "share": {value}}}"#)).map(|it| it.share);
    assert_eq!(config(r#"{"command": "x"}"#).map(|it| it.share), Ok(SharePolicy::Auto));
    for policy in SharePolicy::ALL {
        assert_eq!(share(&format!("{:?}", policy.as_str())), Ok(policy));
    }
    for wrong in [r#""Always""#, r#""all""#, r#""""#] {
        let error = share(wrong).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`mcpServers.s.share` cannot be `{}`", wrong.trim_matches('"'))
        );
        assert_eq!(error.origin().to_string(), "test:1:27");
        assert_eq!(error.hint().as_deref(), Some("use one of auto, always, project, never"));
    }
    assert_eq!(
        share("true").unwrap_err().to_string(),
        "`mcpServers.s.share` is a boolean, not a string",
        "a flag is no word"
    );
    let remote = raw("{\"url\": \"https://h/mcp\",\n\"share\": \"never\"}").unwrap();
    let hints = remote.hints_for_kind(TransportKind::Http);
    let hints: Vec<String> = hints.iter().map(|hint| format!("{}: {}", hint.origin, hint.text)).collect();
    assert_eq!(hints, ["test:2:10: `share` has no effect for a `http` server"]);
}

// G8 C10
#[test]
fn share_is_displayed_unless_it_is_the_default() {
    let displayed = |share: &str| shown(&format!(r#"{{"command": "x", "share": "{share}"}}"#));
    assert_eq!(displayed("never"), r#"{"type":"stdio","command":"x","share":"never"}"#);
    assert_eq!(displayed("auto"), r#"{"type":"stdio","command":"x"}"#);
}
