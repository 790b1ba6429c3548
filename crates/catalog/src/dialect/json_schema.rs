//! Prints simplified schemas as JSON Schema, for the APIs of Anthropic and OpenAI.

use serde_json::{Map, Value, json};

use super::Dialect;
use super::json_types::JsonTypes;
use super::names::property_names;
use super::plain_schema::{
    ArrayForm, ObjectForm, OtherProperties, PlainSchema, SchemaAnnotations, ValueForm,
};
use super::restore::{ArgumentRestorer, MemberRestorer};

/// A printed schema, and the restorer for arguments that follow it.
pub(super) struct PrintedSchema {
    pub(super) schema: Map<String, Value>,
    pub(super) restorer: ArgumentRestorer,
}

/// Printer for one dialect.
#[derive(Clone, Copy)]
pub(super) struct JsonSchemaPrinter {
    dialect: Dialect,
    renames: bool,
}

impl JsonSchemaPrinter {
    /// A printer for schemas in descriptions: no property is renamed.
    pub(super) const IN_WORDS: Self = Self { dialect: Dialect::Anthropic, renames: false };

    pub(super) fn for_dialect(dialect: Dialect) -> Self {
        Self { dialect, renames: true }
    }

    /// Prints the arguments of a tool.
    pub(super) fn print_arguments(self, object: &ObjectForm, about: &SchemaAnnotations) -> PrintedSchema {
        let mut printed = self.print_object(object);
        let mut schema = Map::new();
        schema.insert("type".into(), json!("object"));
        add_annotations(&mut schema, &SchemaAnnotations { default: None, ..about.clone() });
        schema.append(&mut printed.schema);
        PrintedSchema { schema, ..printed }
    }

    pub(super) fn print_schema(self, part: &PlainSchema) -> PrintedSchema {
        let mut printed = self.print_form(&part.form, part.nullable);
        let mut schema = Map::new();
        // A default value in the tool's own format would be misleading if the format differs.
        let default = part.annotations.default.clone().filter(|_| printed.restorer.does_nothing());
        add_annotations(&mut schema, &SchemaAnnotations { default, ..part.annotations.clone() });
        schema.append(&mut printed.schema);
        PrintedSchema { schema, ..printed }
    }

    fn print_form(self, form: &ValueForm, nullable: bool) -> PrintedSchema {
        let typed = |back: ArgumentRestorer, mut body: Map<String, Value>| {
            let back = back.or_null(nullable);
            let mut schema = Map::from_iter([("type".to_owned(), type_of(back.kinds))]);
            schema.append(&mut body);
            PrintedSchema { schema, restorer: back }
        };
        match form {
            ValueForm::Any => {
                PrintedSchema { schema: Map::new(), restorer: ArgumentRestorer::for_types(JsonTypes::ALL) }
            }
            ValueForm::Null => typed(ArgumentRestorer::for_types(JsonTypes::NULL), Map::new()),
            ValueForm::Choice(values) => {
                let kinds = values.iter().map(JsonTypes::from_value).fold(JsonTypes::NONE, JsonTypes::union);
                let values: Vec<Value> =
                    values.iter().cloned().chain(nullable.then_some(Value::Null)).collect();
                let choice = Map::from_iter([("enum".to_owned(), Value::Array(values))]);
                if kinds.contains(JsonTypes::OBJECT) || kinds.contains(JsonTypes::ARRAY) {
                    // With a type, the API would require subschemas as well.
                    return PrintedSchema {
                        schema: choice,
                        restorer: ArgumentRestorer::for_types(kinds).or_null(nullable),
                    };
                }
                typed(ArgumentRestorer::for_types(kinds), choice)
            }
            ValueForm::Plain { kind, limits } => {
                let limits = limits.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
                typed(ArgumentRestorer::for_types(*kind), limits.collect())
            }
            ValueForm::List(list) => {
                let PrintedSchema { schema, restorer: back } = self.print_array(list);
                typed(back, schema)
            }
            ValueForm::Object(object) => {
                let PrintedSchema { schema, restorer: back } = self.print_object(object);
                typed(back, schema)
            }
            ValueForm::Union(parts) => self.print_union(parts, nullable),
        }
    }

    fn print_array(self, list: &ArrayForm) -> PrintedSchema {
        let mut schema: Map<String, Value> =
            list.limits.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let has_tuples = match self.dialect {
            Dialect::Anthropic => true,
            Dialect::OpenAi | Dialect::OpenAiChat | Dialect::Gemini => false,
        };
        if has_tuples && !list.first.is_empty() {
            let first: Vec<PrintedSchema> = list.first.iter().map(|part| self.print_schema(part)).collect();
            let rest = list.rest.as_ref().map(|rest| self.print_schema(rest));
            if first.iter().chain(&rest).all(|printed| printed.restorer.does_nothing()) {
                let first = first.into_iter().map(|printed| Value::Object(printed.schema)).collect();
                schema.insert("prefixItems".into(), Value::Array(first));
                schema.insert("items".into(), rest.map_or(Value::Bool(false), |rest| rest.schema.into()));
                return PrintedSchema { schema, restorer: ArgumentRestorer::for_types(JsonTypes::ARRAY) };
            }
        }
        let element = self.print_schema(&list.element_schema());
        schema.insert("items".into(), Value::Object(element.schema));
        schema.extend(list.max_items().map(|most| ("maxItems".to_owned(), json!(most))));
        PrintedSchema { schema, restorer: ArgumentRestorer::for_elements(element.restorer) }
    }

    fn print_object(self, object: &ObjectForm) -> PrintedSchema {
        let names = object.properties.iter().map(|(name, _)| name.as_str());
        let shown = if self.renames {
            property_names(self.dialect, names)
        } else {
            names.map(str::to_owned).collect()
        };
        let (mut schema, mut members) = (Map::new(), MemberRestorer::default());
        let mut properties = Map::new();
        for ((name, part), shown) in object.properties.iter().zip(&shown) {
            let printed = self.print_schema(&part.with_name_note(name, shown));
            properties.insert(shown.clone(), Value::Object(printed.schema));
            members.named.insert(shown.clone(), (name.clone(), printed.restorer));
        }
        let must = object.required_names(&shown);
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
            OtherProperties::Open => {}
            OtherProperties::Closed => {
                schema.insert("additionalProperties".into(), json!(false));
            }
            OtherProperties::Of(part) => {
                let printed = self.print_schema(part);
                members.others = printed.restorer;
                schema.insert("additionalProperties".into(), Value::Object(printed.schema));
            }
        }
        PrintedSchema { schema, restorer: ArgumentRestorer::for_members(members) }
    }

    /// Prints alternatives; any value, if a property name would be ambiguous between two of them.
    fn print_union(self, parts: &[PlainSchema], nullable: bool) -> PrintedSchema {
        let null = nullable.then(|| self.print_form(&ValueForm::Null, false));
        let printed: Vec<PrintedSchema> =
            parts.iter().map(|part| self.print_schema(part)).chain(null).collect();
        let (mut back, mut schemas) = (ArgumentRestorer::default(), Vec::new());
        for one in printed {
            let Some(joined) = back.merge_restorers(one.restorer) else {
                return self.print_form(&ValueForm::Any, false);
            };
            back = joined;
            schemas.push(Value::Object(one.schema));
        }
        let schema = Map::from_iter([("anyOf".to_owned(), Value::Array(schemas))]);
        PrintedSchema { schema, restorer: back }
    }
}

fn add_annotations(schema: &mut Map<String, Value>, about: &SchemaAnnotations) {
    let title = about.title.clone().map(|title| ("title".to_owned(), Value::String(title)));
    let words = about.description_text().map(|words| ("description".to_owned(), Value::String(words)));
    let default = about.default.clone().map(|default| ("default".to_owned(), default));
    schema.extend(title.into_iter().chain(words).chain(default));
}

fn type_of(kinds: JsonTypes) -> Value {
    match kinds.type_names().as_slice() {
        [name] => json!(name),
        names => json!(names),
    }
}
