//! Shows that every catalogue, however hostile, gets unique, valid and stable names.

use std::collections::HashSet;

use proptest::prelude::*;

use super::super::{Names, ServerName, ToolName};

/// Names that collide often: few letters, many separators, sometimes far too long.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[ab_. ]{0,4}",
        1 => "[ab]{20}[ab_.]{30,60}",
        1 => "\\PC{0,6}",
        1 => "claude\\.ai [a_. ]{0,5}",
    ]
}

fn pairs() -> impl Strategy<Value = Vec<(ServerName, ToolName)>> {
    let pair = (part(), part()).prop_map(|(server, tool)| (ServerName::new(&server), ToolName::new(&tool)));
    prop::collection::vec(pair, 0..10)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn every_tool_has_a_valid_name_of_its_own(pairs in pairs()) {
        // N1 B36
        let names = Names::assign(pairs.clone());
        let distinct: HashSet<_> = pairs.iter().collect();
        prop_assert_eq!(names.iter().len(), distinct.len());
        for (server, tool) in &pairs {
            let public = names.public(server, tool).unwrap().as_str();
            prop_assert_eq!(names.original(public), Some((server, tool)));
            prop_assert!(public.len() <= 64);
            prop_assert!(public.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
        }
    }

    #[test]
    fn the_order_of_arrival_decides_nothing(
        (pairs, shuffled) in pairs().prop_flat_map(|pairs| (Just(pairs.clone()), Just(pairs).prop_shuffle())),
    ) {
        // N1 B36
        prop_assert_eq!(Names::assign(pairs), Names::assign(shuffled));
    }

    #[test]
    fn late_arrivals_change_no_name(early in pairs(), late in pairs()) {
        // N1 N11
        let before = Names::assign(early.clone());
        let after = before.extend(late.clone());
        for (public, server, tool) in before.iter() {
            prop_assert_eq!(after.public(server, tool), Some(public));
        }
        let distinct: HashSet<_> = early.iter().chain(&late).collect();
        prop_assert_eq!(after.iter().len(), distinct.len());
    }
}
