//! The outcome of a call for a program that forwards it: a valid result is not decoded.

use std::sync::Arc;

use mcparley_json::{RawJson, ResultScan, UnexpectedShape};

use crate::budget::ResultBudget;
use crate::outcome::CallOutcome;
use crate::shape::shape_outcome;

/// The outcome of a call for a program that forwards it.
#[derive(Clone, Debug, PartialEq)]
pub enum ForwardableOutcome {
    /// A valid result that was not decoded.
    Scanned(ScannedResult),
    /// A result that was decoded, because it is damaged or unusual, too long, or changed by a hook.
    Shaped(CallOutcome),
}

/// A valid result of a call in a usual form, without hidden characters. It was scanned and not decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct ScannedResult {
    raw: RawJson,
    scan: Arc<ResultScan>,
    is_error: bool,
}

impl ScannedResult {
    /// The result, if its scan shows nothing that has to be changed; the answer otherwise.
    fn try_new(answer: RawJson) -> Result<Self, RawJson> {
        let Some(scan) = answer.result_scan() else { return Err(answer) };
        let is_error = match scan.member(answer.as_bytes(), "isError") {
            None | Some(b"false") => false,
            Some(b"true") => true,
            Some(_) => return Err(answer),
        };
        if scan.may_hide || scan.blocks.is_none() {
            return Err(answer);
        }
        Ok(Self { raw: answer, scan, is_error })
    }

    /// The result as the server sent it.
    #[must_use]
    pub fn raw(&self) -> &RawJson {
        &self.raw
    }

    /// The notes of the scan.
    #[must_use]
    pub fn scan(&self) -> &ResultScan {
        &self.scan
    }

    /// Whether the result certainly fits the budget, without counting its characters and tokens.
    #[must_use]
    pub fn fits_budget(&self, budget: ResultBudget) -> bool {
        let is_text = self.scan.blocks.is_some_and(|blocks| blocks.are_only_text());
        let is_short = budget.can_hold_bytes(self.raw.as_bytes().len());
        // Four characters of ASCII are a token.
        is_text
            && (is_short
                || self.scan.ascii_chars.is_some_and(|chars| budget.can_hold(chars, chars.div_ceil(4))))
    }
}

impl ForwardableOutcome {
    /// The outcome of the server's answer to a call. The answer is decoded only if it has to be.
    ///
    /// # Errors
    /// [`UnexpectedShape`] if it is not an answer to a call.
    pub fn from_answer(answer: RawJson) -> Result<Self, UnexpectedShape> {
        match ScannedResult::try_new(answer) {
            Ok(scanned) => Ok(Self::Scanned(scanned)),
            Err(answer) => shape_outcome(answer).map(Self::Shaped),
        }
    }

    /// Whether the tool returned an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        match self {
            Self::Scanned(scanned) => scanned.is_error,
            Self::Shaped(outcome) => outcome.is_error,
        }
    }

    /// The unmodified answer.
    #[must_use]
    pub fn raw(&self) -> &RawJson {
        match self {
            Self::Scanned(scanned) => &scanned.raw,
            Self::Shaped(outcome) => &outcome.raw,
        }
    }

    /// Whether a part of the result was stored.
    #[must_use]
    pub fn is_stored(&self) -> bool {
        match self {
            Self::Scanned(_) => false,
            Self::Shaped(outcome) => !outcome.stored.is_empty(),
        }
    }

    /// The decoded outcome.
    #[must_use]
    pub fn into_outcome(self) -> CallOutcome {
        match self {
            Self::Shaped(outcome) => outcome,
            Self::Scanned(ScannedResult { raw, is_error, .. }) => {
                let undecoded = CallOutcome { is_error, ..CallOutcome::from_raw(raw.clone()) };
                // A result with a list of blocks can always be decoded.
                shape_outcome(raw).unwrap_or(undecoded)
            }
        }
    }
}

#[cfg(test)]
mod tests;
