//! Names and entries of servers in one word.

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

// U2
#[test]
fn a_server_without_a_name_gets_that_of_its_program_package_or_host() {
    let cases = [
        ("npx -y @modelcontextprotocol/server-everything", "server-everything"),
        ("npx -y @modelcontextprotocol/server-filesystem@2.1 .", "server-filesystem"),
        ("uvx mcp-server-git --repository .", "mcp-server-git"),
        ("uv tool run mcp-server-time", "mcp-server-time"),
        ("docker run -i --rm mcp/fetch:latest", "fetch"),
        ("node ./build/index.js --fast", "index"),
        ("node /opt/server-notes/dist/index.js", "server-notes"),
        ("/opt/tools/my.server --fast", "my-server"),
        ("env A=1 ./run", "run"),
        ("..", "server"),
    ];
    for (line, expected) in cases {
        assert_eq!(InlineServer::from_command(&words(line)).unwrap().name(), expected, "{line}");
    }
    let urls = [
        ("https://www.example.com/mcp", Some("example-com")),
        ("http://user:secret@127.0.0.1:8080/sse", Some("127-0-0-1")),
        ("file:///etc/passwd", None),
        ("example.com", None),
    ];
    for (url, expected) in urls {
        let server = InlineServer::from_url(url);
        assert_eq!(server.as_ref().map(InlineServer::name), expected, "{url}");
    }
}

// C1
#[test]
fn a_server_is_a_name_with_a_command_a_url_or_json() {
    let cases = [
        ("fs=npx -y 'two words' .", r#"{"type":"stdio","command":"npx","args":["-y","two words","."]}"#),
        ("a=x --key=value", r#"{"type":"stdio","command":"x","args":["--key=value"]}"#),
        ("api=https://example.com/mcp?a=b", r#"{"type":"http","url":"https://example.com/mcp?a=b"}"#),
        ("old=http://localhost:1/sse", r#"{"type":"sse","url":"http://localhost:1/sse"}"#),
        (r#"json={"command":"x"}"#, r#"{"command":"x"}"#),
    ];
    for (text, expected) in cases {
        let server = InlineServer::parse(text).unwrap();
        assert_eq!(Value::Object(server.entry.clone()).to_string(), expected);
        assert_eq!(InlineServer::parse(&server.to_text()).unwrap(), server, "{text}");
    }
}

// C1
#[test]
fn a_text_that_is_no_server_is_refused_with_the_part_that_is_missing() {
    let name = || "fs".to_owned();
    let cases = [
        ("npx", InlineServerError::NameMissing),
        ("=npx", InlineServerError::NameMissing),
        ("fs= ", InlineServerError::TargetMissing { name: name() }),
        ("fs=x 'y", InlineServerError::OpenQuote { name: name() }),
        ("fs={", InlineServerError::NotJson { name: name() }),
    ];
    for (text, expected) in cases {
        assert_eq!(InlineServer::parse(text), Err(expected), "{text}");
    }
}
