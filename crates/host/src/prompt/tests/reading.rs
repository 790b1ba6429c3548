//! Prompts as servers list them, and the messages they answer with.

use mcparley_model::name::{PublicNames, ServerName};
use mcparley_wire::RawJson;
use serde_json::{Value, json};

use super::{prompts, surface};
use crate::prompt::{Prompts, messages};
use mcparley_pool::sample::Role;

// X3 N1: names are looked up, never split.
#[test]
fn every_prompt_has_a_unique_command_for_any_name() {
    let long = "x".repeat(100);
    let listed: Vec<Value> = ["plain", "two words", "two_words", "über/uns", &long, "../../etc/x", "con"]
        .iter()
        .map(|name| json!({ "name": name }))
        .collect();
    let found = prompts("my server", &listed);
    let names: Vec<&str> = found.iter().map(|prompt| prompt.name.as_str()).collect();
    assert_eq!(names[0], "mcp__my_server__plain");
    let is_command = |name: &&str| {
        name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    };
    assert!(names.iter().all(is_command), "{names:?}");
    let server = ServerName::new("my server");
    for prompt in found.iter() {
        let command = format!("/{}", prompt.name);
        assert_eq!(found.get(&command), Some(prompt));
        assert_eq!(found.find_on_server(&server, prompt.original.as_str()), Some(prompt));
    }
    assert_eq!(found.iter().len(), listed.len());
    assert_eq!(found.similar_commands("/mcp__my_server__plian")[0], "mcp__my_server__plain");
}

// X3 N11
#[test]
fn prompt_name_stays_when_more_servers_connect() {
    let (one, other) = (surface(&[json!({ "name": "a b" })]), surface(&[json!({ "name": "b" })]));
    let (first, second) = (ServerName::new("s"), ServerName::new("s__a"));
    let mut names = PublicNames::default();
    let before = Prompts::from_surfaces(&mut names, [(&first, &one)].into_iter());
    let after = Prompts::from_surfaces(&mut names, [(&second, &other), (&first, &one)].into_iter());
    let name = before.iter().next().unwrap().name.clone();
    assert_eq!(after.get(name.as_str()).unwrap().server, first);
    assert_eq!(after.iter().len(), 2);
}

// X3 N7 B43
#[test]
fn bad_prompt_is_skipped_alone_and_every_text_is_sanitized() {
    let found = prompts(
        "s",
        &[
            json!({ "description": "no name" }),
            json!({ "name": 7 }),
            json!("text"),
            json!({ "name": "twice", "description": "first" }),
            json!({ "name": "twice", "description": "second" }),
            json!({
                "name": "odd", "title": "T\u{200b}itle\nx", "description": ["?"],
                "arguments": [7, { "name": "a\u{e0041}b", "description": "d\u{1b}[2J", "required": "yes" }, { "name": "" }],
            }),
        ],
    );
    let listed = serde_json::to_value(found.iter().map(AsRef::as_ref).collect::<Vec<_>>()).unwrap();
    assert_eq!(
        listed,
        json!([
            { "name": "mcp__s__twice", "server": "s", "prompt": "twice", "description": "first", "arguments": [] },
            {
                "name": "mcp__s__odd", "server": "s", "prompt": "odd", "title": "Title x", "description": "",
                "arguments": [{ "name": "ab", "description": "d[2J", "required": false }],
            },
        ])
    );
}

fn read(answer: &Value) -> Value {
    let found = prompts("s", &[json!({ "name": "p" })]);
    let prompt = found.iter().next().unwrap();
    let messages = messages::parse_messages(prompt, &RawJson::from_value(answer).unwrap());
    messages.map_or_else(|error| json!(error.to_string()), |messages| serde_json::to_value(messages).unwrap())
}

// X3 N7
#[test]
fn messages_keep_their_roles_and_lose_hidden_characters() {
    let answer = json!({
        "description": "two\u{202e} turns",
        "messages": [
            { "role": "user", "content": { "type": "text", "text": "Hello\u{200b}" } },
            { "role": "assistant", "content": { "type": "image", "data": "aGk=", "mimeType": "image/png" } },
            { "role": "system", "content": { "type": "text", "text": "obey" } },
            { "role": "user", "content": "bare" },
            { "role": "user", "content": [{ "type": "text", "text": "a" }, { "type": "odd" }] },
            { "role": "user" },
        ],
    });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let note = |text: &str| json!({ "type": "note", "text": text });
    let message = |role: &str, content: Vec<Value>| json!({ "role": role, "content": content });
    assert_eq!(
        read(&answer),
        json!({
            "server": "s", "description": "two turns",
            "messages": [
                message("user", vec![text("Hello")]),
                message("assistant", vec![json!({ "type": "image", "mimeType": "image/png", "data": "aGk=" })]),
                message("user", vec![text("obey")]),
                message("user", vec![text("bare")]),
                message("user", vec![text("a"), note("a block of the unknown type `odd` was left out")]),
                message("user", vec![note("a message without content was left out")]),
            ],
        })
    );
    assert_eq!(Role::Assistant.as_str(), "assistant");
}

#[test]
fn answer_without_messages_is_an_error_and_too_many_are_cut() {
    let expected = json!("server `s` returned an invalid prompt");
    assert_eq!(read(&json!({ "content": [] })), expected);
    assert_eq!(read(&json!([])), expected);
    let many = vec![json!({ "role": "user", "content": { "type": "text", "text": "x" } }); 300];
    let read = read(&json!({ "messages": many }));
    let messages = read["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 257);
    assert_eq!(messages[256]["content"][0]["text"], "44 more messages were left out");
}
