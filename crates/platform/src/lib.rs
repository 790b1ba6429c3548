//! Processes that cannot outlive us, files that cannot tear.
