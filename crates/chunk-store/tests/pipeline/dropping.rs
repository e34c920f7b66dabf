//! Dropping a store with unsaved changes logs an error.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::support::{Rig, edit, pos};

/// Collects the errors that are logged.
#[derive(Clone, Default)]
struct Errors(Arc<Mutex<String>>);

impl Visit for Errors {
    fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{value:?}").unwrap();
    }
}

impl Subscriber for Errors {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Returns the errors logged when a store with 12 changed chunks is dropped after `work`.
fn logged_after(work: impl FnOnce(&Rig)) -> String {
    let errors = Errors::default();
    tracing::subscriber::with_default(errors.clone(), || {
        let rig = Rig::new();
        for x in 0..12 {
            rig.put(pos(x, 1));
            edit(&rig.load(pos(x, 1)), 80, "Rock_Stone");
        }
        work(&rig);
    });
    let logged = errors.0.lock().unwrap();
    logged.clone()
}

#[test]
fn a_dropped_store_logs_the_chunks_that_it_did_not_save() {
    let logged = logged_after(|_| {});
    assert!(logged.contains("12 chunks"), "{logged:?}");
    let failed = logged_after(|rig| {
        rig.storage.inner().fail_writes(true);
        assert_eq!(rig.store.shut_down().unsaved.len(), 12);
    });
    assert!(failed.contains("12 chunks"), "{failed:?}");
}

#[test]
fn a_dropped_store_logs_nothing_if_everything_is_saved_or_saving_is_off() {
    assert_eq!(logged_after(|rig| assert!(rig.store.shut_down().is_complete())), "");
    assert_eq!(logged_after(|rig| rig.store.set_saving_chunks(false)), "");
}
