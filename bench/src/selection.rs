//! The figures that `--only` selects, and what to say if there is none.

use std::cell::RefCell;
use std::io;

/// A selection of figures by a part of their name. It remembers the names that it was asked for.
pub(crate) struct FigureSelection {
    text: Option<String>,
    names: RefCell<Vec<String>>,
}

impl FigureSelection {
    pub(crate) fn new(text: Option<String>) -> Self {
        Self { text, names: RefCell::default() }
    }

    /// Whether a figure of this name is to be measured.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.borrow_mut().push(name.to_owned());
        self.text.as_ref().is_none_or(|text| name.contains(text.as_str()))
    }

    /// The error of a selection without a figure, which lists the figures there are.
    pub(crate) fn into_error(self) -> io::Error {
        let text = self.text.unwrap_or_default();
        let names = self.names.into_inner().join("\n  ");
        io::Error::other(format!("no figure has a name that contains `{text}`; there are:\n  {names}"))
    }
}
