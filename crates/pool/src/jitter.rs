//! Random numbers for retry jitter; in schedule exploration tests the schedule chooses them.

#[cfg(not(test))]
pub(crate) use mcparley_platform::random::random_number as number;

#[cfg(test)]
pub(crate) use crate::explore::executor::number;
