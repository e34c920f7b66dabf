//! [`Truth`]: the result of a test that may not be known yet.

/// The result of a selection or of one of its tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Truth {
    /// It is false, whatever else is read.
    No,
    /// More must be read to know it.
    Unknown,
    /// It is true, whatever else is read.
    Yes,
}

impl Truth {
    /// Returns the opposite.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
            Self::Yes => Self::No,
        }
    }

    /// Returns whether all are true. Evaluates only up to the first that is false.
    pub(super) fn all(results: impl Iterator<Item = Self>) -> Self {
        let mut all = Self::Yes;
        for result in results {
            match result {
                Self::No => return Self::No,
                Self::Unknown => all = Self::Unknown,
                Self::Yes => {}
            }
        }
        all
    }

    /// Returns whether at least one is true. Evaluates only up to the first that is true.
    pub(super) fn any(results: impl Iterator<Item = Self>) -> Self {
        Self::all(results.map(Self::negated)).negated()
    }
}

impl From<bool> for Truth {
    fn from(is_true: bool) -> Self {
        if is_true { Self::Yes } else { Self::No }
    }
}

#[cfg(test)]
mod tests {
    use super::Truth::{No, Unknown, Yes};
    use super::*;

    #[test]
    fn unknown_values_do_not_change_what_is_certain() {
        let all = |results: &[Truth]| Truth::all(results.iter().copied());
        let any = |results: &[Truth]| Truth::any(results.iter().copied());
        assert_eq!((all(&[Yes, Unknown, No]), all(&[Yes, Unknown]), all(&[])), (No, Unknown, Yes));
        assert_eq!((any(&[No, Unknown, Yes]), any(&[No, Unknown]), any(&[])), (Yes, Unknown, No));
        assert_eq!([No, Unknown, Yes].map(Truth::negated), [Yes, Unknown, No]);
    }
}
