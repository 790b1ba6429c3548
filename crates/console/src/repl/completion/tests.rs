//! Tests of completion.

use serde_json::{Value, json};

use super::{LineCompletion, QuestionSubject, ValueQuestion, complete_line};
use crate::repl::known_names::{KnownNames, KnownPrompt, KnownResource, KnownTool};

fn known() -> KnownNames {
    let tool = |server: &str, name: &str| KnownTool {
        server: Some(server.to_owned()),
        name: name.to_owned(),
        public: format!("mcp__{server}__{name}"),
        description: format!("About {name}"),
    };
    let resource = |uri: &str| KnownResource { server: "git".into(), uri: uri.into(), title: "One".into() };
    KnownNames {
        servers: ["everything", "git", "off"].map(str::to_owned).to_vec(),
        tools: vec![tool("everything", "get-sum"), tool("everything", "echo"), tool("git", "log\u{1b}[31m")],
        prompts: vec![KnownPrompt {
            command: "mcp__git__review".into(),
            server: "git".into(),
            name: "review".into(),
            description: "Review changes".into(),
            arguments: vec![("base".into(), "the base".into()), ("depth".into(), String::new())],
        }],
        resources: vec![resource("repo://HEAD"), resource("repo://a b")],
        templates: vec![resource("log://{branch}/{file}")],
        has_model: false,
    }
}

fn schema(tool: &str) -> Option<Value> {
    (tool == "mcp__everything__get-sum").then(|| {
        json!({
            "type": "object",
            "properties": {
                "a": { "type": "number", "description": "First number" },
                "unit": { "enum": ["celsius", "kelvin"] },
                "verbose": { "type": "boolean" },
                "tags": { "type": "array", "items": { "enum": ["x", "y"] } },
            },
            "required": ["a"],
        })
    })
}

fn complete(line: &str) -> LineCompletion {
    complete_line(line, line.len(), &known(), &schema)
}

fn texts(line: &str) -> Vec<String> {
    complete(line).candidates.into_iter().map(|candidate| candidate.text).collect()
}

// U4 X3
#[test]
fn commands_and_prompts_are_completed_after_a_slash() {
    assert_eq!(texts("/mc"), ["/mcp", "/mcp__git__review"]);
    assert_eq!(texts("/mcp dis"), ["disable"]);
    assert_eq!(texts("/mcp enable "), ["all", "everything", "git", "off"]);
    assert_eq!(texts("/mcp reconnect g"), ["git"]);
    assert_eq!(texts("/logs of"), ["off"]);
    assert_eq!(texts("/permissions te"), ["test"]);
    assert_eq!(texts("/tools everything e"), ["echo"]);
    assert_eq!(texts("/search "), Vec::<String>::new());
}

// U4
#[test]
fn servers_and_tools_are_completed_in_all_spellings() {
    assert_eq!(texts("ev"), ["everything."]);
    assert_eq!(texts("everything."), ["everything.echo", "everything.get-sum"]);
    assert_eq!(texts("everything.g"), ["everything.get-sum"]);
    assert_eq!(texts("everything g"), ["get-sum"]);
    assert_eq!(texts("mcp__everything__e"), ["mcp__everything__echo"]);
    let tool = complete("everything.g").candidates.remove(0);
    assert_eq!((tool.description.as_str(), tool.is_whole), ("About get-sum", true));
}

// U4 N7: a name with a control sequence must not reach the terminal.
#[test]
fn names_with_hidden_characters_are_not_offered() {
    assert_eq!(texts("git."), Vec::<String>::new());
}

// U4
#[test]
fn arguments_and_their_values_come_from_the_schema() {
    for call in ["everything.get-sum ", "everything get-sum ", "mcp__everything__get-sum "] {
        assert_eq!(texts(call), ["a=", "tags=", "unit=", "verbose="], "{call}");
    }
    assert_eq!(texts("everything.get-sum a=1 u"), ["unit="]);
    assert_eq!(texts("everything.get-sum a=1 tags=x "), ["tags=", "unit=", "verbose="]);
    assert_eq!(texts("everything.get-sum unit="), ["unit=celsius", "unit=kelvin"]);
    assert_eq!(texts("everything.get-sum unit=k"), ["unit=kelvin"]);
    assert_eq!(texts("everything.get-sum verbose="), ["verbose=false", "verbose=true"]);
    assert_eq!(texts("everything.get-sum tags="), ["tags=x", "tags=y"]);
    assert_eq!(texts("everything.get-sum --u"), ["--unit"]);
    assert_eq!(texts("everything.get-sum --unit "), ["celsius", "kelvin"]);
    let first = complete("everything.get-sum a").candidates.remove(0);
    assert_eq!((first.description.as_str(), first.is_whole), ("required; First number", false));
}

// U4 X3
#[test]
fn values_of_prompts_are_asked_from_the_server() {
    let ask = |argument: &str, value: &str, before: &str, known: &[(&str, &str)]| ValueQuestion {
        subject: QuestionSubject::Prompt("review".into()),
        server: "git".into(),
        argument: argument.into(),
        value: value.into(),
        known: known.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        before: before.into(),
    };
    let first = complete("/mcp__git__review ma");
    assert_eq!(first.question, Some(ask("base", "ma", "", &[])));
    assert_eq!(texts("/mcp__git__review "), ["base=", "depth="]);
    let second = complete("/mcp__git__review main ");
    assert_eq!(second.question, Some(ask("depth", "", "", &[("base", "main")])));
    let named = complete("/mcp__git__review depth=2 base=ma");
    assert_eq!(named.question, Some(ask("base", "ma", "base=", &[("depth", "2")])));
    assert_eq!(complete("/mcp__git__review a b ").question, None);
}

// U4 X1
#[test]
fn mentions_are_completed_by_server_uri_and_template() {
    assert_eq!(texts("@"), ["@git:"]);
    assert_eq!(texts("look at @git:r"), ["@git:repo://HEAD", "@\"git:repo://a b\""]);
    assert_eq!(texts("@git:l"), ["@git:log://"]);
    let question = |line: &str| {
        let asked = complete(line).question?;
        let known: Vec<_> = asked.known.into_iter().collect();
        Some((asked.argument, asked.value, asked.before, known))
    };
    let expected = |argument: &str, value: &str, before: &str, known: &[(&str, &str)]| {
        let known = known.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Some((argument.to_owned(), value.to_owned(), before.to_owned(), known))
    };
    assert_eq!(question("@git:log://ma"), expected("branch", "ma", "@git:log://", &[]));
    assert_eq!(
        question("@git:log://main/s"),
        expected("file", "s", "@git:log://main/", &[("branch", "main")])
    );
    assert_eq!(question("@git:repo://"), None);
}

// U4
#[test]
fn only_the_word_at_the_cursor_is_replaced() {
    let line = "everything.get-sum uni b=2";
    let completion = complete_line(line, 22, &known(), &schema);
    assert_eq!((completion.span.clone(), &line[completion.span]), (19..22, "uni"));
}
