//! Tests of the form of names; `properties` tests that they are always unique and stable.

use super::{
    PublicName, PublicNames, ServerName, ToolName, check_new_server_name, may_share_names, normalize_server,
    normalize_tool,
};
use crate::explain::Explain as _;
use crate::limits::PUBLIC_NAME_LIMIT;

mod properties;
mod tool_caution;

fn pair(server: &str, tool: &str) -> (ServerName, ToolName) {
    (ServerName::new(server), ToolName::new(tool))
}

/// The public names of the pairs, in the order of the pairs.
fn named(pairs: &[(&str, &str)]) -> Vec<String> {
    let names = PublicNames::assign(pairs.iter().map(|(server, tool)| pair(server, tool)));
    let public = |(server, tool): &(&str, &str)| {
        let (server, tool) = pair(server, tool);
        names.public_name(&server, &tool).unwrap().to_string()
    };
    pairs.iter().map(public).collect()
}

#[test]
fn foreign_characters_become_underscores() {
    // N1
    for (name, server, tool) in [
        ("a b", "a_b", "a_b"),
        ("é.👩‍👧/x", "______x", "______x"),
        ("claude.ai  Foo (Bar) ", "claude_ai_Foo_Bar", "claude_ai__Foo__Bar__"),
        ("claude.ai", "claude_ai", "claude_ai"),
        ("a__b", "a__b", "a__b"),
        ("", "", ""),
    ] {
        let (as_server, as_tool) = pair(name, name);
        assert_eq!((normalize_server(&as_server), normalize_tool(&as_tool)), (server.into(), tool.into()));
    }
}

#[test]
fn a_name_that_fits_and_is_free_stays_plain() {
    // N1 B36
    let pairs = [("git", "status"), ("git", "Status"), ("s", ""), ("", "t"), ("!?", "€")];
    let names = ["mcp__git__status", "mcp__git__Status", "mcp__s__", "mcp____t", "mcp_______"];
    assert_eq!(named(&pairs), names);
}

#[test]
fn every_tool_in_a_collision_gets_a_hash() {
    // N1 B34 B36
    assert_eq!(
        named(&[("a", "b__c"), ("a__b", "c"), ("a", "c")]),
        ["mcp__a__b__c_dbaaa2f5", "mcp__a__b__c_31ffefa8", "mcp__a__c"]
    );
    assert_eq!(named(&[("a b", "t"), ("a_b", "t")]), ["mcp__a_b__t_b28db146", "mcp__a_b__t_c79abbd3"]);
}

#[test]
fn servers_share_names_only_if_one_prefix_continues_the_other() {
    // N1 B34
    let shares = |left: &str, right: &str| may_share_names(&ServerName::new(left), &ServerName::new(right));
    for (left, right) in [("a", "a__b"), ("a", "a_"), ("a b", "a.b"), ("claude.ai a  b", "claude.ai a b")] {
        assert!(shares(left, right) && shares(right, left), "{left} {right}");
    }
    for (left, right) in [("a", "b"), ("a", "ab"), ("a", "a_b"), ("git", "github")] {
        assert!(!shares(left, right) && !shares(right, left), "{left} {right}");
    }
}

#[test]
fn a_long_name_keeps_the_tail_of_the_tool_and_the_head_of_the_server() {
    // N1 B36
    let common = "x".repeat(70);
    let names = named(&[
        ("server", &format!("{common}_first")),
        ("server", &format!("{common}_second")),
        (&"long-server".repeat(10), &"y".repeat(10_000)),
        (&"long-server".repeat(10), "short"),
    ]);
    assert_eq!(
        names,
        [
            "mcp__server__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_first_1e70ae30",
            "mcp__server__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_second_92060a4f",
            "mcp__long-serverlong-__yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy_b4fe8d11",
            "mcp__long-serverlong-serverlong-serverlong-serve__short_e99aca91",
        ]
    );
}

#[test]
fn late_tool_takes_no_name_from_an_earlier_tool() {
    // N1 N11
    let early = PublicNames::assign([pair("a", "b__c")]);
    let late = early.extend([pair("a__b", "c"), pair("a", "b__c")]);
    assert_eq!(late.find_tool("mcp__a__b__c"), early.find_tool("mcp__a__b__c"));
    assert_eq!(late.iter().len(), 2);
    let (server, tool) = pair("a__b", "c");
    assert_eq!(late.public_name(&server, &tool).unwrap().as_str(), "mcp__a__b__c_31ffefa8");
}

#[test]
fn contested_name_is_never_assigned_later() {
    // N1 N11: otherwise a third tool would inherit the rules written for the first two.
    let contested = PublicNames::assign([pair("a b", "t"), pair("a_b", "t")]);
    assert_eq!(contested.extend([pair("a.b", "t")]).find_tool("mcp__a_b__t"), None);
}

#[test]
fn occupying_another_tools_hashed_names_gains_nothing() {
    // N1 B36: a server knows how hashes are made and may squat on them.
    let victim = pair("s", "?");
    let squatters: Vec<_> = (0..6)
        .map(|step| super::ToolNameHash::new(&victim.0, &victim.1).hashed_name(step))
        .map(|name| pair("s", name.strip_prefix("mcp__s__").unwrap()))
        .chain([pair("s", "_")])
        .collect();
    let early = PublicNames::assign(squatters.clone());
    let late = early.extend([victim.clone()]);
    assert_eq!(late.iter().len(), 8);
    assert!(
        squatters
            .iter()
            .all(|(server, tool)| early.public_name(server, tool) == late.public_name(server, tool))
    );

    let together = PublicNames::assign(squatters.iter().cloned().chain([victim]));
    assert_eq!(together.iter().len(), 8);
    assert!(together.iter().all(|(public, ..)| public.as_str().len() <= PUBLIC_NAME_LIMIT));
}

#[test]
fn names_are_serialized_in_the_order_of_public_names() {
    // N2
    let names = PublicNames::assign([pair("z", "t"), pair("a b", "t")]);
    assert_eq!(
        serde_json::to_string(&names).unwrap(),
        r#"[{"public":"mcp__a_b__t","server":"a b","tool":"t"},{"public":"mcp__z__t","server":"z","tool":"t"}]"#
    );
}

#[test]
fn names_for_new_servers_need_no_normalization() {
    // B54
    let longest = "x".repeat(64);
    for name in ["a", "GitHub_2-x", "ide", "proto", &longest] {
        assert_eq!(check_new_server_name(name).unwrap().as_str(), name);
    }
    let endless = "x".repeat(10_000);
    let shown = "x".repeat(64);
    for (name, message, hint) in [
        ("", "a server's name cannot be empty", Some("give the server a short name, such as `github`")),
        (
            &endless,
            &format!("`{shown}…` has 10000 characters; a server's name has at most 64"),
            Some(&*format!("call it `{shown}`")),
        ),
        (
            "../../x",
            "`../../x` contains `.`; a server's name consists of letters, digits, `_` and `-`",
            Some("call it `x`"),
        ),
        (
            "a/b",
            "`a/b` contains `/`; a server's name consists of letters, digits, `_` and `-`",
            Some("call it `a_b`"),
        ),
        (
            "my db",
            "`my db` contains ` `; a server's name consists of letters, digits, `_` and `-`",
            Some("call it `my_db`"),
        ),
        ("🦀", "`🦀` contains `🦀`; a server's name consists of letters, digits, `_` and `-`", None),
        (
            "a\x1b",
            "`a\\x1b` contains `\\x1b`; a server's name consists of letters, digits, `_` and `-`",
            Some("call it `a`"),
        ),
        ("__proto__", "`__proto__` is reserved and cannot name a server", Some("call it `proto-server`")),
        (
            "constructor",
            "`constructor` is reserved and cannot name a server",
            Some("call it `constructor-server`"),
        ),
        ("prototype", "`prototype` is reserved and cannot name a server", Some("call it `prototype-server`")),
        ("mcparley", "`mcparley` is reserved and cannot name a server", Some("call it `mcparley-server`")),
    ] {
        let error = check_new_server_name(name).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.hint().as_deref()), (message, hint));
    }
}

// N3
#[test]
fn tools_of_a_bare_server_have_their_own_names_where_these_are_free() {
    let pair = |server: &str, tool: &str| (ServerName::new(server), ToolName::new(tool));
    let names =
        PublicNames::default().with_bare_servers([ServerName::new("a"), ServerName::new("b")]).extend([
            pair("a", "read file"),
            pair("a", "same"),
            pair("b", "same"),
            pair("a", "mcp__c__x"),
            pair("c", "x"),
        ]);
    let public = |server: &str, tool: &str| {
        names
            .public_name(&ServerName::new(server), &ToolName::new(tool))
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    assert_eq!(public("a", "read file"), "read_file");
    assert_eq!(public("c", "x"), "mcp__c__x");
    for (server, tool) in [("a", "same"), ("b", "same"), ("a", "mcp__c__x")] {
        assert!(public(server, tool).starts_with(&format!("mcp__{server}__")), "{}", public(server, tool));
    }
}

#[test]
fn names_can_be_removed() {
    let pair = |tool: &str| (ServerName::new("a"), ToolName::new(tool));
    let mut names = PublicNames::assign([pair("x"), pair("y")]);
    names.retain(|_, tool| tool.as_str() == "x");
    assert_eq!(names.iter().len(), 1);
    assert!(names.find_tool("mcp__a__y").is_none() && names.find_tool("mcp__a__x").is_some());
}

// B38 A5: tools that the host offers for a server have names that the server's tools cannot have.
#[test]
fn name_reserved_for_the_host_is_not_assigned_to_a_tool() {
    let server = ServerName::new("s");
    let mut names = PublicNames::default();
    names.reserve_for_host(&server, &["authenticate"]);
    assert_eq!(
        names.host_tool_name(&server, "authenticate").map(PublicName::as_str),
        Some("mcp__s__authenticate")
    );
    let names = names.extend([(server.clone(), ToolName::new("authenticate"))]);
    let own = names.public_name(&server, &ToolName::new("authenticate")).unwrap();
    assert!(own.as_str().starts_with("mcp__s__authenticate_"), "{own}");
    assert_eq!(names.find_tool("mcp__s__authenticate"), None);
    // Nor can a tool of another server with the same plain name.
    let other = (ServerName::new("s__authenticate"), ToolName::new(""));
    assert_eq!(names.extend([other]).find_tool("mcp__s__authenticate"), None);
}

// B38 N11
#[test]
fn name_assigned_earlier_does_not_change() {
    let (server, tool) = (ServerName::new("s"), ToolName::new("authenticate"));
    let mut names = PublicNames::assign([(server.clone(), tool.clone())]);
    names.reserve_for_host(&server, &["authenticate"]);
    assert_eq!(names.public_name(&server, &tool).map(PublicName::as_str), Some("mcp__s__authenticate"));
    let ours = names.host_tool_name(&server, "authenticate").unwrap();
    assert!(ours.as_str().starts_with("mcp__s__authenticate_"), "{ours}");
}
