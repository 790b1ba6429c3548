//! `skills` against real servers: with the extension and without it.

use mcparley_cli::exit;
use serde_json::{Value, json};

use crate::talk::scripted;
use crate::world::World;

const TEXT: &str = "---\nname: refunds\ndescription: Give money back\n---\n\nAsk first.\n";
const DIGEST: &str = "sha256:a340724d32fbe90ace7de1e13917b42a1e6c1486cbcd33c4897e268dfe26e49c";

/// A world whose server answers so.
fn world(offers: &Value) -> World {
    let world = World::new();
    world.write("offers.json", &offers.to_string());
    let server = scripted(&[&format!("offers:{}", world.root.join("offers.json").display())]);
    world.write("home/.claude.json", &json!({ "mcpServers": { "acme": server } }).to_string());
    world
}

fn contents(uri: &str, text: &str) -> Value {
    json!({ "contents": [{ "uri": uri, "text": text }] })
}

fn listed(digest: &str) -> Value {
    let (main, mail) = ("skill://acme/refunds/SKILL.md", "skill://acme/refunds/mail.md");
    let files = json!([
        { "uri": main, "digest": digest, "size": TEXT.len() },
        { "uri": mail, "digest": format!("sha256:{}", "0".repeat(64)), "size": 4 },
    ]);
    let front_matter = json!({ "name": "refunds", "description": "Give money back" });
    json!({
        "skills/list": { "skills": [{ "uri": main, "frontmatter": front_matter, "resources": files }] },
        "resources/list": { "resources": [{ "uri": main, "name": "refunds" }, { "uri": "a:b", "name": "other" }] },
        "resources/read": { main: contents(main, TEXT), mail: contents(mail, "Dear") },
    })
}

// X2 U2
#[test]
fn skills_of_the_extension_are_listed_and_read_as_they_are_listed() {
    let world = world(&listed(DIGEST));
    assert_eq!(world.ok(&["skills"]), "acme  refunds  Give money back\n");
    assert_eq!(world.ok(&["resources"]), "acme  a:b  other\n", "a skill is no resource");
    assert_eq!(world.ok(&["skills", "acme", "refunds"]), TEXT);
    assert_eq!(world.json(&["skills", "acme", "refunds"])["frontMatter"]["name"], "refunds");
    let done = world.mcparley(&["skills", "acme", "refunds", "mail.md"]);
    assert_eq!(done.code, i32::from(exit::UNREACHABLE.number));
    assert!(done.err.contains("does not match its entry: it has another digest"), "{done:?}");
    let outside = world.mcparley(&["skills", "acme", "refunds", "../x"]);
    assert!(outside.err.contains("`../x` is not a file of the skill"), "{outside:?}");
    assert_eq!(world.mcparley(&["skills", "acme", "nothing"]).code, i32::from(exit::NOT_FOUND.number));
}

// X2
#[test]
fn a_skill_that_differs_from_its_listing_is_not_read() {
    let mut offers = listed(DIGEST);
    offers["skills/list"]["skills"][0]["frontmatter"]["description"] = json!("Harmless");
    let done = world(&offers).mcparley(&["skills", "acme", "refunds"]);
    assert!(done.out.is_empty() && done.err.contains("another front matter"), "{done:?}");
}

// X2
#[test]
fn without_the_extension_resources_of_the_skill_scheme_are_skills() {
    let main = "skill://tips/SKILL.md";
    let offers = json!({
        "resources/list": { "resources": [{ "uri": main, "name": "x", "description": "Some tips" }] },
        "resources/read": { main: contents(main, "Be\u{200b} kind."), "skill://tips/a.md": contents("skill://tips/a.md", "A") },
    });
    let world = world(&offers);
    assert_eq!(world.ok(&["skills", "acme"]), "acme  tips  Some tips\n");
    assert_eq!(world.ok(&["skills", "acme", "tips"]), "Be kind.\n");
    assert_eq!(world.ok(&["skills", "acme", "tips", "a.md"]), "A\n");
}
