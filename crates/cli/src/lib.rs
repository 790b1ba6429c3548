//! The host for people: arguments, rendering and exit codes.
