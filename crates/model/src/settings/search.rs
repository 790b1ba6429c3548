//! Reads `search`: the word vectors that tool search uses.
//!
//! They decide which tools a model finds, so files in the project's folder cannot choose them.

use std::path::PathBuf;

use super::{MergedSettings, SettingsLayer};
use crate::config::Spanned;
use crate::document::Node;

impl MergedSettings {
    pub(super) fn read_search(&mut self, value: Node<'_>, layer: SettingsLayer) {
        if !layer.is_outside_project() {
            let text = "a file in the project's folder cannot choose the vectors of the tool search";
            return self.add_warning(value, text.to_owned());
        }
        let path = value.get("vectors").map(|path| (path.origin(), path.as_str().map(PathBuf::from)));
        match path {
            Some((origin, Some(path))) if path.is_absolute() => {
                self.search_vectors = Some(Spanned { value: path, origin });
            }
            Some(_) | None => {
                self.add_warning(value, r#"`search` is `{"vectors": "/an/absolute/path"}`"#.to_owned());
            }
        }
    }
}
