//! What is alive, and one call from end to end: the crate other agents embed.
