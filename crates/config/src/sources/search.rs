//! Word vectors of tool search: those of the option, else of the environment, else of the settings.

use std::path::PathBuf;

use super::{LoadedConfig, SourceCollector};

/// The environment variable with the path of the vectors.
const VARIABLE: &str = "MCPARLEY_SEARCH_VECTORS";

impl SourceCollector<'_> {
    /// The path of the option; `None` if it is not given.
    pub(super) fn requested_vectors(&self) -> Option<PathBuf> {
        self.run_options.search_vectors.as_ref().map(|path| self.paths.cwd.join(path))
    }
}

impl LoadedConfig {
    /// Sets the vectors: those that were requested, else those of the environment or the settings. The project
    /// folder cannot set the variable.
    pub(super) fn with_vectors(mut self, requested: Option<PathBuf>) -> Self {
        let of_env = self.env.get(VARIABLE).filter(|path| !path.is_empty() && self.is_own_variable(VARIABLE));
        let of_settings = || self.settings.search_vectors.as_ref().map(|path| path.value.clone());
        self.search_vectors = requested.or_else(|| of_env.map(PathBuf::from)).or_else(of_settings);
        self
    }
}
