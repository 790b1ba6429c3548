//! One foreign entry while it is being read: hands out its fields by name, checked and rewritten.
//!
//! What nobody asked for is noted in the end, so nothing an app knows is lost without a word.

use serde_json::{Map, Value};

use super::reason::{Reason, kind, one_line};
use super::variables::{Remark, Rewritten, Syntax};

/// The fields of one entry that have not been read yet, and what was noticed so far.
///
/// Like everything here that holds values it has no `Debug`: they may be secrets.
pub(super) struct Entry<'a> {
    fields: Map<String, Value>,
    /// Goes before a field's name in messages: `oauth.` for what is inside `oauth`.
    prefix: &'static str,
    syntax: Syntax<'a>,
    notes: Vec<String>,
}

impl<'a> Entry<'a> {
    /// The entry `value`, in the syntax of its app.
    pub(super) fn new(value: Value, syntax: Syntax<'a>) -> Result<Self, Reason> {
        match value {
            Value::Object(fields) => Ok(Self { fields, prefix: "", syntax, notes: Vec::new() }),
            other => Err(Reason::new(format!("it is {}, not an object", kind(&other)))),
        }
    }

    /// Refuses an entry that is switched off: adding it would start a server nobody wants running.
    pub(super) fn refuse_disabled(&mut self) -> Result<(), Reason> {
        if self.flag("enabled")? == Some(false) {
            return Err(Reason::new("disabled there: `enabled` is false"));
        }
        if self.flag("disabled")? == Some(true) {
            return Err(Reason::new("disabled there: `disabled` is true"));
        }
        Ok(())
    }

    /// Whether there is such a field that is still unread.
    pub(super) fn has(&self, field: &str) -> bool {
        self.fields.get(field).is_some_and(|value| !value.is_null())
    }

    /// The field as it is; `null` counts as absent.
    pub(super) fn raw(&mut self, field: &str) -> Option<Value> {
        self.fields.shift_remove(field).filter(|value| !value.is_null())
    }

    /// Puts the members of `fields` beside the entry's own, for entries that nest what others do not.
    pub(super) fn spread(&mut self, fields: Map<String, Value>) {
        self.fields.extend(fields);
    }

    /// A boolean.
    pub(super) fn flag(&mut self, field: &str) -> Result<Option<bool>, Reason> {
        match self.raw(field) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.wrong(field, &other, "true or false")),
        }
    }

    /// A number above zero.
    pub(super) fn positive(&mut self, field: &str) -> Result<Option<f64>, Reason> {
        match self.raw(field) {
            None => Ok(None),
            Some(value) => match value.as_f64().filter(|number| *number > 0.0) {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(field, &value, "a number above zero")),
            },
        }
    }

    /// A string that is a word of the app's format, so nothing in it is rewritten.
    pub(super) fn word(&mut self, field: &str) -> Result<Option<String>, Reason> {
        match self.raw(field) {
            None => Ok(None),
            Some(Value::String(word)) => Ok(Some(word)),
            Some(other) => Err(self.wrong(field, &other, "a string")),
        }
    }

    /// A string.
    pub(super) fn text(&mut self, field: &str) -> Result<Option<String>, Reason> {
        match self.word(field)? {
            None => Ok(None),
            Some(text) => self.whole(field, &text).map(Some),
        }
    }

    /// A list of strings; numbers and booleans among them count as written.
    pub(super) fn texts(&mut self, field: &str) -> Result<Option<Vec<String>>, Reason> {
        match self.raw(field) {
            None => Ok(None),
            Some(Value::Array(items)) => {
                let items = items.into_iter().enumerate();
                items
                    .map(|(index, item)| self.item(&format!("{field}[{index}]"), item))
                    .collect::<Result<_, _>>()
                    .map(Some)
            }
            Some(other) => Err(self.wrong(field, &other, "a list of strings")),
        }
    }

    /// An object of strings; numbers and booleans among them count as written.
    ///
    /// A value that is in a file is left out with a note: the server may still be of use without it.
    pub(super) fn pairs(&mut self, field: &str) -> Result<Map<String, Value>, Reason> {
        let members = match self.raw(field) {
            None => return Ok(Map::new()),
            Some(Value::Object(members)) => members,
            Some(other) => return Err(self.wrong(field, &other, "an object of strings")),
        };
        let mut pairs = Map::new();
        for (name, value) in members {
            let path = format!("{field}.{name}");
            if value.is_null() {
                self.note(format!("`{path}` is null there, which unsets it; it is left out"));
                continue;
            }
            let rewritten = self.rewritten(&path, value)?;
            if rewritten.from_file {
                self.note(format!(
                    "`{path}` is left out: its value is in a file, which cannot be referred to here"
                ));
            } else {
                self.remark(&path, rewritten.notes);
                pairs.insert(name, Value::String(rewritten.text));
            }
        }
        Ok(pairs)
    }

    /// The entry inside `field`, when it is an object; give it back with [`Entry::close`].
    pub(super) fn open(&mut self, field: &str, prefix: &'static str) -> Option<Self> {
        match self.raw(field) {
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

    /// Takes over what was noticed about an inner entry.
    pub(super) fn close(&mut self, inner: Self) {
        for note in inner.into_notes() {
            self.note(note);
        }
    }

    /// Something a person should know before adding the server.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        let text = one_line(&text.into());
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// The notes, and one more about the fields nobody asked for.
    pub(super) fn into_notes(mut self) -> Vec<String> {
        let unread = self.fields.iter().filter(|(_, value)| !value.is_null());
        let left: Vec<String> = unread.map(|(field, _)| format!("`{}{field}`", self.prefix)).collect();
        if !left.is_empty() {
            self.note(format!("not carried over: {}", left.join(", ")));
        }
        self.notes
    }

    fn item(&mut self, path: &str, item: Value) -> Result<String, Reason> {
        let text = self.rewritten(path, item)?;
        self.kept(path, text)
    }

    fn whole(&mut self, path: &str, text: &str) -> Result<String, Reason> {
        let rewritten = self.syntax.rewrite(text);
        self.kept(path, rewritten)
    }

    fn kept(&mut self, path: &str, rewritten: Rewritten) -> Result<String, Reason> {
        if rewritten.from_file {
            let prefix = self.prefix;
            return Err(Reason::new(format!(
                "a part of `{prefix}{path}` is in a file, which cannot be referred to here"
            )));
        }
        self.remark(path, rewritten.notes);
        Ok(rewritten.text)
    }

    fn rewritten(&self, path: &str, value: Value) -> Result<Rewritten, Reason> {
        match value {
            Value::String(text) => Ok(self.syntax.rewrite(&text)),
            Value::Number(number) => Ok(Rewritten::plain(number.to_string())),
            Value::Bool(flag) => Ok(Rewritten::plain(flag.to_string())),
            other @ (Value::Null | Value::Array(_) | Value::Object(_)) => {
                Err(self.wrong(path, &other, "a string"))
            }
        }
    }

    fn remark(&mut self, path: &str, remarks: Vec<Remark>) {
        let prefix = self.prefix;
        for remark in remarks {
            match remark {
                Remark::Here(text) => self.note(format!("`{prefix}{path}`: {text}")),
                Remark::Variable(text) => self.note(text),
            }
        }
    }

    fn wrong(&self, field: &str, value: &Value, wanted: &str) -> Reason {
        Reason::new(format!("`{}{field}` is {}, not {wanted}", self.prefix, kind(value)))
    }
}
