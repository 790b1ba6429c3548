//! Edits one value of a JSON file and leaves every other byte as it is.
//!
//! Comments, key order, indentation, line ends, a byte order mark and unknown keys survive. A file that
//! does not parse is refused, and a value of the wrong kind is never replaced: content that we do not
//! understand must not be overwritten.

use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use mcparley_model::document::{JsonDocument, SyntaxError, parse_options};
use mcparley_model::explain::Explain;
use mcparley_model::scope::Source;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// An editor of one JSON file.
#[derive(Debug)]
pub struct JsonEditor {
    source: Source,
    root: CstRootNode,
    has_byte_order_mark: bool,
}

impl JsonEditor {
    /// Opens the text of a file; `None` is a file that does not exist yet.
    ///
    /// # Errors
    /// When the text is not JSON, or not an object.
    pub fn open(source: Source, text: Option<&str>) -> Result<Self, EditError> {
        let text = text.unwrap_or_default();
        let bare = text.strip_prefix(BYTE_ORDER_MARK);
        let document = JsonDocument::parse(source.clone(), text)?;
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

    /// The text with all edits.
    #[must_use]
    pub fn edited_text(&self) -> String {
        let text = self.root.to_string();
        if self.has_byte_order_mark { format!("{BYTE_ORDER_MARK}{text}") } else { text }
    }

    /// Adds a member to the object at `path`, which is created if missing.
    ///
    /// # Errors
    /// [`EditError::Exists`] if the member exists already.
    pub fn insert_member(&self, path: &[&str], name: &str, value: &Value) -> Result<(), EditError> {
        let object = self.find_or_create_object(path)?;
        if object.get(name).is_some() {
            return Err(EditError::Exists { name: name.to_owned(), file: self.source.clone() });
        }
        object.append(name, to_input_value(value));
        Ok(())
    }

    /// Adds or replaces a member of the object at `path`.
    ///
    /// # Errors
    /// A value on the path is not an object.
    pub fn set_member(&self, path: &[&str], name: &str, value: &Value) -> Result<(), EditError> {
        let object = self.find_or_create_object(path)?;
        match find_member(&object, name) {
            Some(property) => property.set_value(to_input_value(value)),
            None => drop(object.append(name, to_input_value(value))),
        }
        Ok(())
    }

    /// Removes all members called `name` from the object at `path`; returns whether there was one.
    ///
    /// # Errors
    /// A value on the path is not an object.
    pub fn remove_member(&self, path: &[&str], name: &str) -> Result<bool, EditError> {
        let Some(object) = self.find_object(path)? else { return Ok(false) };
        let mut removed = false;
        while let Some(property) = object.get(name) {
            property.remove();
            removed = true;
        }
        Ok(removed)
    }

    /// Adds `item` to the list `name` of the object at `path`, unless the list contains it.
    ///
    /// # Errors
    /// The value called `name` is not a list.
    pub fn add_to_list(&self, path: &[&str], name: &str, item: &str) -> Result<(), EditError> {
        let object = self.find_or_create_object(path)?;
        match object.get(name) {
            None => drop(object.append(name, to_input_value(&Value::from(vec![item])))),
            Some(_) => {
                let list = self.find_list(&object, path, name)?;
                if !list.elements().iter().any(|element| is_string_value(element, item)) {
                    list.append(to_input_value(&Value::from(item)));
                }
            }
        }
        Ok(())
    }

    /// Removes the matching items from the list `name` of the object at `path`; returns whether there was
    /// one.
    ///
    /// # Errors
    /// The value called `name` is not a list.
    pub fn remove_from_list(
        &self,
        path: &[&str],
        name: &str,
        matches: impl Fn(&str) -> bool,
    ) -> Result<bool, EditError> {
        let Some(object) = self.find_object(path)? else { return Ok(false) };
        if object.get(name).is_none() {
            return Ok(false);
        }
        let mut removed = false;
        for element in self.find_list(&object, path, name)?.elements() {
            if string_value(&element).is_some_and(|text| matches(&text)) {
                element.remove();
                removed = true;
            }
        }
        Ok(removed)
    }

    fn find_object(&self, path: &[&str]) -> Result<Option<CstObject>, EditError> {
        let Some(mut object) = self.root.object_value() else { return Ok(None) };
        for (depth, name) in path.iter().enumerate() {
            let Some(property) = find_member(&object, name) else { return Ok(None) };
            object =
                property.object_value().ok_or_else(|| self.object_error(path, depth, property.value()))?;
        }
        Ok(Some(object))
    }

    fn find_or_create_object(&self, path: &[&str]) -> Result<CstObject, EditError> {
        // Checked first, because creating would replace a value of another kind.
        self.find_object(path)?;
        let root = self.root.object_value_or_set();
        let step = |object: CstObject, name: &&str| {
            let found = find_member(&object, name).and_then(|property| property.object_value());
            found.unwrap_or_else(|| object.object_value_or_set(name))
        };
        Ok(path.iter().fold(root, step))
    }

    fn find_list(&self, object: &CstObject, path: &[&str], name: &str) -> Result<CstArray, EditError> {
        let list = find_member(object, name).and_then(|property| property.array_value());
        list.ok_or_else(|| EditError::NotAList {
            path: path.iter().chain([&name]).copied().collect::<Vec<_>>().join("."),
            file: self.source.clone(),
        })
    }

    fn object_error(&self, path: &[&str], depth: usize, found: Option<CstNode>) -> EditError {
        EditError::NotAnObject {
            path: path.iter().take(depth + 1).copied().collect::<Vec<_>>().join("."),
            found: found.map_or_else(|| "nothing".to_owned(), |node| node_kind(&node).to_owned()),
            file: self.source.clone(),
        }
    }
}

/// The member called `name`; of duplicates the last, because parsers take that one.
fn find_member(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    let called = |property: &CstObjectProp| {
        property.name().and_then(|found| found.decoded_value().ok()).is_some_and(|found| found == name)
    };
    object.properties().into_iter().rfind(called)
}

fn node_kind(node: &CstNode) -> &'static str {
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

fn string_value(node: &CstNode) -> Option<String> {
    node.as_string_lit().and_then(|literal| literal.decoded_value().ok())
}

fn is_string_value(node: &CstNode, text: &str) -> bool {
    string_value(node).is_some_and(|value| value == text)
}

fn to_input_value(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(elements) => CstInputValue::Array(elements.iter().map(to_input_value).collect()),
        Value::Object(members) => CstInputValue::Object(
            members.iter().map(|(name, value)| (name.clone(), to_input_value(value))).collect(),
        ),
    }
}

/// The error for an edit that was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The file is not JSON.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// A value that must be an object is not.
    #[error("{file}: {} is {found}, not an object", if path.is_empty() { "the file".to_owned() } else { format!("`{path}`") })]
    NotAnObject {
        /// The path in the file.
        path: String,
        /// The kind of value found.
        found: String,
        /// The file.
        file: Source,
    },
    /// A value that must be a list is not.
    #[error("{file}: `{path}` is not a list")]
    NotAList {
        /// The path in the file.
        path: String,
        /// The file.
        file: Source,
    },
    /// The name exists already.
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
                Some(format!("fix {file} by hand; it was not changed"))
            }
            Self::Exists { name, .. } => {
                Some(format!("remove it first with `mcparley remove {name}`, or choose another name"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
