//! Pages of the detail pane.

/// A page of the detail pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Page {
    #[default]
    Tools,
    Resources,
    Prompts,
    Calls,
    Log,
    Errors,
    About,
}

impl Page {
    /// Every page, in the order of the tabs.
    pub(super) const ALL: [Self; 7] =
        [Self::Tools, Self::Resources, Self::Prompts, Self::Calls, Self::Log, Self::Errors, Self::About];

    /// The label of the tab.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Tools => "Tools",
            Self::Resources => "Resources",
            Self::Prompts => "Prompts",
            Self::Calls => "Calls",
            Self::Log => "Log",
            Self::Errors => "Errors",
            Self::About => "About",
        }
    }

    /// Whether the page is a list with a cursor; the others are texts that scroll.
    pub(super) fn is_list(self) -> bool {
        match self {
            Self::Tools | Self::Resources | Self::Prompts | Self::Calls | Self::Log => true,
            Self::Errors | Self::About => false,
        }
    }

    /// The page that is `steps` further, around the end.
    pub(super) fn step(self, steps: isize) -> Self {
        let place = Self::ALL.iter().position(|page| *page == self).unwrap_or_default();
        let next = (place.cast_signed() + steps).rem_euclid(Self::ALL.len().cast_signed());
        Self::ALL.get(next.cast_unsigned()).copied().unwrap_or_default()
    }
}
