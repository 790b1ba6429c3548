//! What is listed, what waits, and that nothing moves.

use mcparley_model::config::{ServerConfig, Transport};
use mcparley_model::name::ServerName;
use mcparley_model::permission::{Rule, RuleKind, RuleScope};
use mcparley_model::scope::{Origin, Source};
use mcparley_model::settings::Settings;
use mcparley_model::tool::Tool;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;
use crate::catalog::{Assembler, Denials, Seen, SignIn};
use crate::surface::Surface;

fn catalog(servers: &[(&str, &[&str])], deny: &[&str]) -> Catalog {
    let config = ServerConfig::new(Transport::Sdk { name: String::new() });
    let tool = |name: &&str| {
        let meta = json!({ format!("anthropic/{}", name.split('_').next().unwrap()): true });
        let entry = json!({ "name": name, "inputSchema": { "type": "object" }, "_meta": meta });
        Arc::new(Tool::read(&to_raw_value(&entry).unwrap()).unwrap())
    };
    let of =
        |tools: &[&str]| Arc::new(Surface { tools: tools.iter().map(tool).collect(), ..Surface::default() });
    let offered: Vec<_> = servers.iter().map(|(name, tools)| (ServerName::new(name), of(tools))).collect();
    let seen: Vec<Seen<'_>> = offered
        .iter()
        .map(|(name, surface)| Seen { name, config: &config, surface, sign_in: SignIn::Never, trust: None })
        .collect();
    let rule = |text: &&str| {
        Arc::new(
            Rule::parse(RuleKind::Deny, text, Origin::whole(Source::inline("settings")), RuleScope::User)
                .unwrap(),
        )
    };
    let mut assembler = Assembler::default();
    let settings = Settings { rules: deny.iter().map(rule).collect(), ..Settings::default() };
    assembler.under(Denials::new(&settings, offered.iter().map(|(name, _)| name.clone())));
    assembler.assemble(&seen)
}

fn names(entries: &[Arc<Entry>]) -> Vec<&str> {
    entries.iter().map(|entry| entry.name.as_str()).collect()
}

// N10
#[test]
fn what_fits_is_listed_in_the_order_of_the_catalogue() {
    let catalog = catalog(&[("a", &["x", "y"]), ("b", &["z"])], &[]);
    let offer = catalog.offer(&Budget::default());
    assert_eq!(names(&offer.listed), ["mcp__a__x", "mcp__a__y", "mcp__b__z"]);
    assert!(offer.deferred.is_empty());
    assert_eq!(offer.listed_tokens(), offer.listed.iter().map(|entry| entry.tokens()).sum::<u64>());
    assert!(offer.listed_tokens() > 0);
}

// P3
#[test]
fn what_a_rule_denies_whatever_its_arguments_is_not_listed() {
    let deny = ["mcp__a__x", "mcp__b(path:/etc/*)", "mcp__c"];
    let catalog = catalog(&[("a", &["x", "y"]), ("b", &["z"]), ("c", &["v", "w"])], &deny);
    let offer = catalog.offer(&Budget::unlimited());
    assert_eq!(names(&offer.listed), ["mcp__a__y", "mcp__b__z"]);
    assert_eq!(names(&offer.denied), ["mcp__a__x", "mcp__c__v", "mcp__c__w"]);
}

// N11
#[test]
fn what_a_conversation_was_shown_stays_first_and_in_its_order() {
    let catalog = catalog(&[("a", &["x", "y"]), ("b", &["z"])], &[]);
    let offer =
        catalog.offer(&Budget::default()).after(["mcp__b__z", "mcp__gone__x", "mcp__a__y", "mcp__b__z"]);
    assert_eq!(names(&offer.listed), ["mcp__b__z", "mcp__a__y", "mcp__a__x"]);
}

/// The tools of both servers, of which `a` has one that is always listed and one that never is.
fn mixed() -> Catalog {
    catalog(&[("a", &["x", "alwaysLoad_y", "deferLoading_z"]), ("b", &["v", "w"])], &[])
}

// N5 N9 N10
#[test]
fn what_does_not_fit_waits_for_a_search_unless_it_is_always_loaded() {
    let offer = mixed().offer(&Budget::tokens(10));
    assert_eq!(names(&offer.listed), ["mcp__a__alwaysLoad_y", "ToolSearch"]);
    assert_eq!(names(&offer.deferred), ["mcp__a__x", "mcp__a__deferLoading_z", "mcp__b__v", "mcp__b__w"]);
    assert_eq!(names(&mixed().offer(&Budget::always_defer()).listed), names(&offer.listed));
    assert!(offer.deferred_tokens() > 10);
}

// N5 N10
#[test]
fn what_wants_to_be_deferred_is_even_when_everything_fits() {
    let offer = mixed().offer(&Budget::unlimited());
    assert_eq!(names(&offer.deferred), ["mcp__a__deferLoading_z"]);
    assert!(names(&offer.listed).contains(&"ToolSearch"));
    // What is not listed takes no room.
    let needed = offer.listed_tokens() - mixed().get("ToolSearch").unwrap().tokens();
    assert_eq!(names(&mixed().offer(&Budget::tokens(needed)).listed), names(&offer.listed));
    assert_eq!(mixed().offer(&Budget::tokens(needed - 1)).deferred.len(), 4);
}

// N10
#[test]
fn without_a_way_to_search_everything_is_listed() {
    let catalog = catalog(&[("a", &["x", "deferLoading_z"])], &["ToolSearch"]);
    let offer = catalog.offer(&Budget::always_defer());
    assert_eq!(names(&offer.listed), ["mcp__a__x", "mcp__a__deferLoading_z"]);
    assert_eq!(names(&offer.denied), ["ToolSearch"]);
}

// N10 N11
#[test]
fn what_a_search_found_is_listed_from_then_on_behind_the_rest() {
    let offer = mixed().offer(&Budget::always_defer()).with_found([
        "mcp__b__w",
        "mcp__a__x",
        "mcp__none__x",
        "mcp__b__w",
    ]);
    assert_eq!(names(&offer.listed), ["mcp__a__alwaysLoad_y", "ToolSearch", "mcp__b__w", "mcp__a__x"]);
    assert_eq!(names(&offer.deferred), ["mcp__a__deferLoading_z", "mcp__b__v"]);
}

// N11
#[test]
fn a_server_that_comes_late_takes_nothing_away_that_was_listed() {
    let small = catalog(&[("a", &["x", "y"])], &[]);
    let early = small.offer(&Budget::tokens(100));
    assert_eq!(names(&early.listed), ["mcp__a__x", "mcp__a__y"]);
    let large = catalog(&[("a", &["x", "y"]), ("b", &["1", "2", "3", "4", "5", "6"])], &[]);
    let late = large.offer(&Budget::tokens(100)).after(names(&early.listed));
    assert_eq!(names(&late.listed), ["mcp__a__x", "mcp__a__y", "ToolSearch"]);
    assert_eq!(late.deferred.len(), 6);
    // When it goes again the list stays, the search included.
    let again = small.offer(&Budget::tokens(100)).after(names(&late.listed));
    assert_eq!(names(&again.listed), names(&late.listed));
}
