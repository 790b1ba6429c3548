//! Search results, their order, and tools that are never found.

use mcparley_model::config::{ServerConfig, TransportConfig};
use mcparley_model::permission::{PermissionRule, RuleKind, RuleScope};
use mcparley_model::scope::{ConfigOrigin, Source};
use mcparley_model::settings::MergedSettings;
use mcparley_model::text::hidden_count;
use mcparley_model::tool::Tool;
use proptest::prelude::*;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::*;
use crate::assemble::{Assembler, ServerTools};
use crate::denial::CatalogDenials;

pub(super) fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

pub(super) fn catalog(servers: &[(&str, Vec<Value>)]) -> Catalog {
    assemble(&mut Assembler::default(), servers)
}

fn denying(rule: &str, servers: &[(&str, Vec<Value>)]) -> Catalog {
    let origin = ConfigOrigin::for_source(Source::from_label("settings"));
    let rule = PermissionRule::parse(RuleKind::Deny, rule, origin, RuleScope::User).unwrap();
    let mut assembler = Assembler::default();
    let settings = MergedSettings { rules: vec![Arc::new(rule)], ..MergedSettings::default() };
    assembler
        .set_denials(CatalogDenials::new(&settings, servers.iter().map(|(name, _)| ServerName::new(name))));
    assemble(&mut assembler, servers)
}

pub(super) fn assemble(assembler: &mut Assembler, servers: &[(&str, Vec<Value>)]) -> Catalog {
    let config = ServerConfig::new(TransportConfig::Sdk { name: String::new() });
    let read = |entry: &Value| Arc::new(Tool::parse(&to_raw_value(entry).unwrap()).unwrap());
    let surface = |tools: &[Value]| tools.iter().map(read).collect::<Vec<Arc<Tool>>>();
    let offered: Vec<_> =
        servers.iter().map(|(name, tools)| (ServerName::new(name), surface(tools))).collect();
    let seen: Vec<ServerTools<'_>> =
        offered.iter().map(|(name, surface)| ServerTools::new(name, &config, surface)).collect();
    assembler.assemble(&seen)
}

pub(super) fn found(catalog: &Catalog, query: &str) -> Vec<String> {
    let found = catalog.search_tools(&SearchQuery::new(query));
    found.tools.iter().map(|entry| entry.name.to_string()).collect()
}

fn tracker() -> (&'static str, Vec<Value>) {
    let tools = vec![
        tool("list_issues", "Lists issues."),
        tool("createIssue", "Creates an issue."),
        tool("comment", "Says something about an issue."),
        tool("close", "Ends it."),
    ];
    ("tracker", tools)
}

// N10
#[test]
fn match_in_the_name_ranks_before_match_in_the_description() {
    let catalog = catalog(&[tracker()]);
    assert_eq!(found(&catalog, "create issues")[0], "mcp__tracker__createIssue");
    assert_eq!(found(&catalog, "listing of an ISSUE")[0], "mcp__tracker__list_issues");
    assert_eq!(found(&catalog, "ticket").len(), 3, "a synonym");
    assert_eq!(found(&catalog, "comm"), ["mcp__tracker__comment"], "a beginning");
    assert_eq!(found(&catalog, "the"), Vec::<String>::new());
    assert_eq!(found(&catalog, ""), Vec::<String>::new());
}

// N10
#[test]
fn tool_whose_verb_contradicts_the_query_ranks_below_an_otherwise_equal_one() {
    let store = |name: &str| tool(name, "Works on a file of the store.");
    let catalog =
        catalog(&[("store", vec![store("delete_file"), store("inspect_file"), store("upload_file")])]);
    assert_eq!(
        found(&catalog, "upload a file"),
        ["mcp__store__upload_file", "mcp__store__inspect_file", "mcp__store__delete_file"]
    );
    let created = found(&catalog, "create file");
    assert_eq!(created.last().unwrap(), "mcp__store__delete_file", "{created:?}");
    let removed = found(&catalog, "remove a file");
    assert_eq!(
        (removed[0].as_str(), removed[2].as_str()),
        ("mcp__store__delete_file", "mcp__store__upload_file")
    );
}

// N10 N11
#[test]
fn equal_matches_are_in_catalog_order() {
    let same = |name: &str| tool(name, "Waters plants.");
    let catalog = catalog(&[("b", vec![same("x"), same("y")]), ("a", vec![same("z")])]);
    assert_eq!(found(&catalog, "plants"), ["mcp__b__x", "mcp__b__y", "mcp__a__z"]);
}

// N10
#[test]
fn tool_whose_name_or_title_is_the_query_is_first() {
    let titled = |name: &str, title: &str| json!({ "name": name, "title": title, "description": "User of the list, by user.", "inputSchema": {} });
    let users = vec![
        tool("get_user_list", "Gets the user list of a user: get user, get user."),
        tool("get_user", "Returns one."),
        titled("find", "List my users"),
        tool("list_my_users", "Lists."),
        tool("do_it", "Runs."),
    ];
    let catalog = catalog(&[("people", users), ("list", vec![tool("getUser", "Another one.")])]);
    for (query, first) in [
        ("get_user", "mcp__people__get_user"),
        ("getUser", "mcp__list__getUser"),
        ("Get user", "mcp__people__get_user"),
        ("list get user", "mcp__list__getUser"),
        ("mcp__list__getUser", "mcp__list__getUser"),
        ("people__get_user", "mcp__people__get_user"),
        ("list my users", "mcp__people__list_my_users"),
        ("do it", "mcp__people__do_it"),
    ] {
        assert_eq!(found(&catalog, query)[0], first, "{query}");
    }
    let titled = catalog.search_tools(&SearchQuery::new("List my users"));
    let names: Vec<&str> = titled.tools.iter().map(|entry| entry.tool.name.as_str()).collect();
    assert_eq!(names[..2], ["list_my_users", "find"], "a name before a title, a title before the rest");
}

// N10
#[test]
fn word_itself_counts_more_than_another_form_of_it() {
    let tools = vec![
        tool("get_directions", "Shows the way."),
        tool("find_movies", "Movies that someone directed, with actors."),
    ];
    let catalog = catalog(&[("s", tools)]);
    assert_eq!(found(&catalog, "a movie directed by a friend")[0], "mcp__s__find_movies");
    assert_eq!(found(&catalog, "direction").len(), 2);
}

// N10
#[test]
fn repeated_words_of_a_request_count_once() {
    let tools = vec![tool("send_mail", "Sends."), tool("hello", "Greets.")];
    let catalog = catalog(&[("s", tools)]);
    assert_eq!(
        found(&catalog, "hello hello hello hello, mail this, send it"),
        found(&catalog, "hello mail send")
    );
}

// N10
#[test]
fn built_in_tools_are_found_by_name_only() {
    let catalog = assemble(
        &mut Assembler::default().with_stored_results(true),
        &[("notes", vec![tool("read_page", "Reads a part of a result.")])],
    );
    assert_eq!(found(&catalog, "read a part of a result"), ["mcp__notes__read_page"]);
    assert_eq!(found(&catalog, "select:ReadResult"), ["ReadResult"]);
}

// N5 N10
#[test]
fn hints_titles_and_arguments_are_searched_too() {
    let tools = vec![
        json!({ "name": "a", "inputSchema": { "type": "object" }, "_meta": { "anthropic/searchHint": " forecast\n rain " } }),
        json!({ "name": "b", "inputSchema": { "type": "object" }, "title": "Sunshine" }),
        json!({ "name": "c", "inputSchema": { "type": "object", "properties": { "wind_speed": {
            "type": "array", "items": { "properties": { "unit": { "description": "knots", "enum": ["beaufort"] } } } } } } }),
    ];
    let catalog = catalog(&[("s", tools)]);
    assert_eq!(found(&catalog, "rain forecast"), ["mcp__s__a"]);
    assert_eq!(found(&catalog, "sunshine"), ["mcp__s__b"]);
    assert_eq!(found(&catalog, "windspeed"), ["mcp__s__c"]);
    assert_eq!(found(&catalog, "knots"), ["mcp__s__c"]);
    assert_eq!(found(&catalog, "beaufort"), ["mcp__s__c"]);
}

// N10
#[test]
fn plus_word_must_be_in_the_tool_or_server_name() {
    let chat = ("chat", vec![tool("send", "Sends a message about an issue."), tool("list_rooms", "Lists.")]);
    let catalog = catalog(&[tracker(), chat]);
    assert_eq!(found(&catalog, "+chat issue"), ["mcp__chat__send", "mcp__chat__list_rooms"]);
    assert_eq!(found(&catalog, "+list +room"), ["mcp__chat__list_rooms"]);
    assert_eq!(found(&catalog, "+message"), Vec::<String>::new());
}

// N10
#[test]
fn select_finds_tools_by_name_and_reports_unresolved_names() {
    let catalog = catalog(&[tracker(), ("other", vec![tool("close", ""), tool("open.it", "")])]);
    let query = SearchQuery::new(
        "select: mcp__tracker__close, open.it,mcp__other__open_it,close,mcp__tracker__clsoe,",
    );
    let SearchResults { tools, more, unfound } = catalog.search_tools(&query);
    let names: Vec<&str> = tools.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!((names, more), (vec!["mcp__tracker__close", "mcp__other__open_it"], 0));
    let [ambiguous, unknown] = unfound.as_slice() else { panic!("{unfound:?}") };
    let both = ["mcp__tracker__close", "mcp__other__close"];
    let UnresolvedName::Ambiguous { name, candidates } = ambiguous else { panic!("{ambiguous:?}") };
    assert_eq!(
        (name.as_str(), candidates.iter().map(PublicName::as_str).collect::<Vec<_>>()),
        ("close", both.to_vec())
    );
    let UnresolvedName::Unknown { name, similar } = unknown else { panic!("{unknown:?}") };
    assert_eq!((name.as_str(), similar[0].as_str()), ("mcp__tracker__clsoe", "mcp__tracker__close"));
}

// N10
#[test]
fn results_are_limited_and_further_matches_counted() {
    let tools = (0..80).map(|number| tool(&format!("water_{number}"), "")).collect();
    let catalog = catalog(&[("garden", tools)]);
    let count = |query: SearchQuery| {
        let found = catalog.search_tools(&query);
        (found.tools.len(), found.more)
    };
    assert_eq!(count(SearchQuery::new("water")), (8, 72));
    assert_eq!(count(SearchQuery::new("water").with_limit(1000)), (50, 30));
    assert_eq!(count(SearchQuery::new("water").with_limit(0)), (1, 79));
    assert_eq!(count(SearchQuery::new("water").for_server(ServerName::new("house"))), (0, 0));
    let names: Vec<String> = (0..60).map(|number| format!("water_{number}")).collect();
    assert_eq!(count(SearchQuery::new(&format!("select:{}", names.join(",")))), (50, 10));
}

// N10 P3
#[test]
fn entirely_denied_tool_is_neither_found_nor_suggested() {
    let catalog = denying("mcp__tracker__c*", &[tracker()]);
    assert_eq!(found(&catalog, "create comment issue"), ["mcp__tracker__list_issues"]);
    let selected = catalog.search_tools(&SearchQuery::new("select:mcp__tracker__close,close"));
    assert!(selected.tools.is_empty());
    assert_eq!(selected.unfound.len(), 2);
    assert!(!format!("{:?}", selected.unfound).contains("mcp__tracker__c\""), "{:?}", selected.unfound);
    let similar = |unfound: &UnresolvedName| match unfound {
        UnresolvedName::Unknown { similar, .. } => similar.clone(),
        UnresolvedName::Ambiguous { .. } => panic!("{unfound:?}"),
    };
    assert!(selected.unfound.iter().flat_map(similar).all(|name| name == "mcp__tracker__list_issues"));
}

// N7 B41 B42 B43
#[test]
fn hidden_characters_are_ignored() {
    let tools = vec![json!({
        "name": "del\u{200b}ete", "description": "Era\u{200d}ses a \u{202e}note\u{e0041}.",
        "inputSchema": { "type": "object", "properties": { "pa\u{2060}th": { "description": "wh\u{feff}ere" } } },
        "_meta": { "anthropic/searchHint": "shred\u{200b}der" },
    })];
    let catalog = catalog(&[("no\u{200b}tes", tools)]);
    for query in ["delete", "erases", "path", "shredder", "del\u{200b}ete", "+notes"] {
        assert_eq!(found(&catalog, query).len(), 1, "{query:?}");
    }
    let index = format!("{:?}", catalog.index());
    assert_eq!(hidden_count(&index), 0);
    assert!(!index.contains("\\u{"), "{index}");
}

// N11
#[test]
fn index_is_rebuilt_only_when_a_tool_changes() {
    let mut assembler = Assembler::default();
    let (name, config) =
        (ServerName::new("a"), ServerConfig::new(TransportConfig::Sdk { name: String::new() }));
    let seen = [ServerTools::new(&name, &config, &[])];
    let (first, second) = (assembler.assemble(&seen), assembler.assemble(&seen));
    assert!(Arc::ptr_eq(&first.index, &second.index));
    let third = assemble(&mut assembler, &[tracker()]);
    assert!(!Arc::ptr_eq(&second.index, &third.index));
}

proptest! {
    // N10
    #[test]
    fn every_tool_is_found_by_its_public_name(names in prop::collection::hash_set("[a-zA-Z0-9_. -]{1,80}", 1..20)) {
        let tools = |from: usize| names.iter().skip(from).map(|name| tool(name, "")).collect::<Vec<_>>();
        let catalog = catalog(&[("a", tools(0)), ("a b", tools(1))]);
        let of_servers: Vec<_> = catalog.iter().filter(|entry| entry.server().is_some()).collect();
        prop_assert_eq!(of_servers.len(), 2 * names.len() - 1);
        for entry in of_servers {
            let found = catalog.search_tools(&SearchQuery::new(&format!("select:{}", entry.name)));
            prop_assert!(found.unfound.is_empty());
            prop_assert_eq!(found.tools.len(), 1);
            prop_assert!(Arc::ptr_eq(&found.tools[0], entry));
        }
    }

    // N10 N11
    #[test]
    fn same_query_gives_the_same_results(words in "[a-z +]{0,40}", descriptions in prop::collection::vec("[a-z ]{0,60}", 1..30)) {
        let tools = || descriptions.iter().enumerate().map(|(at, text)| tool(&format!("t{at}"), text)).collect();
        let (one, other) = (catalog(&[("s", tools())]), catalog(&[("s", tools())]));
        prop_assert_eq!(found(&one, &words), found(&other, &words));
        prop_assert_eq!(found(&one, &words), found(&one, &words));
    }
}
