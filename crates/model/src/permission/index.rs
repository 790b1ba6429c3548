//! Finds the rules that can mean a call without looking at each rule there is.
//!
//! Each rule is filed under what the names it fits must begin with, and within that under what its argument
//! must begin with. This only ever leaves out what cannot match: whether a rule that is found means the call
//! is decided by the rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::prefixes::Prefixes;
use super::rule::{Rule, value_text};
use super::subject::Prepared;

/// What a rule is filed under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// The beginning of server and tool, normalised and joined as in a public name.
    Pair(String),
    /// The beginning of the tool's normalised name, where many servers may be meant.
    Tool(String),
    /// The beginning of the server's name, original or normalised, where many servers and all tools may be meant.
    Server(String),
    /// Digits of the hash of the original names.
    Hash(String),
}

/// Where the rules stand, by what they can mean.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    pairs: Prefixes<Shelf>,
    tools: Prefixes<Shelf>,
    servers: Prefixes<Shelf>,
    hashes: Prefixes<Shelf>,
}

/// Places of rules that are filed under one key.
#[derive(Clone, Debug, Default)]
struct Shelf {
    unconditional: Vec<usize>,
    /// By the argument they look at, and what its value must begin with.
    conditional: Vec<(Box<str>, Prefixes<Vec<usize>>)>,
}

impl Index {
    pub(super) fn new(rules: &[Arc<Rule>]) -> Self {
        let mut places: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (place, rule) in rules.iter().enumerate() {
            for key in rule.keys() {
                places.entry(key).or_default().push(place);
            }
        }
        let mut index = Self::default();
        for (key, places) in places {
            let shelf = Shelf::new(&places, rules);
            match key {
                Key::Pair(text) => index.pairs.push(&text, shelf),
                Key::Tool(text) => index.tools.push(&text, shelf),
                Key::Server(text) => index.servers.push(&text, shelf),
                Key::Hash(digits) => index.hashes.push(&digits, shelf),
            }
        }
        index
    }

    /// Those of the `rules` it was made of that can mean the subject and whose condition holds, in their order.
    pub(super) fn candidates<'r>(
        &self,
        subject: &Prepared<'_>,
        rules: &'r [Arc<Rule>],
    ) -> Vec<&'r Arc<Rule>> {
        let mut places = Vec::new();
        let mut look_at = |shelves: &Prefixes<Shelf>, name: &str| {
            for shelf in shelves.of(name) {
                shelf.look_up(subject.subject.arguments, rules, &mut places);
            }
        };
        look_at(&self.pairs, &subject.pair());
        look_at(&self.tools, &subject.tool);
        look_at(&self.servers, &subject.server);
        look_at(&self.servers, subject.subject.server.as_str());
        if !self.hashes.is_empty() {
            look_at(&self.hashes, subject.digest());
        }
        places.sort_unstable();
        places.dedup();
        places.into_iter().filter_map(|place| rules.get(place)).collect()
    }
}

impl Shelf {
    fn new(places: &[usize], rules: &[Arc<Rule>]) -> Self {
        let mut shelf = Self::default();
        let mut conditional: BTreeMap<_, BTreeMap<_, Vec<usize>>> = BTreeMap::new();
        for (place, rule) in places.iter().filter_map(|place| Some((*place, rules.get(*place)?))) {
            match rule.condition() {
                None => shelf.unconditional.push(place),
                Some(condition) => {
                    let by_head: &mut BTreeMap<_, Vec<usize>> =
                        conditional.entry(condition.argument()).or_default();
                    by_head.entry(condition.head()).or_default().push(place);
                }
            }
        }
        for (argument, by_head) in conditional {
            let mut heads = Prefixes::default();
            by_head.into_iter().for_each(|(head, places)| heads.push(head, places));
            shelf.conditional.push((Box::from(argument), heads));
        }
        shelf
    }

    /// Adds the places of the rules whose condition holds.
    fn look_up(&self, arguments: Option<&Value>, rules: &[Arc<Rule>], places: &mut Vec<usize>) {
        places.extend(&self.unconditional);
        for (argument, heads) in &self.conditional {
            let Some(value) = arguments.and_then(|arguments| arguments.get(&**argument)) else { continue };
            let text = value_text(value);
            let holds = |place: &usize| {
                let condition = rules.get(*place).and_then(|rule| rule.condition());
                condition.is_some_and(|condition| condition.fits(value, &text))
            };
            places.extend(heads.of(&text).flatten().copied().filter(holds));
        }
    }
}
