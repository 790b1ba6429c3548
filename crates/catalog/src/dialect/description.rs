//! Joins the annotations of a schema into one description.

use super::plain_schema::SchemaAnnotations;

/// The maximum length of a default value in a description.
const DEFAULT_CHARS: usize = 200;

impl SchemaAnnotations {
    /// Adds a remark.
    pub(super) fn with_remark(mut self, remark: impl Into<String>) -> Self {
        self.remarks.push(remark.into());
        self
    }

    /// The description and the remarks.
    pub(super) fn description_text(&self) -> Option<String> {
        let all: Vec<&str> = self
            .description
            .iter()
            .chain(&self.remarks)
            .map(|text| text.trim())
            .filter(|text| !text.is_empty())
            .collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// The description with title and default value, for an API that has no fields for them.
    pub(super) fn full_description_text(&self) -> Option<String> {
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
        about.description_text()
    }
}
