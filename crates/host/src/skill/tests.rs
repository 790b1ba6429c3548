//! Skills as tables: lists, paths that belong to them, and checks of their files.

use mcparley_model::name::ServerName;
use mcparley_wire::RawJson;
use serde_json::{Value, json};

use super::SkillError;
use super::load::SkillChecks as _;
use crate::resource::ResourceContents;
use mcparley_catalog::{Skill, is_usable_skill, read_skills};
use mcparley_pool::surface::Surface;

const DIGEST: &str = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

fn raw(entries: &[Value]) -> Vec<RawJson> {
    entries.iter().map(|entry| RawJson::from_value(entry).unwrap()).collect()
}

fn skills(entries: &[Value], resources: &[Value]) -> Vec<Skill> {
    let surface = Surface { skills: raw(entries), resources: raw(resources), ..Surface::default() };
    read_skills(&ServerName::new("s"), &surface.skills, &surface.resources)
}

fn entry(uri: &str, resources: &Value) -> Value {
    json!({ "uri": uri, "frontmatter": { "name": "a", "description": "d\u{202e}" }, "resources": resources })
}

fn file(uri: &str, size: u64) -> Value {
    json!({ "uri": uri, "digest": DIGEST, "size": size })
}

// X2 N7
#[test]
fn skills_are_listed_by_the_extension_or_found_below_their_scheme() {
    let good = entry("skill://a/SKILL.md", &json!([file("skill://a/SKILL.md", 5)]));
    let dynamic = entry("github://x/a/SKILL.md", &json!("dynamic"));
    let bad = [
        entry("skill://b/SKILL.md", &json!([])),
        entry(
            "skill://c/SKILL.md",
            &json!([{ "uri": "skill://c/SKILL.md", "digest": "sha256:xyz", "size": 1 }]),
        ),
        entry("skill://d/SKILL.md", &Value::Null),
        json!({ "uri": "skill://e/SKILL.md", "resources": "dynamic" }),
        json!(7),
    ];
    let resource = json!({ "uri": "skill://z/SKILL.md", "name": "z" });
    let found = skills(&[&[good.clone(), good, dynamic], &bad[..]].concat(), std::slice::from_ref(&resource));
    let names: Vec<&str> = found.iter().map(|skill| skill.uri.as_str()).collect();
    assert_eq!(names, ["skill://a/SKILL.md", "github://x/a/SKILL.md"]);
    assert_eq!(found[0].description, "d");
    assert_eq!(raw(&bad).iter().filter(|raw| is_usable_skill(raw)).count(), 0);
    let other = json!({ "uri": "skill://z/GUIDE.md", "name": "guide" });
    let plain = json!({ "uri": "file:///SKILL.md", "name": "plain" });
    let found = skills(&[], &[resource, other, plain]);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].files.is_none()), ("z", true));
}

// X2 B99
#[test]
fn no_path_leads_out_of_a_skill() {
    let skill = &skills(&[entry("skill://p/a/SKILL.md", &json!("dynamic"))], &[])[0];
    let table = [
        ("references/GUIDE.md", Some("skill://p/a/references/GUIDE.md")),
        ("./x", Some("skill://p/a/x")),
        ("skill://p/a/x/y", Some("skill://p/a/x/y")),
        ("../b/SKILL.md", None),
        ("x/../../b", None),
        ("x/%2e%2E/b", None),
        ("/etc/passwd", None),
        ("skill://p/b/x", None),
        ("skill://p/ab/x", None),
        ("file:///etc/passwd", None),
        ("x\\..\\y", None),
        ("x?y", None),
        ("", None),
    ];
    for (path, uri) in table {
        assert_eq!(skill.address_of(path).as_deref(), uri, "{path}");
    }
}

fn contents(part: &Value) -> ResourceContents {
    let raw = RawJson::from_value(&json!({ "contents": [part] })).unwrap();
    ResourceContents { server: ServerName::new("s"), uri: String::new(), content: Vec::new(), raw }
}

// X2
#[test]
fn skill_file_must_match_its_entry() {
    let uri = "skill://a/SKILL.md";
    let skill = &skills(&[entry(uri, &json!([file(uri, 5)]))], &[])[0];
    let table = [
        (json!({ "uri": uri, "text": "hello" }), None),
        (json!({ "uri": uri, "blob": "aGVsbG8=" }), None),
        (json!({ "uri": uri, "text": "hell" }), Some("it has another size")),
        (json!({ "uri": uri, "text": "hullo" }), Some("it has another digest")),
        (json!({ "uri": uri }), Some("it has no content")),
    ];
    for (part, expected) in table {
        let why = match skill.check_file(uri, &contents(&part)) {
            Ok(bytes) => {
                assert_eq!(bytes, b"hello");
                None
            }
            Err(SkillError::Changed { why, .. }) => Some(why),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(why, expected, "{part}");
    }
}

// X2
#[test]
fn skill_above_the_size_limit_is_rejected() {
    let uri = "skill://a/SKILL.md";
    let sized = |files: Vec<Value>| skills(&[entry(uri, &Value::Array(files))], &[])[0].check_size();
    assert!(sized(vec![file(uri, 16 * 1024 * 1024)]).is_ok());
    assert!(sized(vec![file(uri, 16 * 1024 * 1024), file("skill://a/x", 1)]).is_err());
    let many = |count: usize| -> Vec<Value> {
        (0..count)
            .map(|number| file(&if number == 0 { uri.to_owned() } else { format!("skill://a/{number}") }, 1))
            .collect()
    };
    assert!(sized(many(512)).is_ok());
    let error = sized(many(513)).unwrap_err();
    assert_eq!(error.to_string(), "the skill has 513 files of 513 bytes; at most 512 of 16777216 are taken");
    assert!(sized(vec![file(uri, u64::MAX), file("skill://a/x", u64::MAX)]).is_err());
}
