//! A schema said plainly: references followed, conditions on one value put together, a type for everything.
//!
//! What is read of a schema and what is printed for an API meet here, so that neither knows the other.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use mcparley_model::limits::{MODEL_ALTERNATIVES, MODEL_CHOICES};
use mcparley_model::text::cut;
use serde_json::Value;

use super::kinds::Kinds;

/// How much of a tool's own name for an argument is told.
const NAME_CHARS: usize = 100;

/// What one value may be.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) about: About,
    /// Whether `null` will do too.
    pub(super) nullable: bool,
    pub(super) form: Form,
}

/// What is said about a value to whoever writes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct About {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) default: Option<Value>,
    /// What the schema demands and a plain form cannot say.
    pub(super) remarks: Vec<String>,
}

/// The form of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// Anything: the schema says nothing, or more than can be told.
    Any,
    Null,
    /// One of these.
    Choice(Vec<Value>),
    /// A string, a number, an integer or a boolean.
    Plain {
        kind: Kinds,
        limits: Limits,
    },
    List(List),
    Object(Object),
    /// One of these forms; at least two, none of them a union or `null`.
    Union(Vec<Part>),
}

/// Keywords that limit a value, as a schema of 2020-12 has them.
pub(super) type Limits = Vec<(&'static str, Value)>;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct List {
    /// What the first elements are, if each has a form of its own.
    pub(super) first: Vec<Part>,
    /// What the others are; nothing if there are no others.
    pub(super) rest: Option<Box<Part>>,
    pub(super) limits: Limits,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Object {
    pub(super) properties: Vec<(String, Part)>,
    /// Names of some of the properties.
    pub(super) required: Vec<String>,
    pub(super) rest: Rest,
}

/// What properties there may be besides the named ones.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rest {
    Open,
    Closed,
    Of(Box<Part>),
}

impl Part {
    pub(super) fn of(form: Form) -> Self {
        Self { about: About::default(), nullable: false, form }
    }

    /// Anything of these types, without a word about what is within.
    pub(super) fn free(kinds: Kinds) -> Self {
        let form = |kind| match kind {
            Kinds::OBJECT => {
                Form::Object(Object { properties: Vec::new(), required: Vec::new(), rest: Rest::Open })
            }
            Kinds::ARRAY => Form::List(List {
                first: Vec::new(),
                rest: Some(Box::new(Self::of(Form::Any))),
                limits: Vec::new(),
            }),
            kind => Form::Plain { kind, limits: Vec::new() },
        };
        if kinds == Kinds::ALL || kinds == Kinds::NONE {
            return Self::of(Form::Any);
        }
        let parts = kinds.without(Kinds::NULL).each().into_iter().map(|kind| Self::of(form(kind))).collect();
        let part = Self::one_of(parts);
        Self { nullable: part.nullable || kinds.has(Kinds::NULL), ..part }
    }

    /// Any of these, said as shortly as possible.
    pub(super) fn one_of(parts: Vec<Self>) -> Self {
        let mut nullable = false;
        let mut distinct: Vec<Self> = Vec::new();
        for part in parts.into_iter().flat_map(Self::alternatives) {
            nullable |= part.nullable || part.form == Form::Null;
            let is_known = part.form == Form::Null || distinct.iter().any(|known| known.form == part.form);
            if !is_known {
                distinct.push(Self { nullable: false, ..part });
            }
        }
        let Some(last) = distinct.pop() else { return Self::of(Form::Null) };
        if distinct.is_empty() {
            return Self { nullable, ..last };
        }
        distinct.push(last);
        let takes_any = distinct.iter().any(|part| part.form == Form::Any);
        if takes_any || distinct.len() > MODEL_ALTERNATIVES {
            return Self::of(Form::Any);
        }
        Self { nullable, ..Self::of(all_choices(&distinct).unwrap_or(Form::Union(distinct))) }
    }

    fn alternatives(self) -> Vec<Self> {
        match self.form {
            Form::Union(mut parts) => {
                if let Some(first) = parts.first_mut() {
                    first.nullable |= self.nullable;
                }
                parts
            }
            _ => vec![self],
        }
    }

    /// The same with this said about it, as far as nothing was.
    pub(super) fn told(mut self, about: About) -> Self {
        let About { title, description, default, remarks } = about;
        self.about.title = title.or(self.about.title);
        self.about.description = description.or(self.about.description);
        self.about.default = default.or(self.about.default);
        self.about.remarks.extend(remarks);
        self
    }
}

/// One choice, if all of them are choices and there are not too many.
fn all_choices(parts: &[Part]) -> Option<Form> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for part in parts {
        let Form::Choice(values) = &part.form else { return None };
        all.extend(values.iter().filter(|value| seen.insert(value.to_string())).cloned());
    }
    (all.len() <= MODEL_CHOICES).then_some(Form::Choice(all))
}

impl Part {
    /// The same, with its own name told where it goes by another.
    pub(super) fn renamed(&self, name: &str, shown: &str) -> Cow<'_, Self> {
        if name == shown {
            return Cow::Borrowed(self);
        }
        let mut part = self.clone();
        part.about.remarks.insert(0, format!("(The tool calls this `{}`.)", cut(name, NAME_CHARS)));
        Cow::Owned(part)
    }
}

impl List {
    /// What any element may be, wherever it stands.
    pub(super) fn element(&self) -> Part {
        let rest = self.rest.as_deref();
        match self.first.is_empty() {
            true => rest.cloned().unwrap_or_else(|| Part::of(Form::Any)),
            false => Part::one_of(self.first.iter().chain(rest).cloned().collect()),
        }
    }

    /// How many elements there are at most, where that follows from there being no form for more.
    pub(super) fn most(&self) -> Option<usize> {
        let is_limited = self.limits.iter().any(|(name, _)| *name == "maxItems");
        (self.rest.is_none() && !is_limited).then_some(self.first.len())
    }
}

impl Object {
    /// The properties that must be there, under the names that they are shown by.
    pub(super) fn required_as<'n>(&self, shown: &'n [String]) -> Vec<&'n str> {
        let own = self.properties.iter().map(|(name, _)| name.as_str());
        let shown: HashMap<&str, &str> = own.zip(shown.iter().map(String::as_str)).collect();
        self.required.iter().filter_map(|name| shown.get(name.as_str()).copied()).collect()
    }
}
