//! Searches with word vectors.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::tests::{assemble, catalog, found, tool};
use super::*;
use crate::assemble::Assembler;
use crate::word_vectors::WordVectorsError;
use crate::word_vectors::tests::word_vectors;

const ROWS: [(&str, &[f32]); 7] = [
    ("rain", &[1.0, 0.0, 0.0]),
    ("precipitation", &[0.95, 0.1, 0.0]),
    ("snow", &[0.8, 0.4, 0.1]),
    ("invoice", &[0.0, 1.0, 0.0]),
    ("bill", &[0.1, 0.9, 0.0]),
    ("get", &[0.0, 0.0, 0.1]),
    ("of", &[0.0, 0.0, 0.01]),
];

fn meaning_catalog(servers: &[(&str, Vec<Value>)]) -> Catalog {
    let source = Arc::new(WordVectorsSource::new(|| Ok(word_vectors(&ROWS))));
    assemble(&mut Assembler::default().with_vectors(Some(source)), servers)
}

fn weather() -> (&'static str, Vec<Value>) {
    let tools = vec![
        tool("get_precipitation", "Millimeters of a town."),
        tool("get_bill", "One of them."),
        tool("zzz", "Nothing of it is known: qqq."),
    ];
    ("weather", tools)
}

// N10
#[test]
fn synonyms_that_words_miss_are_found_by_meaning() {
    assert_eq!(found(&catalog(&[weather()]), "rain"), Vec::<String>::new());
    let catalog = meaning_catalog(&[weather()]);
    assert_eq!(found(&catalog, "rain"), ["mcp__weather__get_precipitation"]);
    assert_eq!(found(&catalog, "invoice"), ["mcp__weather__get_bill"]);
    assert_eq!(found(&catalog, "qqq"), ["mcp__weather__zzz"], "words find what vectors do not know");
    assert_eq!(found(&catalog, "elephant"), Vec::<String>::new());
    assert_eq!(found(&catalog, "+rain"), Vec::<String>::new(), "a required word is never replaced");
    let elsewhere = SearchQuery::new("rain").for_server(ServerName::new("other"));
    assert!(catalog.search_tools(&elsewhere).tools.is_empty());
}

// N10
#[test]
fn exact_name_is_first_even_if_another_tool_means_more() {
    let tools = vec![tool("snow", "Rain, precipitation, rain."), tool("rain", "An invoice, a bill.")];
    let catalog = meaning_catalog(&[("s", tools)]);
    assert_eq!(found(&catalog, "rain"), ["mcp__s__rain", "mcp__s__snow"]);
    assert_eq!(found(&catalog, "s rain"), ["mcp__s__rain", "mcp__s__snow"]);
}

// N10
#[test]
fn unusable_vectors_leave_the_ranking_by_words() {
    let source = Arc::new(WordVectorsSource::new(|| Err(WordVectorsError::NoEmbeddings)));
    let broken = assemble(&mut Assembler::default().with_vectors(Some(Arc::clone(&source))), &[weather()]);
    for query in ["rain", "get", "precipitation of a town"] {
        assert_eq!(found(&broken, query), found(&catalog(&[weather()]), query), "{query}");
    }
    assert_eq!(source.error(), Some(&WordVectorsError::NoEmbeddings));
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let word =
        prop::sample::select(vec!["rain", "snow", "invoice", "bill", "get", "precipitation", "wind", "of"]);
    prop::collection::vec(prop::collection::vec(word, 1..6).prop_map(|words| words.join(" ")), 1..20)
}

proptest! {
    // N10
    #[test]
    fn every_tool_is_first_for_its_name_with_vectors(descriptions in texts()) {
        let tools: Vec<Value> =
            descriptions.iter().enumerate().map(|(at, text)| tool(&format!("{}_{at}", text.replace(' ', "_")), text)).collect();
        let catalog = meaning_catalog(&[("s", tools)]);
        for entry in catalog.iter().filter(|entry| entry.server().is_some()) {
            prop_assert_eq!(&found(&catalog, entry.tool.name.as_str())[0], entry.name.as_str());
        }
    }

    // N10 N11
    #[test]
    fn same_query_gives_the_same_order_and_no_tool_less_with_vectors(descriptions in texts(), query in texts()) {
        let tools = || descriptions.iter().enumerate().map(|(at, text)| tool(&format!("t{at}"), text)).collect::<Vec<_>>();
        let (one, other) = (meaning_catalog(&[("s", tools())]), meaning_catalog(&[("s", tools())]));
        let query = SearchQuery::new(&query.join(" ")).with_limit(50);
        let names = |catalog: &Catalog| {
            catalog.search_tools(&query).tools.iter().map(|entry| entry.name.to_string()).collect::<Vec<_>>()
        };
        prop_assert_eq!(names(&one), names(&other));
        let fused = names(&one);
        prop_assert!(names(&catalog(&[("s", tools())])).iter().all(|name| fused.contains(name)));
    }
}
