//! Tables of the masked and unmasked parts of displayed entries.

use serde_json::{Value, json};

use super::SecretVisibility;
use crate::config::RawServer;
use crate::document::JsonDocument;
use crate::scope::Source;

fn read(entry: &Value) -> RawServer {
    let text = entry.to_string();
    let document = JsonDocument::parse(Source::from_label("test"), &text).unwrap();
    RawServer::from_node("s", document.root().unwrap()).unwrap()
}

fn show(entry: &Value) -> Value {
    serde_json::to_value(read(entry).to_displayed(None, SecretVisibility::Masked)).unwrap()
}

fn show_url(url: &str) -> String {
    show(&json!({ "url": url }))["url"].as_str().unwrap().to_owned()
}

const HEX: &str = "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c";

// C17 B63
#[test]
fn a_url_is_shown_with_the_host_that_is_contacted_and_without_its_secrets() {
    for (url, expected) in [
        // The parser that connects takes `\` for `/`, and needs no `//`.
        (r"https://evil\@good/", "https://evil/@good/"),
        (r"https://evil\u:pw@good/", "https://evil/***/"),
        (r"https:\\evil\@good/", "https://evil/@good/"),
        ("https:user:pw@host/mcp", "https://***:***@host/mcp"),
        ("HTTPS://User:pw@HOST:443/mcp", "https://***:***@host/mcp"),
        ("https://good@evil/", "https://***@evil/"),
        ("https://g%6Fod.example/", "https://good.example/"),
        ("https://p\u{430}ypal.example/", "https://xn--pypal-4ve.example/"),
        ("https://0x7f.1/", "https://127.0.0.1/"),
        // User names and passwords.
        ("https://user:pw@host/", "https://***:***@host/"),
        ("https://user@host/mcp", "https://***@host/mcp"),
        ("https://:pw@host/mcp", "https://:***@host/mcp"),
        ("https://user:p@ss@host/mcp", "https://***:***@host/mcp"),
        ("https://u:p w@host/mcp", "https://***:***@host/mcp"),
        // Tokens in the path.
        (&format!("https://mcp.example.com/s/{HEX}/mcp"), "https://mcp.example.com/s/***/mcp"),
        ("https://h/sk-0123456789abcdef/mcp", "https://h/***/mcp"),
        ("https://h/ghp_0123456789", "https://h/***"),
        ("https://h/9f8a7b6c5d4e3f2a/mcp", "https://h/***/mcp"),
        ("https://h/%73k-0123456789abcdef/mcp", "https://h/***/mcp"),
        ("https://h/api/a1b2c3d4e5f6g7h8i9j0/sse", "https://h/api/***/sse"),
        ("https://h/bot12345:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/x", "https://h/***/x"),
        ("https://h/token=abc/mcp", "https://h/***/mcp"),
        ("https://h/proxy/https://u:pw@other/", "https://h/proxy/https://***/"),
        // Queries and fragments.
        ("https://h/mcp?key=abc&x=${X}&y=", "https://h/mcp?key=***&x=${X}&y="),
        ("https://h?abc", "https://h/?***"),
        ("https://h/mcp#access_token=abc", "https://h/mcp#access_token=***"),
        ("https://h/#ghp_0123456789", "https://h/#***"),
        ("https://h/#hunter2", "https://h/#***"),
        // Not a URL: the password cannot be located.
        ("https://u:p/w@h/", "https://***"),
        ("https://a b/secret", "https://***"),
        ("https://", "https://***"),
        ("a b?pw", "***"),
        ("user:pw@host/mcp", "***:***@host/mcp"),
        ("host/mcp?token=abc", "host/mcp?token=***"),
        // Variables are displayed in their places.
        ("https://${USER}:pw@${HOST}/x", "https://${USER}:***@${HOST}/x"),
        ("https://h:${PORT}/mcp?k=abc", "https://h:${PORT}/mcp?k=***"),
        ("https://${USER}:${PW}@h:${PORT}/ghp_0123456789", "https://${USER}:${PW}@h:${PORT}/***"),
        (&format!("${{BASE}}/s/{HEX}/mcp?key=abc"), "${BASE}/s/***/mcp?key=***"),
        ("https://u:${PW:-literal}@h/", "https://***:${PW:-***}@h/"),
        ("https://u:${PW:-${X}}@h/", "https://***"),
        ("https://secret${PW:-${X}}@h/", "https://***"),
        ("https://h/mcp?x=${PW:-${X}}", "https://h/mcp?x=***"),
        ("https://h/sk-0123456789${X}/mcp", "https://h/***/mcp"),
        ("https://h:8${PORT}/u:pw", "https://***"),
        (r"https://${HOST}\@good/", "https://${HOST}/@good/"),
        ("https://%73tandin0x.${X}/", "https://standin0x.${X}/"),
        ("https://%73tandin1x.${X}/", "https://***"),
    ] {
        assert_eq!(show_url(url), expected, "{url}");
    }
}

// C17 B63
#[test]
fn a_url_without_secrets_is_shown_as_it_is_written() {
    for url in [
        "https://example.com",
        "https://example.com/",
        "https://mcp.example.com/v1/mcp",
        "http://localhost:3000/sse",
        "http://[::1]:8080/x",
        "ws://127.0.0.1:9/",
        "https://h/@scope/package@1.2.3",
        "https://h/api/2025-11-25/mcp",
        "https://h/feedface/20251125123456789/mcp",
        "https://h/mcp?read_only=true&empty=",
        "https://h/mcp?key=${KEY}",
        "https://h/docs#getting-started",
        "https://${HOST}/mcp",
        "https://api.${REGION}.example.com:${PORT}/mcp",
        "https://${USER}:${PASSWORD}@h/mcp",
        "https://${CREDENTIALS}@h/mcp",
        "https://h/${TENANT}/mcp",
        "https://h/t-${TENANT}/mcp",
        "${SCHEME}://${HOST}:${PORT}/mcp",
        "${URL}",
        "${URL:-***}",
        "${BASE}/mcp",
        "${HOST}:${PORT}",
        "localhost:3000/mcp",
    ] {
        assert_eq!(show_url(url), url);
    }
}

// C17 B63
#[test]
fn arguments_are_masked_by_name_and_by_value_except_modes() {
    for (args, expected) in [
        (json!(["--auth", "envvar"]), json!(["--auth", "envvar"])),
        (json!(["--authentication", "azcli"]), json!(["--authentication", "azcli"])),
        (json!(["--auth=none"]), json!(["--auth=none"])),
        (json!(["--token-mode", "keychain"]), json!(["--token-mode", "keychain"])),
        (json!(["--auth-type", "service-account"]), json!(["--auth-type", "service-account"])),
        (json!(["--token-store=file"]), json!(["--token-store=file"])),
        (json!(["AUTH_MODE=device-code"]), json!(["AUTH_MODE=device-code"])),
        (json!(["--auth-method", "Hunter2"]), json!(["--auth-method", "***"])),
        (json!(["--auth", "hunter"]), json!(["--auth", "***"])),
        (json!(["--token", "hunter"]), json!(["--token", "***"])),
        (json!(["--password", "none"]), json!(["--password", "***"])),
        (json!(["--client-secret=default"]), json!(["--client-secret=***"])),
        (json!(["--url=https://u:p@h/x"]), json!(["--url=https://***:***@h/x"])),
        (json!(["'https://u:p@h/x'"]), json!(["'https://***:***@h/x'"])),
        (
            json!([r#"{"a":"https://u:p@h/","b":"https://v:q@i/"}"#]),
            json!([r#"{"a":"https://***:***@h/","b":"https://***:***@i/"}"#]),
        ),
        (json!([r"https://evil\@good/x"]), json!(["https://evil/@good/x"])),
        (json!(["jdbc:postgresql://h/db?password=p"]), json!(["jdbc:postgresql://h/db?password=***"])),
        (json!(["git+https://u:p@h/r.git@v1"]), json!(["git+https://***:***@h/r.git@v1"])),
        (json!(["redis://:p@h:6379/0"]), json!(["redis://:***@h:6379/0"])),
        (json!(["postgres://${U}:${P}@h/db"]), json!(["postgres://${U}:${P}@h/db"])),
        (json!(["C:\\Users\\me", "npm:pkg@1.0.0"]), json!(["C:\\Users\\me", "npm:pkg@1.0.0"])),
        (json!(["file:///home/me/notes"]), json!(["file:///home/me/notes"])),
        (json!(["op://vault/item/field"]), json!(["op://vault/item/field"])),
        (json!(["see https://h:x/y@z"]), json!(["see https://***"])),
    ] {
        assert_eq!(show(&json!({"command": "x", "args": args}))["args"], expected, "{args}");
    }
}

// C17 B63
#[test]
fn a_header_helper_is_shown_as_program_flags_and_paths() {
    for (command, expected) in [
        ("company-token --json", "company-token --json"),
        ("/opt/bin/helper", "/opt/bin/helper"),
        ("python3 /opt/helpers/headers.py --json", "python3 /opt/helpers/headers.py --json"),
        ("helper -u $USER --profile ${PROFILE}", "helper -u $USER --profile ${PROFILE}"),
        ("helper \"$TOKEN\" ${X:-literal}", "helper \"$TOKEN\" ${X:-***}"),
        (r#"printf '{"X-Key": "hunter2"}'"#, "printf ***"),
        (r#"echo {"Authorization":"Bearer --hunter"}"#, "echo ***"),
        ("helper hunter2 correct horse", "helper ***"),
        ("helper -phunter2 --token=hunter2", "helper *** --token=***"),
        ("TOKEN=hunter2 helper --json", "TOKEN=*** helper --json"),
        ("sh -c 'curl -H \"K: hunter2\" https://h'", "sh -c ***"),
        ("echo dXNlcjpwdw==", "echo ***"),
        ("'/opt/my tool' hunter2", "'/opt/my tool' ***"),
        ("cat /run/ghp_0123456789/x", "cat ***"),
        ("echo \"half open --quoted", "echo ***"),
        ("helper --flag\\ hunter2", "helper ***"),
    ] {
        let shown = show(&json!({"url": "https://h/", "headersHelper": command}));
        assert_eq!(shown["headersHelper"], expected, "{command}");
    }
}

// C17
#[test]
fn an_entry_that_is_revealed_is_shown_as_written() {
    let entry = json!({"url": r"https://evil\@good/?k=v", "headersHelper": "printf hunter2"});
    let shown = serde_json::to_value(read(&entry).to_displayed(None, SecretVisibility::AsWritten)).unwrap();
    assert_eq!(shown, entry);
}

// B62 C17
#[test]
fn token_is_masked_wherever_it_is_a_word_of_its_own() {
    for (line, expected) in [
        ("invalid key \"ghp_0123456789\"", "invalid key \"***\""),
        ("key\tghp_0123456789\tx", "key\t***\tx"),
        ("(ghp_0123456789), next", "(***), next"),
        ("[sk-0123456789,sk-9876543210]", "[***,***]"),
        ("key:ghp_0123456789=x", "key:***=x"),
        ("id=1=ghp_0123456789", "id=1=***"),
        ("user@ghp_0123456789", "user@***"),
        ("'aB3dE5gH7jK9mN1pQ3sT'", "'***'"),
        ("ghp_0123456789 token: abc", "*** token: ***"),
        ("a\tghp_0123456789\ttoken=abc", "a\t***\ttoken=***"),
        ("ghp_0123456789://h/", "***://***"),
        ("https://h/?ghp_0123456789=1", "https://h/?***=1"),
        ("https://h/x#ghp_0123456789=v", "https://h/x#***=***"),
        ("\"ghp_0123456789\":https://h/", "\"***\":https://h/"),
        ("https://h/x?y\tghp_0123456789\t=1", "https://***"),
        ("a://u@\tghp_0123456789\tx", "a://***"),
        ("a://h(ghp_0123456789(x", "a://***"),
        ("aB3dE5gH7jK9mN1pQ3sT:https://h/", "***https://h/"),
        ("https://h/x?y%22ghp_0123456789%22=1", "https://h/x?***=1"),
    ] {
        assert_eq!(super::mask_secrets(line), expected, "{line:?}");
    }
}

// C17
#[test]
fn words_that_hold_no_token_are_shown_as_they_are() {
    for line in [
        "registry/app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "@scope/package@1.2.3",
        "disk-management-service, task-runner-number-1",
        "\"${AKIA_OF_THE_COMPANY}\" {a} <b> 'c'",
        "/home/somebody/project1 (/opt/tool)",
        "",
    ] {
        assert_eq!(super::mask_secrets(line), line);
    }
}

proptest::proptest! {
    // C17: for every text, the displayed host is the contacted host.
    #[test]
    fn a_masked_url_has_the_host_port_and_scheme_of_the_connection(
        text in r"(https|http|ws|HTTPS|postgres):[/\\]{0,3}[a-zA-Z0-9:@/\\?#.%\[\]&= \té_-]{0,40}",
    ) {
        let masked = super::mask_secrets(&text);
        let in_field = super::address::mask_url_field(&text);
        if let Ok(url) = url::Url::parse(&text) && url.has_host() {
            for shown in [in_field].into_iter().chain((!text.contains([' ', '\t'])).then_some(masked)) {
                let read = url::Url::parse(&shown);
                let same = read.is_ok_and(|read| {
                    (read.scheme(), read.host(), read.port()) == (url.scheme(), url.host(), url.port())
                });
                proptest::prop_assert!(same, "{text:?} is shown as {shown:?}");
            }
        }
    }
}
