//! Tests that every catalog, however hostile, gets unique, valid and stable names.

use std::collections::HashSet;

use proptest::prelude::*;

use super::super::{PublicNames, ServerName, ToolName};

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
        let names = PublicNames::assign(pairs.clone());
        let distinct: HashSet<_> = pairs.iter().collect();
        prop_assert_eq!(names.iter().len(), distinct.len());
        for (server, tool) in &pairs {
            let public = names.public_name(server, tool).unwrap().as_str();
            prop_assert_eq!(names.find_tool(public), Some((server, tool)));
            prop_assert!(public.len() <= 64);
            prop_assert!(public.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
        }
    }

    #[test]
    fn assignment_is_independent_of_the_order_of_arrival(
        (pairs, shuffled) in pairs().prop_flat_map(|pairs| (Just(pairs.clone()), Just(pairs).prop_shuffle())),
    ) {
        // N1 B36
        prop_assert_eq!(PublicNames::assign(pairs), PublicNames::assign(shuffled));
    }

    #[test]
    fn late_tools_change_no_assigned_name(early in pairs(), late in pairs()) {
        // N1 N11
        let before = PublicNames::assign(early.clone());
        let after = before.extend(late.clone());
        for (public, server, tool) in before.iter() {
            prop_assert_eq!(after.public_name(server, tool), Some(public));
        }
        let distinct: HashSet<_> = early.iter().chain(&late).collect();
        prop_assert_eq!(after.iter().len(), distinct.len());
    }
}
