//! Points at which a test lets the process die: before each operation that changes the disk.
//!
//! After the chosen point every operation fails, so that nothing is written any more, not even by
//! destructors. The disk is then as after a kill.

use std::io;

#[cfg(feature = "testing")]
mod armed {
    use std::cell::Cell;

    thread_local! {
        /// The number of operations that still succeed; `None` if all do.
        pub(super) static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
        /// The number of operations so far.
        pub(super) static DONE: Cell<u64> = const { Cell::new(0) };
    }
}

/// Lets the operations of this thread fail after `operations` of them, or never. Returns the number
/// of operations since the last call.
#[cfg(feature = "testing")]
pub fn die_after(operations: Option<u64>) -> u64 {
    armed::LEFT.set(operations);
    armed::DONE.replace(0)
}

/// Called before each operation that changes the disk.
#[cfg(feature = "testing")]
pub(super) fn point() -> io::Result<()> {
    armed::DONE.set(armed::DONE.get().saturating_add(1));
    match armed::LEFT.get() {
        None => Ok(()),
        Some(0) => Err(io::Error::other("killed by a test")),
        Some(left) => {
            armed::LEFT.set(Some(left - 1));
            Ok(())
        }
    }
}

#[cfg(not(feature = "testing"))]
#[expect(clippy::unnecessary_wraps, reason = "a point of a test fails")]
pub(super) fn point() -> io::Result<()> {
    Ok(())
}
