//! [`SeenKeys`]: the keys of a document that were seen before.

use std::collections::HashSet;

/// Up to this many keys, looking through all of them is faster than hashing one.
const FEW: usize = 24;

/// A set of keys. Most documents have a few.
#[derive(Default)]
pub(super) struct SeenKeys<'a> {
    few: Vec<&'a str>,
    /// The keys after the first few.
    others: HashSet<&'a str>,
}

impl<'a> SeenKeys<'a> {
    /// Adds a key. Returns whether it is new.
    pub(super) fn insert(&mut self, key: &'a str) -> bool {
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(key);
            return true;
        }
        self.others.insert(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_new_once() {
        let keys: Vec<String> = (0..3 * FEW).map(|number| format!("key {number}")).collect();
        let mut seen = SeenKeys::default();
        assert!(keys.iter().all(|key| seen.insert(key)));
        assert!(keys.iter().all(|key| !seen.insert(key)));
    }
}
