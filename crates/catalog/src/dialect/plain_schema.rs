//! Simplified schema: references resolved, conditions on one value merged, a type for every value.
//!
//! It is the interface between reading schemas and printing them for an API.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use mcparley_model::limits::{MODEL_ALTERNATIVES, MODEL_CHOICES};
use mcparley_model::text::truncate_text;
use serde_json::Value;

use super::json_types::JsonTypes;

/// The maximum length of an argument's own name in a remark.
const NAME_CHARS: usize = 100;

/// The simplified schema of one value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlainSchema {
    pub(super) annotations: SchemaAnnotations,
    /// Whether `null` is allowed too.
    pub(super) nullable: bool,
    pub(super) form: ValueForm,
}

/// The annotations of a value for the model that writes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SchemaAnnotations {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) default: Option<Value>,
    /// Conditions that the simplified schema cannot express.
    pub(super) remarks: Vec<String>,
}

/// The form of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueForm {
    /// Any value: the schema restricts nothing, or cannot be simplified.
    Any,
    Null,
    /// One of these values.
    Choice(Vec<Value>),
    /// A string, a number, an integer or a boolean.
    Plain {
        kind: JsonTypes,
        limits: ValueLimits,
    },
    List(ArrayForm),
    Object(ObjectForm),
    /// One of these schemas; at least two, none of them a union or `null`.
    Union(Vec<PlainSchema>),
}

/// Keywords that limit a value, in the style of 2020-12.
pub(super) type ValueLimits = Vec<(&'static str, Value)>;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ArrayForm {
    /// The schemas of the first elements, if each has its own.
    pub(super) first: Vec<PlainSchema>,
    /// The schema of the other elements; `None` if there are none.
    pub(super) rest: Option<Box<PlainSchema>>,
    pub(super) limits: ValueLimits,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ObjectForm {
    pub(super) properties: Vec<(String, PlainSchema)>,
    /// The names of required properties.
    pub(super) required: Vec<String>,
    pub(super) rest: OtherProperties,
}

/// The properties besides the named ones.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OtherProperties {
    Open,
    Closed,
    Of(Box<PlainSchema>),
}

impl PlainSchema {
    pub(super) fn from_form(form: ValueForm) -> Self {
        Self { annotations: SchemaAnnotations::default(), nullable: false, form }
    }

    /// Any value of these types, without further restrictions.
    pub(super) fn any_of_types(kinds: JsonTypes) -> Self {
        let form = |kind| match kind {
            JsonTypes::OBJECT => ValueForm::Object(ObjectForm {
                properties: Vec::new(),
                required: Vec::new(),
                rest: OtherProperties::Open,
            }),
            JsonTypes::ARRAY => ValueForm::List(ArrayForm {
                first: Vec::new(),
                rest: Some(Box::new(Self::from_form(ValueForm::Any))),
                limits: Vec::new(),
            }),
            kind => ValueForm::Plain { kind, limits: Vec::new() },
        };
        if kinds == JsonTypes::ALL || kinds == JsonTypes::NONE {
            return Self::from_form(ValueForm::Any);
        }
        let parts = kinds
            .difference(JsonTypes::NULL)
            .to_list()
            .into_iter()
            .map(|kind| Self::from_form(form(kind)))
            .collect();
        let part = Self::one_of(parts);
        Self { nullable: part.nullable || kinds.contains(JsonTypes::NULL), ..part }
    }

    /// The union of these schemas, as short as possible.
    pub(super) fn one_of(parts: Vec<Self>) -> Self {
        let mut nullable = false;
        let mut distinct: Vec<Self> = Vec::new();
        for part in parts.into_iter().flat_map(Self::into_alternatives) {
            nullable |= part.nullable || part.form == ValueForm::Null;
            let is_known =
                part.form == ValueForm::Null || distinct.iter().any(|known| known.form == part.form);
            if !is_known {
                distinct.push(Self { nullable: false, ..part });
            }
        }
        let Some(last) = distinct.pop() else { return Self::from_form(ValueForm::Null) };
        if distinct.is_empty() {
            return Self { nullable, ..last };
        }
        distinct.push(last);
        let takes_any = distinct.iter().any(|part| part.form == ValueForm::Any);
        if takes_any || distinct.len() > MODEL_ALTERNATIVES {
            return Self::from_form(ValueForm::Any);
        }
        Self { nullable, ..Self::from_form(all_choices(&distinct).unwrap_or(ValueForm::Union(distinct))) }
    }

    fn into_alternatives(self) -> Vec<Self> {
        match self.form {
            ValueForm::Union(mut parts) => {
                if let Some(first) = parts.first_mut() {
                    first.nullable |= self.nullable;
                }
                parts
            }
            _ => vec![self],
        }
    }

    /// Adds annotations; existing ones are kept where the new ones are absent.
    pub(super) fn with_annotations(mut self, about: SchemaAnnotations) -> Self {
        let SchemaAnnotations { title, description, default, remarks } = about;
        self.annotations.title = title.or(self.annotations.title);
        self.annotations.description = description.or(self.annotations.description);
        self.annotations.default = default.or(self.annotations.default);
        self.annotations.remarks.extend(remarks);
        self
    }
}

/// One enum of all values, if all alternatives are enums and there are not too many values.
fn all_choices(parts: &[PlainSchema]) -> Option<ValueForm> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for part in parts {
        let ValueForm::Choice(values) = &part.form else { return None };
        all.extend(values.iter().filter(|value| seen.insert(value.to_string())).cloned());
    }
    (all.len() <= MODEL_CHOICES).then_some(ValueForm::Choice(all))
}

impl PlainSchema {
    /// Adds a remark with the property's own name, if it is shown under another name.
    pub(super) fn with_name_note(&self, name: &str, shown: &str) -> Cow<'_, Self> {
        if name == shown {
            return Cow::Borrowed(self);
        }
        let mut part = self.clone();
        part.annotations
            .remarks
            .insert(0, format!("(The tool calls this `{}`.)", truncate_text(name, NAME_CHARS)));
        Cow::Owned(part)
    }
}

impl ArrayForm {
    /// The schema of any element, regardless of its position.
    pub(super) fn element_schema(&self) -> PlainSchema {
        let rest = self.rest.as_deref();
        if self.first.is_empty() {
            rest.cloned().unwrap_or_else(|| PlainSchema::from_form(ValueForm::Any))
        } else {
            PlainSchema::one_of(self.first.iter().chain(rest).cloned().collect())
        }
    }

    /// The maximum number of elements, if there is no schema for further ones.
    pub(super) fn max_items(&self) -> Option<usize> {
        let is_limited = self.limits.iter().any(|(name, _)| *name == "maxItems");
        (self.rest.is_none() && !is_limited).then_some(self.first.len())
    }
}

impl ObjectForm {
    /// The required properties, by the names that the model is shown.
    pub(super) fn required_names<'n>(&self, shown: &'n [String]) -> Vec<&'n str> {
        let own = self.properties.iter().map(|(name, _)| name.as_str());
        let shown: HashMap<&str, &str> = own.zip(shown.iter().map(String::as_str)).collect();
        self.required.iter().filter_map(|name| shown.get(name.as_str()).copied()).collect()
    }
}
