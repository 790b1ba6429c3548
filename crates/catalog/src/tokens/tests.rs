//! Token estimate, compared with public tokenizers.

use mcparley_model::name::{PublicNames, ServerName};
use mcparley_model::tool::Tool;
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::*;
use crate::entry::{CatalogEntry, ToolProvider};

/// Definitions with their token counts in `o200k_base`, `cl100k_base`, and Anthropic's tokenizer of 2023.
const COUNTED: &str = include_str!("counted.json");

fn entry(definition: &Value) -> CatalogEntry {
    let server = ServerName::new(definition["server"].as_str().unwrap());
    let tool = Tool::parse(&to_raw_value(definition).unwrap()).unwrap();
    let names = PublicNames::default().extend([(server.clone(), tool.name.clone())]);
    let public = names.public_name(&server, &tool.name).unwrap().clone();
    CatalogEntry::new(public, ToolProvider::Server(server), tool)
}

// N10
#[test]
fn estimate_is_close_to_real_tokenizers() {
    let definitions: Vec<Value> = serde_json::from_str(COUNTED).unwrap();
    let mut compared = 0;
    for definition in &definitions {
        let entry = entry(definition);
        for counted in definition["counted"].as_array().unwrap() {
            let (estimate, counted) = (entry.tokens(), counted.as_u64().unwrap());
            let apart = estimate.abs_diff(counted) * 100;
            assert!(apart <= counted * 15, "{}: {estimate}, not {counted}", entry.name);
            compared += 1;
        }
    }
    assert_eq!(compared, 12, "four tools, three vocabularies");
}

#[test]
fn words_signs_and_digits_have_their_costs() {
    let cases = [
        ("", 0),
        ("word", 6),
        ("two words", 12),
        ("readHTMLPage", 18),
        ("HTML", 6),
        ("internationalisation", 18),
        ("1234567", 18),
        ("\":\"", 6),
        ("\":{\"", 8),
        ("a\n\n    b", 18),
        ("{\"a\":1}", 30),
        ("日本", 12),
    ];
    for (text, expected) in cases {
        assert_eq!(count_sixths(text), expected, "{text:?}");
    }
}
