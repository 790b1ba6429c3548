//! Prints plain parts as JSON Schema, for the APIs that take most of it: Anthropic's and OpenAI's.

use serde_json::{Map, Value, json};

use super::Dialect;
use super::back::{Back, Members};
use super::kinds::Kinds;
use super::names::property_names;
use super::part::{About, Form, List, Object, Part, Rest};

/// A part as an API is told it.
pub(super) struct Printed {
    pub(super) schema: Map<String, Value>,
    pub(super) back: Back,
}

/// Prints for one of these APIs.
#[derive(Clone, Copy)]
pub(super) struct JsonSchema {
    dialect: Dialect,
    renames: bool,
}

impl JsonSchema {
    /// Everything as the tool wants it: nothing is renamed for somebody who only reads it.
    pub(super) const IN_WORDS: Self = Self { dialect: Dialect::Anthropic, renames: false };

    pub(super) fn of(dialect: Dialect) -> Self {
        Self { dialect, renames: true }
    }

    /// The arguments of a tool.
    pub(super) fn arguments(self, object: &Object, about: &About) -> Printed {
        let mut printed = self.object(object);
        let mut schema = Map::new();
        schema.insert("type".into(), json!("object"));
        tell(&mut schema, &About { default: None, ..about.clone() });
        schema.append(&mut printed.schema);
        Printed { schema, ..printed }
    }

    pub(super) fn part(self, part: &Part) -> Printed {
        let mut printed = self.form(&part.form, part.nullable);
        let mut schema = Map::new();
        // A default in the tool's own form would mislead where the form is another.
        let default = part.about.default.clone().filter(|_| printed.back.does_nothing());
        tell(&mut schema, &About { default, ..part.about.clone() });
        schema.append(&mut printed.schema);
        Printed { schema, ..printed }
    }

    fn form(self, form: &Form, nullable: bool) -> Printed {
        let typed = |back: Back, mut body: Map<String, Value>| {
            let back = back.or_null(nullable);
            let mut schema = Map::from_iter([("type".to_owned(), type_of(back.kinds))]);
            schema.append(&mut body);
            Printed { schema, back }
        };
        match form {
            Form::Any => Printed { schema: Map::new(), back: Back::of(Kinds::ALL) },
            Form::Null => typed(Back::of(Kinds::NULL), Map::new()),
            Form::Choice(values) => {
                let kinds = values.iter().map(Kinds::of).fold(Kinds::NONE, Kinds::or);
                let values: Vec<Value> =
                    values.iter().cloned().chain(nullable.then_some(Value::Null)).collect();
                let choice = Map::from_iter([("enum".to_owned(), Value::Array(values))]);
                if kinds.has(Kinds::OBJECT) || kinds.has(Kinds::ARRAY) {
                    // With a type there would have to be more said about what is within.
                    return Printed { schema: choice, back: Back::of(kinds).or_null(nullable) };
                }
                typed(Back::of(kinds), choice)
            }
            Form::Plain { kind, limits } => {
                let limits = limits.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
                typed(Back::of(*kind), limits.collect())
            }
            Form::List(list) => {
                let Printed { schema, back } = self.list(list);
                typed(back, schema)
            }
            Form::Object(object) => {
                let Printed { schema, back } = self.object(object);
                typed(back, schema)
            }
            Form::Union(parts) => self.union(parts, nullable),
        }
    }

    fn list(self, list: &List) -> Printed {
        let mut schema: Map<String, Value> =
            list.limits.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let has_tuples = match self.dialect {
            Dialect::Anthropic => true,
            Dialect::OpenAi | Dialect::OpenAiChat | Dialect::Gemini => false,
        };
        if has_tuples && !list.first.is_empty() {
            let first: Vec<Printed> = list.first.iter().map(|part| self.part(part)).collect();
            let rest = list.rest.as_ref().map(|rest| self.part(rest));
            if first.iter().chain(&rest).all(|printed| printed.back.does_nothing()) {
                let first = first.into_iter().map(|printed| Value::Object(printed.schema)).collect();
                schema.insert("prefixItems".into(), Value::Array(first));
                schema.insert("items".into(), rest.map_or(Value::Bool(false), |rest| rest.schema.into()));
                return Printed { schema, back: Back::of(Kinds::ARRAY) };
            }
        }
        let element = self.part(&list.element());
        schema.insert("items".into(), Value::Object(element.schema));
        schema.extend(list.most().map(|most| ("maxItems".to_owned(), json!(most))));
        Printed { schema, back: Back::of_elements(element.back) }
    }

    fn object(self, object: &Object) -> Printed {
        let names = object.properties.iter().map(|(name, _)| name.as_str());
        let shown = match self.renames {
            true => property_names(self.dialect, names),
            false => names.map(str::to_owned).collect(),
        };
        let (mut schema, mut members) = (Map::new(), Members::default());
        let mut properties = Map::new();
        for ((name, part), shown) in object.properties.iter().zip(&shown) {
            let printed = self.part(&part.renamed(name, shown));
            properties.insert(shown.clone(), Value::Object(printed.schema));
            members.named.insert(shown.clone(), (name.clone(), printed.back));
        }
        let must = object.required_as(&shown);
        let needs_properties = match self.dialect {
            Dialect::Anthropic => false,
            Dialect::OpenAi | Dialect::OpenAiChat | Dialect::Gemini => true,
        };
        if needs_properties || !properties.is_empty() {
            schema.insert("properties".into(), Value::Object(properties));
        }
        if !must.is_empty() {
            schema.insert("required".into(), json!(must));
        }
        match &object.rest {
            Rest::Open => {}
            Rest::Closed => {
                schema.insert("additionalProperties".into(), json!(false));
            }
            Rest::Of(part) => {
                let printed = self.part(part);
                members.others = printed.back;
                schema.insert("additionalProperties".into(), Value::Object(printed.schema));
            }
        }
        Printed { schema, back: Back::of_members(members) }
    }

    /// Alternatives; anything, if a name would mean one thing in one of them and another in the next.
    fn union(self, parts: &[Part], nullable: bool) -> Printed {
        let null = nullable.then(|| self.form(&Form::Null, false));
        let printed: Vec<Printed> = parts.iter().map(|part| self.part(part)).chain(null).collect();
        let (mut back, mut schemas) = (Back::default(), Vec::new());
        for one in printed {
            let Some(joined) = back.join(one.back) else { return self.form(&Form::Any, false) };
            back = joined;
            schemas.push(Value::Object(one.schema));
        }
        let schema = Map::from_iter([("anyOf".to_owned(), Value::Array(schemas))]);
        Printed { schema, back }
    }
}

fn tell(schema: &mut Map<String, Value>, about: &About) {
    let title = about.title.clone().map(|title| ("title".to_owned(), Value::String(title)));
    let words = about.words().map(|words| ("description".to_owned(), Value::String(words)));
    let default = about.default.clone().map(|default| ("default".to_owned(), default));
    schema.extend(title.into_iter().chain(words).chain(default));
}

fn type_of(kinds: Kinds) -> Value {
    match kinds.names().as_slice() {
        [name] => json!(name),
        names => json!(names),
    }
}
