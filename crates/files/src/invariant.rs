//! `invariant!`: checks a guarantee of the program's own logic.

use std::panic::Location;

/// A guarantee of this program's own logic was violated: a bug.
#[derive(Clone, Debug, thiserror::Error)]
#[error("bug in hyworld: violated invariant at {location}: {what}; please report it")]
pub struct BrokenInvariant {
    what: &'static str,
    location: &'static Location<'static>,
}

impl BrokenInvariant {
    /// Reports a violated guarantee. See [`invariant!`](crate::invariant!).
    ///
    /// # Panics
    /// Panics in builds with debug assertions.
    #[track_caller]
    pub fn new(what: &'static str) -> Self {
        debug_assert!(false, "invariant: {what}");
        Self { what, location: Location::caller() }
    }
}

/// Unwraps an `Option` that this program's own logic guarantees to be `Some`. The second argument
/// states the guarantee. Evaluates to a `Result` with [`BrokenInvariant`] as the error. Builds with
/// debug assertions (debug, tests, fuzzing) panic instead.
///
/// Not for external input: invalid bytes in a file are a normal error, never a bug.
///
/// ```
/// use hyworld_files::{BrokenInvariant, invariant};
///
/// fn largest(numbers: [u8; 3]) -> Result<u8, BrokenInvariant> {
///     invariant!(numbers.into_iter().max(), "an array of 3 has a largest element")
/// }
/// # assert_eq!(largest([1, 7, 3]).unwrap(), 7);
/// ```
#[macro_export]
macro_rules! invariant {
    ($option:expr, $what:literal) => {
        match $option {
            Some(value) => Ok(value),
            None => Err($crate::BrokenInvariant::new($what)),
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(numbers: &[u8]) -> Result<u8, BrokenInvariant> {
        invariant!(numbers.first().copied(), "there is a first")
    }

    #[test]
    fn a_satisfied_invariant_returns_the_value() {
        assert_eq!(first(&[3, 4]).unwrap(), 3);
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "invariant: there is a first")]
    fn a_violated_invariant_panics_in_tests() {
        drop(first(&[]));
    }

    #[cfg(not(debug_assertions))]
    #[test]
    fn a_violated_invariant_is_an_error_in_a_release() {
        let error = first(&[]).unwrap_err().to_string();
        assert!(error.contains("invariant.rs") && error.contains("there is a first"), "{error}");
    }
}
