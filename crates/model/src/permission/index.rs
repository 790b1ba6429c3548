//! An index of permission rules, which finds the rules that can match a call without checking each rule.
//!
//! Each rule is indexed by the literal prefix of the names it matches, and within that by the literal
//! prefix of its argument. The index only excludes rules that cannot match: a candidate rule still decides
//! itself whether it matches the call.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::prefixes::PrefixMap;
use super::rule::{PermissionRule, value_text};
use super::subject::NormalizedSubject;

/// The key under which a rule is indexed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleIndexKey {
    /// The prefix of server and tool, normalized and joined as in a public name.
    Pair(String),
    /// The prefix of the tool's normalized name, where many servers may match.
    Tool(String),
    /// The prefix of the server's name, original or normalized, where many servers and all tools may match.
    Server(String),
    /// Digits of the hash of the original names.
    Hash(String),
}

/// The rules by the prefixes of the names they can match.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleIndex {
    pairs: PrefixMap<RuleBucket>,
    tools: PrefixMap<RuleBucket>,
    servers: PrefixMap<RuleBucket>,
    hashes: PrefixMap<RuleBucket>,
}

/// The indexes of the rules under one key.
#[derive(Clone, Debug, Default)]
struct RuleBucket {
    unconditional: Vec<usize>,
    /// The argument of the condition, and the rules by the prefix of its value.
    conditional: Vec<(Box<str>, PrefixMap<Vec<usize>>)>,
}

impl RuleIndex {
    pub(super) fn new(rules: &[Arc<PermissionRule>]) -> Self {
        let mut places: BTreeMap<RuleIndexKey, Vec<usize>> = BTreeMap::new();
        for (place, rule) in rules.iter().enumerate() {
            for key in rule.index_keys() {
                places.entry(key).or_default().push(place);
            }
        }
        let mut index = Self::default();
        for (key, places) in places {
            let shelf = RuleBucket::new(&places, rules);
            match key {
                RuleIndexKey::Pair(text) => index.pairs.push_prefix(&text, shelf),
                RuleIndexKey::Tool(text) => index.tools.push_prefix(&text, shelf),
                RuleIndexKey::Server(text) => index.servers.push_prefix(&text, shelf),
                RuleIndexKey::Hash(digits) => index.hashes.push_prefix(&digits, shelf),
            }
        }
        index
    }

    /// The rules that can match the subject and have a condition that holds, in their order.
    pub(super) fn candidate_rules<'r>(
        &self,
        subject: &NormalizedSubject<'_>,
        rules: &'r [Arc<PermissionRule>],
    ) -> Vec<&'r Arc<PermissionRule>> {
        let mut places = Vec::new();
        let mut look_at = |shelves: &PrefixMap<RuleBucket>, name: &str| {
            for shelf in shelves.find_values(name) {
                shelf.collect_matches(subject.subject.arguments, rules, &mut places);
            }
        };
        look_at(&self.pairs, &subject.joined_name());
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

impl RuleBucket {
    fn new(places: &[usize], rules: &[Arc<PermissionRule>]) -> Self {
        let mut shelf = Self::default();
        let mut conditional: BTreeMap<_, BTreeMap<_, Vec<usize>>> = BTreeMap::new();
        for (place, rule) in places.iter().filter_map(|place| Some((*place, rules.get(*place)?))) {
            match rule.condition() {
                None => shelf.unconditional.push(place),
                Some(condition) => {
                    let by_head: &mut BTreeMap<_, Vec<usize>> =
                        conditional.entry(condition.argument()).or_default();
                    by_head.entry(condition.literal_prefix()).or_default().push(place);
                }
            }
        }
        for (argument, by_head) in conditional {
            let mut heads = PrefixMap::default();
            by_head.into_iter().for_each(|(head, places)| heads.push_prefix(head, places));
            shelf.conditional.push((Box::from(argument), heads));
        }
        shelf
    }

    /// Adds the indexes of the rules with a condition that holds.
    fn collect_matches(
        &self,
        arguments: Option<&Value>,
        rules: &[Arc<PermissionRule>],
        places: &mut Vec<usize>,
    ) {
        places.extend(&self.unconditional);
        for (argument, heads) in &self.conditional {
            let Some(value) = arguments.and_then(|arguments| arguments.get(&**argument)) else { continue };
            let text = value_text(value);
            let holds = |place: &usize| {
                let condition = rules.get(*place).and_then(|rule| rule.condition());
                condition.is_some_and(|condition| condition.matches_value(value, &text))
            };
            places.extend(heads.find_values(&text).flatten().copied().filter(holds));
        }
    }
}
