//! Puts everything there is to say about a value into one description.

use super::part::About;

/// The longest default that is told in words.
const DEFAULT_CHARS: usize = 200;

impl About {
    /// The same with one more remark.
    pub(super) fn with(mut self, remark: impl Into<String>) -> Self {
        self.remarks.push(remark.into());
        self
    }

    /// The description and the remarks.
    pub(super) fn words(&self) -> Option<String> {
        let all: Vec<&str> = self
            .description
            .iter()
            .chain(&self.remarks)
            .map(|text| text.trim())
            .filter(|text| !text.is_empty())
            .collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// All of it, for an API that has no place for the others.
    pub(super) fn all_words(&self) -> Option<String> {
        let mut about = self.clone();
        if about.description.is_none() {
            about.description = about.title.take();
        }
        if let Some(default) = self.default.as_ref().filter(|default| !default.is_null()) {
            let default = default.to_string();
            if default.chars().count() <= DEFAULT_CHARS {
                about.remarks.push(format!("Default: {default}."));
            }
        }
        about.words()
    }
}
