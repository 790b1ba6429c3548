//! Switches of a server's tools: `enabledTools` and `disabledTools` of its entry.

use mcparley_model::config::ServerConfig;
use mcparley_model::glob::Glob;
use mcparley_model::name::ToolName;

/// The tools of a server that its entry enables.
#[derive(Debug, Default)]
pub struct ToolSwitches {
    /// The allow-list; an empty one allows every tool.
    enabled: Vec<Glob>,
    disabled: Vec<Glob>,
}

impl ToolSwitches {
    /// The switches of an entry.
    #[must_use]
    pub fn from_config(config: &ServerConfig) -> Self {
        let globs =
            |patterns: &[String]| -> Vec<Glob> { patterns.iter().map(|text| Glob::new(text)).collect() };
        Self { enabled: globs(&config.enabled_tools), disabled: globs(&config.disabled_tools) }
    }

    /// Whether the entry enables the tool.
    #[must_use]
    pub fn is_enabled(&self, tool: &ToolName) -> bool {
        let is_in = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(tool.as_str()));
        (self.enabled.is_empty() || is_in(&self.enabled)) && !is_in(&self.disabled)
    }
}
