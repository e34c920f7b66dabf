//! Errors in the bytes of a document or of a binary field.

/// An error at an offset in a field or document.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("at byte {at}: {problem}")]
pub struct Malformed {
    /// The offset in bytes from the start of the field or document.
    pub at: usize,
    /// The reason.
    pub problem: Problem,
}

/// The reason why bytes are malformed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes end too early.
    #[error("{needed} bytes needed, but only {left} left")]
    Truncated {
        /// The size of the next item.
        needed: usize,
        /// The number of bytes left.
        left: usize,
    },
    /// Bytes follow after the end of the field.
    #[error("{bytes} extra bytes at the end")]
    Trailing {
        /// The number of extra bytes.
        bytes: usize,
    },
    /// A string is not UTF-8.
    #[error("the string is not UTF-8")]
    NotUtf8,
    /// A count is negative, or greater than the bytes that follow allow.
    #[error("the count is {found}, but at most {most} entries can follow")]
    Count {
        /// The stored count.
        found: i32,
        /// The maximum number of entries in the remaining bytes.
        most: usize,
    },
    /// There are more items than the limit.
    #[error("more than {most} items, which is the limit")]
    TooMany {
        /// The limit.
        most: usize,
    },
    /// A number has an unexpected value.
    #[error("{what} is {found}; expected {expected}")]
    Value {
        /// A description of the number.
        what: &'static str,
        /// Its value.
        found: i64,
        /// A description of the allowed values.
        expected: &'static str,
    },
    /// Something required is missing.
    #[error("{what} is missing")]
    Missing {
        /// A description of the missing item.
        what: String,
    },
}
