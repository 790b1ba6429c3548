//! Changes one place of a JSON file and leaves every other byte as it is (C14).
//!
//! Comments, key order, indentation, line ends, a byte order mark and keys we do not know survive. A file
//! that does not parse is refused, and a value of the wrong kind is never replaced: what we do not
//! understand is not ours to overwrite.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use crate::document::{Document, SyntaxError, parse_options};
use crate::explain::Explain;
use crate::scope::Source;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A file being changed.
#[derive(Debug)]
pub struct Editor {
    source: Source,
    root: CstRootNode,
    has_byte_order_mark: bool,
}

impl Editor {
    /// Opens the text of a file; `None` is a file that does not exist yet.
    ///
    /// # Errors
    /// When the text is not JSON, or not an object.
    pub fn open(source: Source, text: Option<&str>) -> Result<Self, EditError> {
        let text = text.unwrap_or_default();
        let bare = text.strip_prefix(BYTE_ORDER_MARK);
        let document = Document::parse(source.clone(), text)?;
        if let Some(root) = document.root()
            && root.as_object().is_none()
        {
            return Err(EditError::NotAnObject {
                path: String::new(),
                found: root.kind().to_string(),
                file: source,
            });
        }
        let root = CstRootNode::parse(bare.unwrap_or(text), &parse_options()).map_err(|error| {
            EditError::NotAnObject { path: String::new(), found: error.to_string(), file: source.clone() }
        })?;
        Ok(Self { source, root, has_byte_order_mark: bare.is_some() })
    }

    /// The changed text.
    #[must_use]
    pub fn finish(&self) -> String {
        let text = self.root.to_string();
        if self.has_byte_order_mark { format!("{BYTE_ORDER_MARK}{text}") } else { text }
    }

    /// Adds a member to the object at `path`, which is made when missing.
    ///
    /// # Errors
    /// [`EditError::Exists`] when it is there already.
    pub fn insert(&self, path: &[&str], name: &str, value: &Value) -> Result<(), EditError> {
        let object = self.find_or_make(path)?;
        if object.get(name).is_some() {
            return Err(EditError::Exists { name: name.to_owned(), file: self.source.clone() });
        }
        object.append(name, input(value));
        Ok(())
    }

    /// Adds or replaces a member of the object at `path`.
    ///
    /// # Errors
    /// When something on the way is no object.
    pub fn set(&self, path: &[&str], name: &str, value: &Value) -> Result<(), EditError> {
        let object = self.find_or_make(path)?;
        match member(&object, name) {
            Some(property) => property.set_value(input(value)),
            None => drop(object.append(name, input(value))),
        }
        Ok(())
    }

    /// Removes a member of the object at `path`, every one of that name; tells whether there was one.
    ///
    /// # Errors
    /// When something on the way is no object.
    pub fn remove(&self, path: &[&str], name: &str) -> Result<bool, EditError> {
        let Some(object) = self.find(path)? else { return Ok(false) };
        let mut removed = false;
        while let Some(property) = object.get(name) {
            property.remove();
            removed = true;
        }
        Ok(removed)
    }

    /// Adds `item` to the list `name` of the object at `path`, unless it is there.
    ///
    /// # Errors
    /// When the list is no list.
    pub fn add_to_list(&self, path: &[&str], name: &str, item: &str) -> Result<(), EditError> {
        let object = self.find_or_make(path)?;
        match object.get(name) {
            None => drop(object.append(name, input(&Value::from(vec![item])))),
            Some(_) => {
                let list = self.list(&object, path, name)?;
                if !list.elements().iter().any(|element| is_text(element, item)) {
                    list.append(input(&Value::from(item)));
                }
            }
        }
        Ok(())
    }

    /// Removes from the list `name` of the object at `path` what `matches`; tells whether there was any.
    ///
    /// # Errors
    /// When the list is no list.
    pub fn remove_from_list(
        &self,
        path: &[&str],
        name: &str,
        matches: impl Fn(&str) -> bool,
    ) -> Result<bool, EditError> {
        let Some(object) = self.find(path)? else { return Ok(false) };
        if object.get(name).is_none() {
            return Ok(false);
        }
        let mut removed = false;
        for element in self.list(&object, path, name)?.elements() {
            if text_of(&element).is_some_and(|text| matches(&text)) {
                element.remove();
                removed = true;
            }
        }
        Ok(removed)
    }

    fn find(&self, path: &[&str]) -> Result<Option<CstObject>, EditError> {
        let Some(mut object) = self.root.object_value() else { return Ok(None) };
        for (depth, name) in path.iter().enumerate() {
            let Some(property) = member(&object, name) else { return Ok(None) };
            object =
                property.object_value().ok_or_else(|| self.not_an_object(path, depth, property.value()))?;
        }
        Ok(Some(object))
    }

    fn find_or_make(&self, path: &[&str]) -> Result<CstObject, EditError> {
        // Looked at first, because making would replace a value of another kind.
        self.find(path)?;
        let root = self.root.object_value_or_set();
        let step = |object: CstObject, name: &&str| {
            let found = member(&object, name).and_then(|property| property.object_value());
            found.unwrap_or_else(|| object.object_value_or_set(name))
        };
        Ok(path.iter().fold(root, step))
    }

    fn list(&self, object: &CstObject, path: &[&str], name: &str) -> Result<CstArray, EditError> {
        let list = member(object, name).and_then(|property| property.array_value());
        list.ok_or_else(|| EditError::NotAList {
            path: path.iter().chain([&name]).copied().collect::<Vec<_>>().join("."),
            file: self.source.clone(),
        })
    }

    fn not_an_object(&self, path: &[&str], depth: usize, found: Option<CstNode>) -> EditError {
        EditError::NotAnObject {
            path: path.iter().take(depth + 1).copied().collect::<Vec<_>>().join("."),
            found: found.map_or_else(|| "nothing".to_owned(), |node| kind(&node).to_owned()),
            file: self.source.clone(),
        }
    }
}

/// The member called `name`; of several the last, because that is the one readers take.
fn member(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    let called = |property: &CstObjectProp| {
        property.name().and_then(|found| found.decoded_value().ok()).is_some_and(|found| found == name)
    };
    object.properties().into_iter().rfind(called)
}

fn kind(node: &CstNode) -> &'static str {
    if node.as_array().is_some() {
        "an array"
    } else if node.as_string_lit().is_some() {
        "a string"
    } else if node.as_number_lit().is_some() {
        "a number"
    } else if node.as_boolean_lit().is_some() {
        "a boolean"
    } else {
        "null"
    }
}

fn text_of(node: &CstNode) -> Option<String> {
    node.as_string_lit().and_then(|literal| literal.decoded_value().ok())
}

fn is_text(node: &CstNode, text: &str) -> bool {
    text_of(node).is_some_and(|value| value == text)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(elements) => CstInputValue::Array(elements.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// A change that was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The file is not JSON.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// Something that must be an object is not.
    #[error("{file}: {} is {found}, not an object", if path.is_empty() { "the file".to_owned() } else { format!("`{path}`") })]
    NotAnObject {
        /// Its path in the file.
        path: String,
        /// What it is.
        found: String,
        /// The file.
        file: Source,
    },
    /// Something that must be a list is not.
    #[error("{file}: `{path}` is not a list")]
    NotAList {
        /// Its path in the file.
        path: String,
        /// The file.
        file: Source,
    },
    /// The name is taken.
    #[error("`{name}` already exists in {file}")]
    Exists {
        /// The name.
        name: String,
        /// The file.
        file: Source,
    },
}

impl Explain for EditError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax(error) => error.hint(),
            Self::NotAnObject { file, .. } | Self::NotAList { file, .. } => {
                Some(format!("mend {file} by hand; it was not touched"))
            }
            Self::Exists { name, .. } => {
                Some(format!("remove it first with `mcparley remove {name}`, or choose another name"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
