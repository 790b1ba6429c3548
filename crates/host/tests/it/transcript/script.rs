//! The steps of the scripted model, each in response to the result of the previous one.

use std::path::Path;

use serde_json::{Value, json};

use super::model::{Seen, Step};

const READ: &str = "mcp__files__read_text_file";
const WRITE: &str = "mcp__files__write_file";
const SUM: &str = "mcp__everything__get-sum";
const ASK: &str = "mcp__everything__trigger-elicitation-request";

pub(crate) fn steps(work: &Path) -> Vec<Step> {
    let path = |name: &str| work.join(name).to_str().unwrap().to_owned();
    let (log, kept, near) = (path("log.txt"), path("kept/answer.txt"), path("answer.txt"));
    vec![
        Box::new(search),
        Box::new(move |seen| read(seen, &log)),
        Box::new(read_on),
        Box::new(search_again),
        Box::new(sum_and_ask),
        Box::new(move |seen| write_where_it_may_not(seen, &kept)),
        Box::new(move |seen| write_where_it_may(seen, &near)),
        Box::new(say),
    ]
}

fn wish(id: &str, name: &str, input: &Value) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
}

fn expect(holds: bool, what: &str) -> Result<(), String> {
    holds.then_some(()).ok_or_else(|| what.to_owned())
}

/// The only result, which is no error and holds this.
fn only<'s>(seen: &'s Seen, piece: &str) -> Result<&'s str, String> {
    let [(text, false)] = seen.results.as_slice() else { return Err(format!("results: {:?}", seen.results)) };
    expect(text.contains(piece), &format!("no `{piece}` in {text}"))?;
    Ok(text)
}

/// The model knows no tool of a server, only the tool search.
fn search(seen: &Seen) -> Result<Vec<Value>, String> {
    let listed = |name: &str| seen.tools.iter().any(|tool| tool == name);
    expect(listed("ToolSearch") && listed("ReadResult"), &format!("listed: {:?}", seen.tools))?;
    let is_deferred =
        !seen.tools.iter().any(|tool| tool.starts_with("mcp__files") || tool.starts_with("mcp__everything"));
    expect(is_deferred, &format!("listed: {:?}", seen.tools))?;
    let query = json!({ "query": "read the text of a file" });
    Ok(vec![json!({ "type": "text", "text": "I look for a tool." }), wish("a", "ToolSearch", &query)])
}

/// The found tool is in the model's list now, and described in the answer.
fn read(seen: &Seen, log: &str) -> Result<Vec<Value>, String> {
    let found = only(seen, READ)?;
    let found: Value = serde_json::from_str(found).map_err(|error| error.to_string())?;
    let tool = found["tools"].as_array().and_then(|tools| tools.iter().find(|tool| tool["name"] == READ));
    let names_path = |tool: &Value| {
        let signature = tool["signature"].as_str().unwrap_or_default();
        signature.contains("path: string") || tool["inputSchema"]["properties"]["path"].is_object()
    };
    expect(tool.is_some_and(names_path), "neither signature nor schema")?;
    expect(seen.tools.iter().any(|tool| tool == READ), "it is not listed")?;
    Ok(vec![wish("b", READ, &json!({ "path": log }))])
}

/// The file is too long, and a note stands in its place: it says under which handle there is more.
fn read_on(seen: &Seen) -> Result<Vec<Value>, String> {
    let note = only(seen, "It is stored as `")?;
    expect(note.len() <= 2048, "the note is long")?;
    let handle =
        note.split("stored as `").nth(1).and_then(|rest| rest.split('`').next()).ok_or("no handle")?;
    Ok(vec![wish("c", "ReadResult", &json!({ "handle": handle, "grep": "^.*ANSWER.*$" }))])
}

fn search_again(seen: &Seen) -> Result<Vec<Value>, String> {
    only(seen, super::ANSWER)?;
    let query = json!({ "query": format!("select:{SUM},{ASK},{WRITE}") });
    Ok(vec![wish("d", "ToolSearch", &query)])
}

/// Two wishes in one turn.
fn sum_and_ask(seen: &Seen) -> Result<Vec<Value>, String> {
    only(seen, ASK)?;
    Ok(vec![wish("e", SUM, &json!({ "a": 40, "b": 2 })), wish("f", ASK, &json!({}))])
}

fn write_where_it_may_not(seen: &Seen, kept: &str) -> Result<Vec<Value>, String> {
    let [(sum, false), (person, false)] = seen.results.as_slice() else {
        return Err(format!("{:?}", seen.results));
    };
    expect(sum.contains("42"), sum)?;
    expect(person.contains("Ada"), person)?;
    Ok(vec![wish("g", WRITE, &json!({ "path": kept, "content": "Ada: 42" }))])
}

/// Denied, with words that say why: another place will do.
fn write_where_it_may(seen: &Seen, near: &str) -> Result<Vec<Value>, String> {
    let [(denial, true)] = seen.results.as_slice() else { return Err(format!("{:?}", seen.results)) };
    expect(denial.contains("denied") || denial.contains("deny"), denial)?;
    Ok(vec![wish("h", WRITE, &json!({ "path": near, "content": "Ada: 42" }))])
}

fn say(seen: &Seen) -> Result<Vec<Value>, String> {
    only(seen, "answer.txt")?;
    Ok(vec![json!({ "type": "text", "text": "Ada's sum is 42." })])
}
