//! What can be wrong with the bytes of a document or of a binary field.

/// A problem and its position in the field or document that is being read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("at byte {at}: {problem}")]
pub struct Malformed {
    /// Bytes from the beginning of the field.
    pub at: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with some bytes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes end too early.
    #[error("{needed} bytes are needed, {left} are left")]
    Truncated {
        /// What the next item needs.
        needed: usize,
        /// What there is.
        left: usize,
    },
    /// Bytes follow where the field should end.
    #[error("{bytes} bytes too many")]
    Trailing {
        /// How many.
        bytes: usize,
    },
    /// A string is not UTF-8.
    #[error("a string that is not UTF-8")]
    NotUtf8,
    /// A count is negative, or more than can follow.
    #[error("a count of {found}, but at most {most} entries can follow")]
    Count {
        /// The count.
        found: i32,
        /// How many entries the bytes that are left could hold.
        most: usize,
    },
    /// There is more of something than is read.
    #[error("more than {most} of these are not read")]
    TooMany {
        /// How many are.
        most: usize,
    },
    /// A number has none of the values that are known.
    #[error("{what} is {found}; expected {expected}")]
    Value {
        /// Which number.
        what: &'static str,
        /// Its value.
        found: i64,
        /// What is allowed, in words.
        expected: &'static str,
    },
    /// Something must be there and is not.
    #[error("{what} is missing")]
    Missing {
        /// What.
        what: String,
    },
}
