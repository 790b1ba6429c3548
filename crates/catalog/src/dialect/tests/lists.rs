//! Whole tool lists, and the conversion of a model's calls.

use std::sync::Arc;

use mcparley_model::name::PublicName;
use serde_json::{Value, json};

use super::super::list::ModelCallError;
use super::super::{Dialect, ModelTools, WithheldReason};
use super::{check, entry, json_of, list, named_entry};
use crate::assemble::built_in_entry;
use crate::built_in::BuiltIn;
use crate::entry::CatalogEntry;

/// The entry of a built-in tool.
fn host_entry() -> Arc<CatalogEntry> {
    Arc::new(built_in_entry(BuiltIn::ListResources).unwrap())
}

fn plain() -> Value {
    json!({ "type": "object", "properties": { "a": { "type": "string" } } })
}

// N13
#[test]
fn each_api_gets_its_documented_format() {
    let tool = entry(&plain());
    let of = |dialect| json_of(&list(dialect, std::slice::from_ref(&tool)));
    let (name, description) = ("mcp__s__t", "Does it.");
    assert_eq!(
        of(Dialect::Anthropic),
        json!([{ "name": name, "description": description, "input_schema": plain() }])
    );
    assert_eq!(
        of(Dialect::OpenAi),
        json!([{
            "type": "function", "name": name, "description": description, "parameters": plain(), "strict": false,
        }])
    );
    assert_eq!(
        of(Dialect::OpenAiChat),
        json!([{
            "type": "function",
            "function": { "name": name, "description": description, "parameters": plain(), "strict": false },
        }])
    );
    assert_eq!(
        of(Dialect::Gemini),
        json!([{ "functionDeclarations": [{ "name": name, "description": description, "parameters": plain() }] }])
    );
    for dialect in Dialect::ALL {
        assert_eq!(list(dialect, &[]).tools.get(), "[]");
        assert_eq!(dialect.as_str().parse(), Ok(dialect));
    }
    assert!("other".parse::<Dialect>().is_err());
}

// N11 N13
#[test]
fn the_same_tools_give_the_same_bytes_in_the_same_order() {
    let tools = || {
        let schema =
            json!({ "type": "object", "properties": { "z z": { "enum": [2, 1] }, "a": {}, "1": {} } });
        ["zebra", "ant", "moth"].map(|name| named_entry(name, "", &schema))
    };
    for dialect in Dialect::ALL {
        let (one, other) = (list(dialect, &tools()), list(dialect, &tools()));
        assert_eq!(one.tools.get(), other.tools.get());
        let names: Vec<String> =
            check::schemas(dialect.as_str(), &json_of(&one)).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["mcp__s__zebra", "mcp__s__ant", "mcp__s__moth"]);
    }
}

// N8 N13
#[test]
fn unusable_tool_is_withheld_without_affecting_others() {
    let nameless = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let never = json!({ "type": "object", "allOf": [false] });
    let huge = json!({ "type": "object", "description": "x".repeat(300_000) });
    let tools = [
        named_entry("nameless", "", &nameless),
        named_entry("never", "", &never),
        named_entry("huge", "", &huge),
        entry(&plain()),
    ];
    let gemini = list(Dialect::Gemini, &tools);
    let withheld: Vec<String> = gemini.withheld.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    assert_eq!(
        withheld,
        [
            "mcp__s__nameless: its arguments have no names of their own",
            "mcp__s__never: its schema fits no object",
            "mcp__s__huge: its schema has more than 262144 bytes",
        ]
    );
    assert_eq!(json_of(&gemini)[0]["functionDeclarations"].as_array().unwrap().len(), 1);
    let anthropic = list(Dialect::Anthropic, &tools);
    assert_eq!(anthropic.withheld.len(), 2);
    assert_eq!(json_of(&anthropic).as_array().unwrap().len(), 2);
}

// N13 N10
#[test]
fn tools_beyond_the_api_limit_are_left_out() {
    let tools: Vec<_> = (0..130).map(|n| named_entry(&format!("t{n}"), "", &plain())).collect();
    assert_eq!(json_of(&list(Dialect::Anthropic, &tools)).as_array().unwrap().len(), 130);
    for dialect in [Dialect::OpenAi, Dialect::OpenAiChat, Dialect::Gemini] {
        let list = list(dialect, &tools);
        assert_eq!(check::complaints(dialect.as_str(), &json_of(&list)), [""; 0]);
        let withheld: Vec<(&str, &WithheldReason)> =
            list.withheld.iter().map(|(name, why)| (name.as_str(), why)).collect();
        assert_eq!(
            withheld,
            [("mcp__s__t128", &WithheldReason::TooMany), ("mcp__s__t129", &WithheldReason::TooMany)]
        );
        // With `ToolSearch` they are deferred, and that tool takes a place too.
        let search = host_entry();
        let list = ModelTools::new(dialect, &tools, &[], Some(&search));
        let deferred: Vec<&str> = list.deferred.iter().map(PublicName::as_str).collect();
        assert_eq!(deferred, ["mcp__s__t127", "mcp__s__t128", "mcp__s__t129"]);
        assert_eq!(check::complaints(dialect.as_str(), &json_of(&list)), [""; 0]);
        assert!(list.tools.get().contains(search.name.as_str()) && list.withheld.is_empty());
    }
}

// N13
#[test]
fn long_description_overflows_into_the_schema_for_openai() {
    let long: String = (0..400).map(|n| format!("{n:03}. ")).collect();
    let tool = named_entry("t", &long, &plain());
    let json = json_of(&list(Dialect::OpenAi, std::slice::from_ref(&tool)));
    assert_eq!(check::complaints("openai", &json), [""; 0]);
    let parts = [&json[0]["description"], &json[0]["parameters"]["description"]];
    let whole = parts.map(|part| part.as_str().unwrap()).concat();
    assert_eq!(whole.replace(' ', ""), tool.tool.description.replace(' ', ""));
    assert_eq!(json_of(&list(Dialect::Anthropic, &[tool]))[0]["input_schema"], plain());
}

// N13
#[test]
fn model_call_is_converted_into_a_tool_call() {
    let deferred = named_entry("later", "", &plain());
    let tools = ModelTools::new(Dialect::OpenAi, &[entry(&plain())], &[deferred], None);
    assert_eq!(tools.deferred.iter().map(ToString::to_string).collect::<Vec<_>>(), ["mcp__s__later"]);
    let arguments = |name: &str, written: Value| tools.call(name, written).map(|call| call.arguments);
    // OpenAI's APIs pass arguments as JSON text.
    assert_eq!(arguments("mcp__s__t", json!("{\"a\": \"b\"}")), Ok(json!({ "a": "b" })));
    assert_eq!(arguments("mcp__s__t", json!("")), Ok(json!({})));
    assert_eq!(arguments("mcp__s__t", Value::Null), Ok(json!({})));
    assert_eq!(arguments("mcp__s__later", json!({ "a": 1 })), Ok(json!({ "a": 1 })));
    let torn = arguments("mcp__s__t", json!("{\"a\": ")).unwrap_err();
    assert_eq!(torn.to_string(), "the arguments of `mcp__s__t` are not JSON");
    let unknown = arguments("mcp__s__tt", json!({})).unwrap_err();
    assert_eq!(
        unknown,
        ModelCallError::Unknown { name: "mcp__s__tt".into(), similar: vec!["mcp__s__t".into()] }
    );
    assert_eq!(unknown.to_string(), "there is no tool `mcp__s__tt`; there is `mcp__s__t`");
}
