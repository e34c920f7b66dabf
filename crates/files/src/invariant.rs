//! `invariant!`: what the program's own logic guarantees.

use std::panic::Location;

/// A guarantee of this program's own logic that did not hold: a bug in it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("bug in hyworld: not true at {location}: {what}; please report it")]
pub struct BrokenInvariant {
    what: &'static str,
    location: &'static Location<'static>,
}

impl BrokenInvariant {
    /// Reports a guarantee that did not hold. See [`invariant!`](crate::invariant!).
    ///
    /// # Panics
    /// In builds with debug assertions.
    #[track_caller]
    pub fn new(what: &'static str) -> Self {
        debug_assert!(false, "invariant: {what}");
        Self { what, location: Location::caller() }
    }
}

/// Takes the value out of an `Option` that this program's own logic guarantees to be there; the
/// second argument states the guarantee. Gives a `Result`: the error is a [`BrokenInvariant`].
/// Builds with debug assertions (debug, tests, fuzzing) panic instead.
///
/// Not for bytes from outside: whatever a file holds is handled, and never a bug.
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
    fn what_holds_is_taken() {
        assert_eq!(first(&[3, 4]).unwrap(), 3);
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "invariant: there is a first")]
    fn what_does_not_hold_panics_in_tests() {
        drop(first(&[]));
    }

    #[cfg(not(debug_assertions))]
    #[test]
    fn what_does_not_hold_is_an_error_in_a_release() {
        let error = first(&[]).unwrap_err().to_string();
        assert!(error.contains("invariant.rs") && error.contains("there is a first"), "{error}");
    }
}
