//! Vocabulary of a WordPiece tokenizer: splits a word into the longest tokens that it knows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use mcparley_model::limits::{VECTOR_TOKEN_BYTES, VECTOR_TOKENS};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

use super::error::WordVectorsError as Fault;

/// The tokens of a tokenizer, with their ids.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// The tokens that begin a word.
    beginnings: HashMap<Box<str>, u32>,
    /// The tokens that continue a word, without their prefix.
    continuations: HashMap<Box<str>, u32>,
    /// The length of the longest token, in bytes.
    longest: usize,
}

/// The part of `tokenizer.json` that is used.
#[derive(Deserialize)]
struct TokenizerFile<'f> {
    #[serde(borrow)]
    model: TokenizerModel<'f>,
}

#[derive(Deserialize)]
struct TokenizerModel<'f> {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(borrow)]
    vocab: &'f serde_json::value::RawValue,
    #[serde(default = "default_prefix")]
    continuing_subword_prefix: String,
}

fn default_prefix() -> String {
    "##".to_owned()
}

impl Vocabulary {
    /// Parses `tokenizer.json`; every id must be below `tokens`.
    pub(super) fn parse(file: &[u8], tokens: usize) -> Result<Self, Fault> {
        let unfit = |error: serde_json::Error| Fault::Tokenizer(error.to_string());
        let TokenizerFile { model } = serde_json::from_slice(file).map_err(unfit)?;
        if model.kind != "WordPiece" {
            return Err(Fault::TokenizerKind(model.kind.chars().take(20).collect()));
        }
        let TokenList(list) = serde_json::from_str(model.vocab.get()).map_err(unfit)?;
        let mut vocabulary = Self {
            beginnings: HashMap::with_capacity(list.len()),
            continuations: HashMap::new(),
            longest: 0,
        };
        for (token, id) in list {
            vocabulary.add_token(&token, id, &model.continuing_subword_prefix, tokens)?;
        }
        Ok(vocabulary)
    }

    fn add_token(&mut self, token: &str, id: u64, prefix: &str, tokens: usize) -> Result<(), Fault> {
        let known = u32::try_from(id).ok().filter(|id| (*id as usize) < tokens);
        let id = known.ok_or(Fault::TokenId { id, tokens })?;
        let continuation = token.strip_prefix(prefix).filter(|rest| !rest.is_empty() && !prefix.is_empty());
        let text = continuation.unwrap_or(token);
        // Longer tokens cannot be parts of words, which are cut.
        if text.len() <= VECTOR_TOKEN_BYTES {
            self.longest = self.longest.max(text.len());
            let kind = if continuation.is_some() { &mut self.continuations } else { &mut self.beginnings };
            kind.insert(text.into(), id);
        }
        Ok(())
    }

    /// Calls `take` with the tokens of a word in lower case; not at all if a part of the word is unknown.
    pub(super) fn split_word(&self, word: &str, mut take: impl FnMut(u32)) {
        let mut tokens = Vec::new();
        let mut rest = word;
        while !rest.is_empty() {
            let kind = if tokens.is_empty() { &self.beginnings } else { &self.continuations };
            let Some((token, left)) = longest_prefix(kind, rest, self.longest) else { return };
            tokens.push(token);
            rest = left;
        }
        tokens.into_iter().for_each(&mut take);
    }
}

/// The longest token that the text begins with, and the text behind it.
fn longest_prefix<'t>(
    tokens: &HashMap<Box<str>, u32>,
    text: &'t str,
    longest: usize,
) -> Option<(u32, &'t str)> {
    let ends = (1..=text.len().min(longest)).rev();
    ends.filter_map(|end| text.split_at_checked(end))
        .find_map(|(part, rest)| Some((*tokens.get(part)?, rest)))
}

/// The members of `vocab`, in the order of the file.
struct TokenList<'f>(Vec<(Cow<'f, str>, u64)>);

impl<'de> Deserialize<'de> for TokenList<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TokenListVisitor)
    }
}

struct TokenListVisitor;

impl<'de> Visitor<'de> for TokenListVisitor {
    type Value = TokenList<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tokens and their ids")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some((Token(token), id)) = members.next_entry::<Token<'de>, u64>()? {
            if list.len() == VECTOR_TOKENS {
                return Err(A::Error::custom(format!("it has more than {VECTOR_TOKENS} tokens")));
            }
            list.push((token, id));
        }
        Ok(TokenList(list))
    }
}

/// A token, borrowed from the file where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Token<'f>(#[serde(borrow)] Cow<'f, str>);
