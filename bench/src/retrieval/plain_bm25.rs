//! Plain BM25 over names, descriptions and arguments: the ranking that any search library has.

use std::collections::HashMap;

use serde_json::Value;

use super::set::SetTool;

/// BM25's saturation of repeated words.
const K1: f64 = 1.2;

/// BM25's length normalization.
const B: f64 = 0.75;

/// The index of all tools.
pub(super) struct PlainBm25 {
    /// The places of the tools that have a word, with its weight.
    postings: HashMap<String, Vec<(usize, f64)>>,
}

impl PlainBm25 {
    pub(super) fn new(tools: &[SetTool]) -> Self {
        let documents: Vec<Vec<String>> = tools.iter().map(|tool| split_words(&tool_text(tool))).collect();
        let words: usize = documents.iter().map(Vec::len).sum();
        let mean = words as f64 / documents.len().max(1) as f64;
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        for (place, document) in documents.iter().enumerate() {
            let mut counts: HashMap<&str, f64> = HashMap::new();
            document.iter().for_each(|word| *counts.entry(word).or_default() += 1.0);
            let length = K1 * (1.0 - B + B * document.len() as f64 / mean);
            for (word, count) in counts {
                let weight = count * (K1 + 1.0) / (count + length);
                postings.entry(word.to_owned()).or_default().push((place, weight));
            }
        }
        let all = documents.len() as f64;
        for of_word in postings.values_mut() {
            let having = of_word.len() as f64;
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            of_word.iter_mut().for_each(|(_, weight)| *weight *= rarity);
        }
        Self { postings }
    }

    /// The places of the best tools, the best first.
    pub(super) fn rank_tools(&self, query: &str, most: usize) -> Vec<usize> {
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for word in split_words(query) {
            for (place, weight) in self.postings.get(&word).into_iter().flatten() {
                *scores.entry(*place).or_default() += weight;
            }
        }
        let mut ranked: Vec<(usize, f64)> = scores.into_iter().collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        ranked.into_iter().map(|(place, _)| place).take(most).collect()
    }
}

fn tool_text(tool: &SetTool) -> String {
    let member = |name: &str| tool.definition.get(name).and_then(Value::as_str).unwrap_or_default();
    let properties = tool.definition.pointer("/inputSchema/properties");
    let properties = properties.map(Value::to_string).unwrap_or_default();
    format!("{} {} {properties}", tool.name, member("description"))
}

/// The words of a text in lower case; capitals in the middle begin a word.
fn split_words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for character in text.chars() {
        let is_word = character.is_ascii_alphanumeric();
        if let Some(word) = words.last()
            && !word.is_empty()
            && (!is_word || (was_small && character.is_ascii_uppercase()))
        {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| is_word) {
            word.push(character.to_ascii_lowercase());
        }
        was_small = character.is_ascii_lowercase() || character.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // N10
    #[test]
    fn words_are_split_at_signs_and_capitals() {
        assert_eq!(split_words("getUser_by-ID 7b"), ["get", "user", "by", "id", "7b"]);
    }

    // N10
    #[test]
    fn rarer_words_and_shorter_texts_rank_first() {
        let tool = |name: &str, text: &str| {
            SetTool::new(&json!({ "name": name, "description": text }), "inputSchema").unwrap()
        };
        let tools = [
            tool("a", "rain and snow in the town"),
            tool("b", "rain"),
            tool("c", "rain and wind"),
            tool("d", "sun"),
        ];
        assert_eq!(PlainBm25::new(&tools).rank_tools("rain wind", 2), [2, 1]);
        assert!(PlainBm25::new(&[]).rank_tools("rain", 2).is_empty());
    }
}
