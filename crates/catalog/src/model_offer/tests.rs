//! Listed and deferred tools, and their stable order.

use mcparley_model::config::{ServerConfig, TransportConfig};
use mcparley_model::name::ServerName;
use mcparley_model::permission::{PermissionRule, RuleKind, RuleScope};
use mcparley_model::scope::{ConfigOrigin, Source};
use mcparley_model::settings::MergedSettings;
use mcparley_model::tool::Tool;
use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;
use crate::assemble::{Assembler, ServerTools};
use crate::denial::CatalogDenials;

fn catalog(servers: &[(&str, &[&str])], deny: &[&str]) -> Catalog {
    let config = ServerConfig::new(TransportConfig::Sdk { name: String::new() });
    let tool = |name: &&str| {
        let meta = json!({ format!("anthropic/{}", name.split('_').next().unwrap()): true });
        let entry = json!({ "name": name, "inputSchema": { "type": "object" }, "_meta": meta });
        Arc::new(Tool::parse(&to_raw_value(&entry).unwrap()).unwrap())
    };
    let of = |tools: &[&str]| tools.iter().map(tool).collect::<Vec<Arc<Tool>>>();
    let offered: Vec<_> = servers.iter().map(|(name, tools)| (ServerName::new(name), of(tools))).collect();
    let seen: Vec<ServerTools<'_>> =
        offered.iter().map(|(name, surface)| ServerTools::new(name, &config, surface)).collect();
    let rule = |text: &&str| {
        Arc::new(
            PermissionRule::parse(
                RuleKind::Deny,
                text,
                ConfigOrigin::for_source(Source::from_label("settings")),
                RuleScope::User,
            )
            .unwrap(),
        )
    };
    let mut assembler = Assembler::default();
    let settings = MergedSettings { rules: deny.iter().map(rule).collect(), ..MergedSettings::default() };
    assembler.set_denials(CatalogDenials::new(&settings, offered.iter().map(|(name, _)| name.clone())));
    assembler.assemble(&seen)
}

fn names(entries: &[Arc<CatalogEntry>]) -> Vec<&str> {
    entries.iter().map(|entry| entry.name.as_str()).collect()
}

// N10
#[test]
fn fitting_tools_are_listed_in_catalog_order() {
    let catalog = catalog(&[("a", &["x", "y"]), ("b", &["z"])], &[]);
    let offer = catalog.model_offer(&Budget::default());
    assert_eq!(names(&offer.listed), ["mcp__a__x", "mcp__a__y", "mcp__b__z"]);
    assert!(offer.deferred.is_empty());
    assert_eq!(offer.listed_tokens(), offer.listed.iter().map(|entry| entry.tokens()).sum::<u64>());
    assert!(offer.listed_tokens() > 0);
}

// P3
#[test]
fn entirely_denied_tool_is_not_listed() {
    let deny = ["mcp__a__x", "mcp__b(path:/etc/*)", "mcp__c"];
    let catalog = catalog(&[("a", &["x", "y"]), ("b", &["z"]), ("c", &["v", "w"])], &deny);
    let offer = catalog.model_offer(&Budget::without_limit());
    assert_eq!(names(&offer.listed), ["mcp__a__y", "mcp__b__z"]);
    assert_eq!(names(&offer.denied), ["mcp__a__x", "mcp__c__v", "mcp__c__w"]);
}

// N11
#[test]
fn earlier_tools_stay_first_in_their_order() {
    let catalog = catalog(&[("a", &["x", "y"]), ("b", &["z"])], &[]);
    let offer = catalog.model_offer(&Budget::default()).with_earlier([
        "mcp__b__z",
        "mcp__gone__x",
        "mcp__a__y",
        "mcp__b__z",
    ]);
    assert_eq!(names(&offer.listed), ["mcp__b__z", "mcp__a__y", "mcp__a__x"]);
}

/// The tools of both servers; `a` has one with `alwaysLoad` and one with deferred loading.
fn mixed() -> Catalog {
    catalog(&[("a", &["x", "alwaysLoad_y", "deferLoading_z"]), ("b", &["v", "w"])], &[])
}

// N5 N9 N10
#[test]
fn tools_beyond_the_budget_are_deferred_unless_always_loaded() {
    let offer = mixed().model_offer(&Budget::with_tokens(10));
    assert_eq!(names(&offer.listed), ["mcp__a__alwaysLoad_y", "ToolSearch"]);
    assert_eq!(names(&offer.deferred), ["mcp__a__x", "mcp__a__deferLoading_z", "mcp__b__v", "mcp__b__w"]);
    assert_eq!(names(&mixed().model_offer(&Budget::always_defer()).listed), names(&offer.listed));
    assert!(offer.deferred_tokens() > 10);
}

// N5 N10
#[test]
fn deferred_loading_applies_even_if_all_tools_fit() {
    let offer = mixed().model_offer(&Budget::without_limit());
    assert_eq!(names(&offer.deferred), ["mcp__a__deferLoading_z"]);
    assert!(names(&offer.listed).contains(&"ToolSearch"));
    // Deferred tools do not count against the budget.
    let needed = offer.listed_tokens() - mixed().get("ToolSearch").unwrap().tokens();
    assert_eq!(names(&mixed().model_offer(&Budget::with_tokens(needed)).listed), names(&offer.listed));
    assert_eq!(mixed().model_offer(&Budget::with_tokens(needed - 1)).deferred.len(), 4);
}

// N10
#[test]
fn all_tools_are_listed_if_search_is_denied() {
    let catalog = catalog(&[("a", &["x", "deferLoading_z"])], &["ToolSearch"]);
    let offer = catalog.model_offer(&Budget::always_defer());
    assert_eq!(names(&offer.listed), ["mcp__a__x", "mcp__a__deferLoading_z"]);
    assert_eq!(names(&offer.denied), ["ToolSearch"]);
}

// N10 N11
#[test]
fn found_tools_are_listed_behind_the_others() {
    let offer = mixed().model_offer(&Budget::always_defer()).with_found([
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
fn late_server_does_not_remove_listed_tools() {
    let small = catalog(&[("a", &["x", "y"])], &[]);
    let early = small.model_offer(&Budget::with_tokens(100));
    assert_eq!(names(&early.listed), ["mcp__a__x", "mcp__a__y"]);
    let large = catalog(&[("a", &["x", "y"]), ("b", &["1", "2", "3", "4", "5", "6"])], &[]);
    let late = large.model_offer(&Budget::with_tokens(100)).with_earlier(names(&early.listed));
    assert_eq!(names(&late.listed), ["mcp__a__x", "mcp__a__y", "ToolSearch"]);
    assert_eq!(late.deferred.len(), 6);
    // When the server leaves, the list stays, `ToolSearch` included.
    let again = small.model_offer(&Budget::with_tokens(100)).with_earlier(names(&late.listed));
    assert_eq!(names(&again.listed), names(&late.listed));
}
