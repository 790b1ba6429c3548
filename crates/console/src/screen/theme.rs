//! Colors of the screen. Without colors only bold, dim and reversed text is used.

use ratatui::style::{Color, Modifier, Style};

use super::row_state::RowTone;

/// The styles of the screen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Theme {
    has_colors: bool,
}

impl Theme {
    pub(super) fn new(has_colors: bool) -> Self {
        Self { has_colors }
    }

    /// The style of a tone.
    pub(super) fn tone(self, tone: RowTone) -> Style {
        let color = match tone {
            RowTone::Plain => return Style::new(),
            RowTone::Faint => return self.faint(),
            RowTone::Good => Color::Green,
            RowTone::Waiting => Color::Yellow,
            RowTone::Bad => Color::Red,
        };
        if self.has_colors { Style::new().fg(color) } else { Style::new() }
    }

    /// The style of titles and of the current tab.
    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The style of remarks.
    pub(super) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// The style of the row under the cursor, in the pane that the keys move in.
    pub(super) fn cursor(self, is_focused: bool) -> Style {
        if is_focused { Style::new().add_modifier(Modifier::REVERSED) } else { self.strong() }
    }
}
