//! Tests of the parsing of typed lines.

use super::{ConsoleInput, InputError, ServersCommand, TypedCall, TypedTool, parse_line};
use crate::repl::known_names::{KnownNames, KnownPrompt, KnownTool};
use mcparley::model::explain::Explain;

fn known() -> KnownNames {
    let tool = |server: &str, name: &str| KnownTool {
        server: Some(server.to_owned()),
        name: name.to_owned(),
        public: format!("mcp__{}__{}", server.replace('.', "_"), name.replace('.', "_")),
        ..KnownTool::default()
    };
    KnownNames {
        servers: ["everything", "git", "my.files", "all-new"].map(str::to_owned).to_vec(),
        tools: vec![
            tool("everything", "get-sum"),
            tool("everything", "echo"),
            tool("git", "log"),
            tool("my.files", "read.text"),
            KnownTool {
                name: "ReadMcpResource".into(),
                public: "ReadMcpResource".into(),
                ..KnownTool::default()
            },
        ],
        prompts: vec![KnownPrompt { command: "mcp__git__review".into(), ..KnownPrompt::default() }],
        ..KnownNames::default()
    }
}

fn with_model() -> KnownNames {
    KnownNames { has_model: true, ..known() }
}

fn call(server: &str, tool: &str, words: &[&str]) -> ConsoleInput {
    ConsoleInput::Call(TypedCall {
        tool: TypedTool::OnServer { server: server.into(), tool: tool.into() },
        words: words.iter().map(|&word| word.to_owned()).collect(),
    })
}

fn program(words: &[&str]) -> ConsoleInput {
    ConsoleInput::Program(words.iter().map(|&word| word.to_owned()).collect())
}

// U4
#[test]
fn slash_commands_are_parsed_with_their_words() {
    use ServersCommand::{Add, Disable, Enable, LogIn, LogOut, OpenScreen, Reconnect};
    let rows = [
        ("  ", ConsoleInput::Empty),
        ("/mcp", ConsoleInput::Servers(OpenScreen)),
        ("/mcp enable git", ConsoleInput::Servers(Enable("git".into()))),
        ("/mcp disable", ConsoleInput::Servers(Disable("all".into()))),
        ("/mcp disable all", ConsoleInput::Servers(Disable("all".into()))),
        ("/mcp reconnect git", ConsoleInput::Servers(Reconnect("git".into()))),
        ("/mcp login git", ConsoleInput::Servers(LogIn("git".into()))),
        ("/mcp logout git", ConsoleInput::Servers(LogOut("git".into()))),
        ("/mcp add x https://x", ConsoleInput::Servers(Add(vec!["x".into(), "https://x".into()]))),
        ("/tools git 'a b'", program(&["tools", "git", "a b"])),
        ("/permissions", program(&["permissions", "list"])),
        ("/permissions test x", program(&["permissions", "test", "x"])),
        ("/hooks", program(&["hooks", "list"])),
        ("/calls", ConsoleInput::Calls),
        ("/last", ConsoleInput::LastResult),
        ("/model", ConsoleInput::Model(None)),
        ("/model openai:gpt", ConsoleInput::Model(Some("openai:gpt".to_owned()))),
        ("/clear", ConsoleInput::Clear),
        ("/help", ConsoleInput::Help),
        ("/quit", ConsoleInput::Quit),
        ("/exit", ConsoleInput::Quit),
    ];
    for (line, expected) in rows {
        assert_eq!(parse_line(line, &known()), Ok(expected), "{line}");
    }
}

// U4 X3
#[test]
fn prompts_are_slash_commands_even_before_their_server_has_connected() {
    for line in ["/mcp__git__review main", "/mcp__late__prompt 'a b'"] {
        assert_eq!(parse_line(line, &known()), Ok(ConsoleInput::Prompt(line.into())));
    }
}

// U4
#[test]
fn tool_calls_are_typed_with_a_dot_a_space_or_the_public_name() {
    let public = |name: &str, words: &[&str]| {
        ConsoleInput::Call(TypedCall {
            tool: TypedTool::Public(name.into()),
            words: words.iter().map(|&word| word.to_owned()).collect(),
        })
    };
    let rows = [
        ("everything.get-sum a=40 b=2", call("everything", "get-sum", &["a=40", "b=2"])),
        ("everything get-sum {\"a\": 1}", call("everything", "get-sum", &["{\"a\": 1}"])),
        ("everything.new-tool", call("everything", "new-tool", &[])),
        ("my.files.read.text path='a b'", call("my.files", "read.text", &["path=a b"])),
        ("mcp__git__log n=1", public("mcp__git__log", &["n=1"])),
        ("ReadMcpResource uri=x", public("ReadMcpResource", &["uri=x"])),
    ];
    for known in [known(), with_model()] {
        for (line, expected) in &rows {
            assert_eq!(parse_line(line, &known).as_ref(), Ok(expected), "{line}");
        }
    }
}

// U4
#[test]
fn text_that_begins_with_a_servers_name_goes_to_the_model() {
    let known = with_model();
    for line in [
        "git history looks odd, why?",
        "what's new?",
        "e.g. this",
        "compare @git:repo://HEAD with a=b",
        "/etc/hosts is a file, read it",
    ] {
        assert_eq!(parse_line(line, &known), Ok(ConsoleInput::Text(line.into())), "{line}");
    }
    assert_eq!(parse_line("git log", &known), Ok(call("git", "log", &[])));
    assert_eq!(parse_line("git shortlog n=1", &known), Ok(call("git", "shortlog", &["n=1"])));
}

// U4 X1
#[test]
fn a_mention_alone_is_read() {
    for line in ["@git:repo://HEAD", "@\"my server:notes://a b\""] {
        assert_eq!(parse_line(line, &known()), Ok(ConsoleInput::Mention(line.into())));
    }
    assert_eq!(parse_line("@somebody", &known()), Ok(ConsoleInput::Text("@somebody".into())));
}

// U4
#[test]
fn mistyped_names_get_a_suggestion() {
    let rows = [
        ("/tols", "there is no command `/tols`", "did you mean `/tools`?"),
        ("/zzzzz", "there is no command `/zzzzz`", "type /help to see all commands"),
        ("/mcp enabel git", "there is no command `/mcp enabel`", "did you mean `/mcp enable`?"),
        ("/mcp reconnect gti", "there is no server `gti`", "did you mean `git`?"),
        ("/mcp reconnect", "the name of a server is missing", "write `/mcp reconnect SERVER`"),
        (
            "/mcp add",
            "the server to add is missing",
            "write `/mcp add NAME COMMAND …` or `/mcp add NAME URL`",
        ),
        ("/calls now", "`now` is unexpected after `/calls`", "write `/calls` alone; /help shows its usage"),
        ("evrything.get-sum a=1", "there is no server `evrything`", "did you mean `everything`?"),
        ("evrything get-sum a=1", "there is no server `evrything`", "did you mean `everything`?"),
        (
            "git",
            "the tool of server `git` is missing",
            "write `git.TOOL key=value`; /tools git lists its tools",
        ),
        ("git.log a='x", "`'` is never closed", "close it, or write `\\'` for the character itself"),
    ];
    for known in [known(), with_model()] {
        for (line, message, hint) in rows {
            let error: InputError = parse_line(line, &known).unwrap_err();
            assert_eq!(
                (error.to_string().as_str(), error.hint().as_deref()),
                (message, Some(hint)),
                "{line}"
            );
        }
    }
}
