//! Changes to environments. A changed column is normalized; the others stay as they were read.

use std::collections::{BTreeSet, HashSet};
use std::ops::{Bound, RangeBounds};

use hyworld_coords::LocalColumn;

use super::{EnvironmentChunk, ListedEnvironment, UNKNOWN_ENVIRONMENT, numbers};
use crate::error::Result;
use crate::palette::chars_too_many;
use hyworld_documents::{Malformed, Problem};

/// The id that the game uses for [`UNKNOWN_ENVIRONMENT`].
const UNKNOWN_ID: i32 = 0;

impl EnvironmentChunk {
    /// Creates environments from the runs of each column, from the bottom up. A run is its greatest
    /// height and a name. The height of a column's last run is ignored, because that run is
    /// unbounded. A column without runs gets [`UNKNOWN_ENVIRONMENT`].
    ///
    /// # Errors
    /// Returns an error if a name is too long.
    pub fn from_columns<'a>(
        mut runs_of: impl FnMut(LocalColumn) -> Vec<(i32, &'a str)>,
    ) -> Result<Self> {
        let mut chunk = Self::without_columns();
        let mut words = Vec::new();
        for column in LocalColumn::all() {
            let mut runs = runs_of(column);
            if runs.is_empty() {
                runs.push((0, UNKNOWN_ENVIRONMENT));
            }
            let max_ys = runs.iter().map(|run| run.0).take(runs.len().saturating_sub(1));
            let count = i32::try_from(max_ys.len()).unwrap_or(i32::MAX);
            words.extend([count].into_iter().chain(max_ys).map(i32::to_be_bytes));
            for (_, name) in runs {
                let id = chunk.id_for(name)?;
                words.push(id.to_be_bytes());
            }
        }
        chunk.set_words(words);
        Ok(chunk)
    }

    /// Sets the environment for a range of heights in a column. Returns whether anything changed.
    ///
    /// `ys` may be unbounded: `..` makes the column a single run, as the game stores it. `0..=319`
    /// keeps the stored environments above and below the world.
    ///
    /// # Errors
    /// Returns an error if the name is too long.
    pub fn set(
        &mut self,
        column: LocalColumn,
        ys: impl RangeBounds<i32>,
        name: &str,
    ) -> Result<bool> {
        let Some((first, last)) = ends(&ys) else {
            return Ok(false);
        };
        let touched = |start: i32, end: i32| start <= last && first <= end;
        let runs = self.runs(column).filter(|run| touched(*run.ys.start(), *run.ys.end()));
        if self.all_named(runs.map(|run| run.id).collect(), name) {
            return Ok(false);
        }
        let id = self.id_for(name)?;
        let runs = self.runs_with(column, (first, last), id);
        self.replace(column, &runs);
        Ok(true)
    }

    /// Renames every listed environment that has this name. Returns how many were renamed. Columns
    /// refer to environments by id, so they need no change.
    ///
    /// # Errors
    /// Returns an error if the new name is too long.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<usize> {
        check_name(to)?;
        let mut renamed = 0;
        for entry in self.list.iter_mut().filter(|entry| entry.name == from) {
            to.clone_into(&mut entry.name);
            renamed += 1;
        }
        Ok(renamed)
    }

    /// Returns the lengths, in UTF-16 units, of listed names that the game can read but not save.
    pub fn names_too_long(&self) -> Vec<usize> {
        self.list.iter().filter_map(|entry| chars_too_many(&entry.name)).collect()
    }

    /// Removes listed environments that no column uses at any height. Returns how many.
    pub fn remove_unused(&mut self) -> usize {
        let used: BTreeSet<i32> = self.ids_stored().collect();
        let before = self.list.len();
        self.list.retain(|entry| used.contains(&entry.id));
        before - self.list.len()
    }

    /// Returns whether all of these ids have this name. Walks the list once instead of once per id,
    /// because the list of a hostile chunk can be long.
    fn all_named(&self, mut ids: BTreeSet<i32>, name: &str) -> bool {
        for entry in self.list.iter().rev() {
            if ids.remove(&entry.id) && entry.name != name {
                return false;
            }
        }
        ids.is_empty() || name == UNKNOWN_ENVIRONMENT
    }

    /// Returns the id for a name, adding the name to the list if necessary.
    pub(super) fn id_for(&mut self, name: &str) -> Result<i32> {
        // An entry is ignored if a later one has the same id.
        let mut seen = HashSet::with_capacity(self.list.len());
        let valid = self.list.iter().rev().filter(|entry| seen.insert(entry.id));
        if let Some(entry) = valid.filter(|entry| entry.name == name).last() {
            return Ok(entry.id);
        }
        check_name(name)?;
        let id = self.new_id(name);
        self.list.push(ListedEnvironment { id, name: name.to_owned() });
        Ok(id)
    }

    /// Returns an unused id. Ids that columns use without listing them are not free: they mean
    /// [`UNKNOWN_ENVIRONMENT`].
    fn new_id(&self, name: &str) -> i32 {
        let listed: BTreeSet<i32> = self.list.iter().map(|entry| entry.id).collect();
        if name == UNKNOWN_ENVIRONMENT && !listed.contains(&UNKNOWN_ID) {
            return UNKNOWN_ID;
        }
        let stored: BTreeSet<i32> = self.ids_stored().collect();
        let is_free = |id: &i32| !listed.contains(id) && !stored.contains(id);
        // A chunk has fewer bytes than there are ids, so one is always free.
        (UNKNOWN_ID..=i32::MAX).skip(1).find(is_free).unwrap_or(i32::MIN)
    }

    /// Returns the ids that columns use at any height.
    fn ids_stored(&self) -> impl Iterator<Item = i32> {
        LocalColumn::all().flat_map(|column| numbers(self.column(column).ids))
    }

    /// Returns the runs of a column after a change, each as its greatest height and id, with
    /// adjacent runs of the same id merged.
    fn runs_with(
        &self,
        column: LocalColumn,
        (first, last): (i32, i32),
        id: i32,
    ) -> Vec<(i32, i32)> {
        let below = self.runs(column).take_while(|run| *run.ys.start() < first);
        let below = below.map(|run| ((*run.ys.end()).min(first.saturating_sub(1)), run.id));
        let above = self.runs(column).skip_while(|run| *run.ys.end() <= last);
        let above = above.map(|run| (*run.ys.end(), run.id));
        let mut runs: Vec<(i32, i32)> = Vec::new();
        for (max_y, id) in below.chain([(last, id)]).chain(above) {
            match runs.last_mut() {
                Some((top, same)) if *same == id => *top = max_y,
                _ => runs.push((max_y, id)),
            }
        }
        runs
    }

    /// Replaces the runs of a column. The last run is unbounded, so its height is not stored.
    fn replace(&mut self, column: LocalColumn, runs: &[(i32, i32)]) {
        let max_ys = runs.iter().map(|run| run.0).take(runs.len().saturating_sub(1));
        let count = i32::try_from(max_ys.len()).unwrap_or(i32::MAX);
        let words = [count].into_iter().chain(max_ys).chain(runs.iter().map(|run| run.1));
        let old_len = self.column(column).ids.len() * 2;
        let start = self.starts()[column];
        let mut all = self.words().to_vec();
        all.splice(start..start + old_len, words.map(i32::to_be_bytes));
        self.set_words(all);
    }
}

/// Returns the first and the last height, or `None` if the range is empty.
fn ends(ys: &impl RangeBounds<i32>) -> Option<(i32, i32)> {
    let first = match ys.start_bound() {
        Bound::Included(&y) => y,
        Bound::Excluded(&y) => y.checked_add(1)?,
        Bound::Unbounded => i32::MIN,
    };
    let last = match ys.end_bound() {
        Bound::Included(&y) => y,
        Bound::Excluded(&y) => y.checked_sub(1)?,
        Bound::Unbounded => i32::MAX,
    };
    (first <= last).then_some((first, last))
}

fn check_name(name: &str) -> Result<(), Malformed> {
    let Some(chars) = chars_too_many(name) else { return Ok(()) };
    let what = "the length of the name of an environment";
    let found = i64::try_from(chars).unwrap_or(i64::MAX);
    let expected = "at most 21844 characters";
    Err(Malformed { at: 0, problem: Problem::Value { what, found, expected } })
}
