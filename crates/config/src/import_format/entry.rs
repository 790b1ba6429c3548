//! Foreign entry: takes the fields of an app's entry by name, with type checks and rewritten variables.
//!
//! Fields that were never taken are listed in a note at the end, so no setting is lost silently.

use serde_json::{Map, Value};

use super::reason::{ImportRefusal, json_kind, one_line};
use super::variables::{ImportRemark, RewrittenText, VariableSyntax};

/// The fields of one foreign entry that have not been taken yet, and the notes so far.
///
/// It has no `Debug`, because values may be secrets.
pub(super) struct ForeignEntry<'a> {
    fields: Map<String, Value>,
    /// Prefix of field names in messages: `oauth.` for fields inside `oauth`.
    prefix: &'static str,
    syntax: VariableSyntax<'a>,
    notes: Vec<String>,
}

impl<'a> ForeignEntry<'a> {
    /// An entry from its JSON value, in the variable syntax of its app.
    pub(super) fn new(value: Value, syntax: VariableSyntax<'a>) -> Result<Self, ImportRefusal> {
        match value {
            Value::Object(fields) => Ok(Self { fields, prefix: "", syntax, notes: Vec::new() }),
            other => Err(ImportRefusal::new(format!("it is {}, not an object", json_kind(&other)))),
        }
    }

    /// Refuses a disabled entry: importing it would start a server that the user does not want to run.
    pub(super) fn refuse_disabled(&mut self) -> Result<(), ImportRefusal> {
        if self.take_bool("enabled")? == Some(false) {
            return Err(ImportRefusal::new("disabled there: `enabled` is false"));
        }
        if self.take_bool("disabled")? == Some(true) {
            return Err(ImportRefusal::new("disabled there: `disabled` is true"));
        }
        Ok(())
    }

    /// Whether the field exists and was not taken yet.
    pub(super) fn has_field(&self, field: &str) -> bool {
        self.fields.get(field).is_some_and(|value| !value.is_null())
    }

    /// Takes the field as it is; `null` counts as absent.
    pub(super) fn take_value(&mut self, field: &str) -> Option<Value> {
        self.fields.shift_remove(field).filter(|value| !value.is_null())
    }

    /// Adds `fields` to the entry's own, for apps that nest fields which others do not.
    pub(super) fn insert_fields(&mut self, fields: Map<String, Value>) {
        self.fields.extend(fields);
    }

    /// Takes a boolean.
    pub(super) fn take_bool(&mut self, field: &str) -> Result<Option<bool>, ImportRefusal> {
        match self.take_value(field) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.type_mismatch(field, &other, "true or false")),
        }
    }

    /// Takes a number above zero.
    pub(super) fn take_positive(&mut self, field: &str) -> Result<Option<f64>, ImportRefusal> {
        match self.take_value(field) {
            None => Ok(None),
            Some(value) => match value.as_f64().filter(|number| *number > 0.0) {
                Some(number) => Ok(Some(number)),
                None => Err(self.type_mismatch(field, &value, "a number above zero")),
            },
        }
    }

    /// Takes a string that is a keyword of the app's format, without rewriting variables.
    pub(super) fn take_word(&mut self, field: &str) -> Result<Option<String>, ImportRefusal> {
        match self.take_value(field) {
            None => Ok(None),
            Some(Value::String(word)) => Ok(Some(word)),
            Some(other) => Err(self.type_mismatch(field, &other, "a string")),
        }
    }

    /// Takes a string and rewrites its variables.
    pub(super) fn take_text(&mut self, field: &str) -> Result<Option<String>, ImportRefusal> {
        match self.take_word(field)? {
            None => Ok(None),
            Some(text) => self.rewrite_text(field, &text).map(Some),
        }
    }

    /// Takes a list of strings; numbers and booleans in it are converted to text.
    pub(super) fn take_texts(&mut self, field: &str) -> Result<Option<Vec<String>>, ImportRefusal> {
        match self.take_value(field) {
            None => Ok(None),
            Some(Value::Array(items)) => {
                let items = items.into_iter().enumerate();
                items
                    .map(|(index, item)| self.rewrite_item(&format!("{field}[{index}]"), item))
                    .collect::<Result<_, _>>()
                    .map(Some)
            }
            Some(other) => Err(self.type_mismatch(field, &other, "a list of strings")),
        }
    }

    /// Takes an object of strings; numbers and booleans in it are converted to text.
    ///
    /// A value that refers to a file is left out with a note: the server may still be useful without it.
    pub(super) fn take_pairs(&mut self, field: &str) -> Result<Map<String, Value>, ImportRefusal> {
        let members = match self.take_value(field) {
            None => return Ok(Map::new()),
            Some(Value::Object(members)) => members,
            Some(other) => return Err(self.type_mismatch(field, &other, "an object of strings")),
        };
        let mut pairs = Map::new();
        for (name, value) in members {
            let path = format!("{field}.{name}");
            if value.is_null() {
                self.add_note(format!("`{path}` is null there, which unsets it; it is left out"));
                continue;
            }
            let rewritten = self.rewrite_value(&path, value)?;
            if rewritten.from_file {
                self.add_note(format!(
                    "`{path}` is left out: its value is in a file, which cannot be referred to here"
                ));
            } else {
                self.add_remarks(&path, rewritten.notes);
                pairs.insert(name, Value::String(rewritten.text));
            }
        }
        Ok(pairs)
    }

    /// Takes the entry inside `field`, if it is an object. Pass it to [`ForeignEntry::absorb_notes`]
    /// afterwards.
    pub(super) fn take_object(&mut self, field: &str, prefix: &'static str) -> Option<Self> {
        match self.take_value(field) {
            Some(Value::Object(fields)) => {
                Some(Self { fields, prefix, syntax: self.syntax, notes: Vec::new() })
            }
            None => None,
            Some(other) => {
                self.fields.insert(field.to_owned(), other);
                None
            }
        }
    }

    /// Takes over the notes of an inner entry.
    pub(super) fn absorb_notes(&mut self, inner: Self) {
        for note in inner.into_notes() {
            self.add_note(note);
        }
    }

    /// Adds a note for the user about the import.
    pub(super) fn add_note(&mut self, text: impl Into<String>) {
        let text = one_line(&text.into());
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// The notes, with one more about the fields that were never taken.
    pub(super) fn into_notes(mut self) -> Vec<String> {
        let unread = self.fields.iter().filter(|(_, value)| !value.is_null());
        let left: Vec<String> = unread.map(|(field, _)| format!("`{}{field}`", self.prefix)).collect();
        if !left.is_empty() {
            self.add_note(format!("not carried over: {}", left.join(", ")));
        }
        self.notes
    }

    fn rewrite_item(&mut self, path: &str, item: Value) -> Result<String, ImportRefusal> {
        let text = self.rewrite_value(path, item)?;
        self.accept_rewritten(path, text)
    }

    fn rewrite_text(&mut self, path: &str, text: &str) -> Result<String, ImportRefusal> {
        let rewritten = self.syntax.rewrite_text(text);
        self.accept_rewritten(path, rewritten)
    }

    fn accept_rewritten(&mut self, path: &str, rewritten: RewrittenText) -> Result<String, ImportRefusal> {
        if rewritten.from_file {
            let prefix = self.prefix;
            return Err(ImportRefusal::new(format!(
                "a part of `{prefix}{path}` is in a file, which cannot be referred to here"
            )));
        }
        self.add_remarks(path, rewritten.notes);
        Ok(rewritten.text)
    }

    fn rewrite_value(&self, path: &str, value: Value) -> Result<RewrittenText, ImportRefusal> {
        match value {
            Value::String(text) => Ok(self.syntax.rewrite_text(&text)),
            Value::Number(number) => Ok(RewrittenText::from_plain(number.to_string())),
            Value::Bool(flag) => Ok(RewrittenText::from_plain(flag.to_string())),
            other @ (Value::Null | Value::Array(_) | Value::Object(_)) => {
                Err(self.type_mismatch(path, &other, "a string"))
            }
        }
    }

    fn add_remarks(&mut self, path: &str, remarks: Vec<ImportRemark>) {
        let prefix = self.prefix;
        for remark in remarks {
            match remark {
                ImportRemark::Here(text) => self.add_note(format!("`{prefix}{path}`: {text}")),
                ImportRemark::Variable(text) => self.add_note(text),
            }
        }
    }

    fn type_mismatch(&self, field: &str, value: &Value, wanted: &str) -> ImportRefusal {
        ImportRefusal::new(format!("`{}{field}` is {}, not {wanted}", self.prefix, json_kind(value)))
    }
}
