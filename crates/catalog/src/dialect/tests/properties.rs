//! Round trip of arguments, for random schemas and values that fit them: the API accepts the tool, and
//! no value is lost.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::Dialect;
use super::super::rewrite::ToolParameters;
use super::written::ways_to_write;
use super::{check, entry, json_of, list};

/// A schema with explicit types, and a value that fits it.
#[derive(Clone, Debug)]
struct Pair {
    schema: Value,
    value: Value,
}

fn pair(schema: Value, value: Value) -> Pair {
    Pair { schema, value }
}

/// Names that APIs accept, and names that they reject.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        "[a-z]{1,3}[ ./$-][a-z]{1,3}",
        "[0-9][a-z]{0,3}",
        Just("größe".to_owned()),
        Just("数".to_owned()),
        Just(String::new()),
        "[a-z]{64,70}",
    ]
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"{}\\[\\]0-9]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,4}", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn leaf() -> impl Strategy<Value = Pair> {
    prop_oneof![
        "[a-z0-9\"{} ]{0,8}"
            .prop_map(|text| pair(json!({ "type": "string", "description": "a text" }), json!(text))),
        "[a-z]{3,8}".prop_map(|text| pair(
            json!({ "type": "string", "minLength": 2, "format": "hostname" }),
            json!(text)
        )),
        any::<i32>()
            .prop_map(|n| pair(json!({ "type": "integer", "exclusiveMinimum": i64::from(n) - 1 }), json!(n))),
        any::<i16>()
            .prop_map(|n| pair(json!({ "type": "number", "format": "double" }), json!(f64::from(n) / 8.0))),
        any::<bool>().prop_map(|b| pair(json!({ "type": "boolean", "default": false }), json!(b))),
        Just(pair(json!({ "type": "null" }), Value::Null)),
        anything().prop_map(|value| pair(json!({}), value)),
        anything().prop_map(|value| pair(json!(true), value)),
        anything().prop_map(|value| pair(json!({ "const": value }), value)),
        (prop::collection::vec(anything(), 1..4), any::<prop::sample::Index>()).prop_map(|(values, one)| {
            let value = one.get(&values).clone();
            pair(json!({ "enum": values }), value)
        }),
        "[a-z]{0,3}".prop_map(|text| pair(json!({ "type": ["string", "integer", "null"] }), json!(text))),
        prop::collection::vec(any::<u8>(), 0..3).prop_map(|list| pair(
            json!({ "type": ["array", "null"], "items": { "type": "integer" } }),
            json!(list)
        )),
    ]
}

fn object(inner: impl Strategy<Value = Pair> + Clone) -> impl Strategy<Value = Pair> {
    let members = prop::collection::vec((name(), inner.clone(), 0..3_u8), 0..4);
    (members, 0..3_u8, inner).prop_map(|(members, rest, other)| {
        let (mut properties, mut required, mut value) = (Map::new(), Vec::new(), Map::new());
        for (name, member, presence) in members {
            if properties.contains_key(&name) {
                continue;
            }
            if presence > 0 {
                value.insert(name.clone(), member.value);
            }
            if presence > 1 {
                required.push(name.clone());
            }
            properties.insert(name, member.schema);
        }
        let mut schema = json!({ "type": "object", "properties": properties, "required": required });
        match rest {
            0 => schema["additionalProperties"] = json!(false),
            1 => {
                schema["additionalProperties"] = other.schema;
                value.insert("Other Name".into(), other.value);
            }
            _ => {}
        }
        pair(schema, Value::Object(value))
    })
}

fn node() -> impl Strategy<Value = Pair> + Clone {
    leaf().prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            3 => object(inner.clone()),
            2 => prop::collection::vec(inner.clone(), 1..3).prop_map(|elements| {
                let schemas: Vec<Value> = elements.iter().map(|one| one.schema.clone()).collect();
                let values: Vec<Value> = elements.into_iter().map(|one| one.value).collect();
                pair(json!({ "type": "array", "prefixItems": schemas, "items": false }), json!(values))
            }),
            2 => (inner.clone(), 0..3_usize).prop_map(|(one, count)| {
                pair(json!({ "type": "array", "items": one.schema }), json!(vec![one.value; count]))
            }),
            2 => (prop::collection::vec(inner.clone(), 1..4), any::<prop::sample::Index>()).prop_map(|(all, one)| {
                let schemas: Vec<Value> = all.iter().map(|one| one.schema.clone()).collect();
                pair(json!({ "description": "either", "anyOf": schemas }), one.get(&all).value.clone())
            }),
            1 => inner.prop_map(|one| pair(json!({ "allOf": [one.schema, { "title": "T" }] }), one.value)),
        ]
    })
}

/// The arguments of a tool: an object, perhaps with alternatives, perhaps with references.
fn arguments() -> impl Strategy<Value = Pair> {
    let alternatives = prop::collection::vec(object(node()), 0..3);
    (object(node()), alternatives, any::<bool>()).prop_map(|(mut base, alternatives, refers)| {
        let open = |schema: &mut Value| {
            let map = schema.as_object_mut().unwrap();
            map.shift_remove("additionalProperties");
            map.insert("type".into(), json!("object"));
        };
        if let Some(first) = alternatives.first() {
            open(&mut base.schema);
            let known: Vec<String> = base.value.as_object().unwrap().keys().cloned().collect();
            for (name, value) in first.value.as_object().unwrap() {
                if !known.contains(name) {
                    base.value[name] = value.clone();
                }
            }
            let mut schemas: Vec<Value> = alternatives.into_iter().map(|one| one.schema).collect();
            schemas.iter_mut().for_each(open);
            base.schema["anyOf"] = schemas.into();
        } else {
            base.schema["type"] = json!("object");
        }
        if refers {
            refer(&mut base.schema);
        }
        base
    })
}

/// Moves the schemas of the properties to `$defs`, and refers to them.
fn refer(schema: &mut Value) {
    let mut elsewhere = Map::new();
    for (n, (_, property)) in schema["properties"].as_object_mut().unwrap().iter_mut().enumerate() {
        let there =
            std::mem::replace(property, json!({ "$ref": format!("#/$defs/d{n}"), "description": "here" }));
        elsewhere.insert(format!("d{n}"), there);
    }
    schema["$defs"] = Value::Object(elsewhere);
}

/// Checks that the value can be written in every dialect, and is restored in every way of writing it.
fn check_round_trip(schema: &Value, value: &Value) -> Result<(), TestCaseError> {
    for dialect in Dialect::ALL {
        let entry = entry(schema);
        let tools = list(dialect, std::slice::from_ref(&entry));
        let json = json_of(&tools);
        prop_assert_eq!(check::complaints(dialect.as_str(), &json), [""; 0], "{:#}", json);
        let Ok(rewritten) = entry.translations().for_dialect(dialect, &entry.tool) else { continue };
        let mut ways = ways_to_write(&rewritten.restorer, value);
        if !matches!(rewritten.parameters, ToolParameters::None) {
            let (_, shown) = check::schemas(dialect.as_str(), &json).remove(0);
            let validator = jsonschema::validator_for(&shown).unwrap();
            let first = ways.first().cloned();
            ways.retain(|way| validator.is_valid(way));
            prop_assert!(!ways.is_empty(), "{}: {:#}\n{:#}\n{:#?}", dialect.as_str(), schema, shown, first);
        }
        for way in ways {
            let call = tools.call("mcp__s__t", way).unwrap();
            prop_assert_eq!(&call.arguments, value, "{}: {:#}", dialect.as_str(), schema);
        }
    }
    Ok(())
}

// N13: the list of one alternative has JSON text as elements, the other plain values.
#[test]
fn lists_of_json_text_or_values_survive_a_round_trip() {
    let lists = json!([
        { "type": "array", "prefixItems": [{}], "items": false },
        { "type": "array", "prefixItems": [{ "type": "integer" }, { "type": "array" }], "items": false },
    ]);
    let list = json!({ "type": "array", "prefixItems": lists, "items": false });
    let schema = json!({ "type": "object", "properties": { "a": list } });
    check_round_trip(&schema, &json!({ "a": [[null], [0, []]] })).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    // N13 N8
    #[test]
    fn fitting_values_survive_a_round_trip(pair in arguments()) {
        let Pair { schema, value } = pair;
        prop_assume!(jsonschema::is_valid(&schema, &value));
        check_round_trip(&schema, &value)?;
    }
}
