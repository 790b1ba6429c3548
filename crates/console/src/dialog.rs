//! Dialogs: questions to the user at a terminal.
