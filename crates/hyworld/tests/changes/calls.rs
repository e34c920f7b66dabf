//! The table: every call of the library that changes a world.

use std::path::{Path, PathBuf};

use hyworld::chunk::BlockMigrations;
use hyworld::coords::{BlockBox, BlockPos, ChunkPos, ChunkRect};
use hyworld::documents::Document;
use hyworld::indexed_storage::{CompactOptions, EncodedBlob, Geometry, Slot};
use hyworld::maintenance::{NoProgress, ScanOptions};
use hyworld::providers::ChunkStorage;
use hyworld::world::Players;
use hyworld::{
    Change, ChangeOptions, Packing, Plan, PutOptions, Repair, RepairOptions, Restore,
    RestoreOptions, Result, SealOptions, Trim, TrimOptions, Undelete, UndeleteOptions, Undo,
    UndoOptions, Upgrade,
};

use crate::fixture::{PLAYER, Save, document, keep_chunks, write_v0};

/// A call that changes a world.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// The functions and plans of the library that it runs.
    pub(crate) covers: &'static [&'static str],
    /// Brings the save into the state in which the call has something to do.
    pub(crate) prepare: fn(&Save),
    /// Changes the save.
    pub(crate) run: fn(&Save) -> Result<()>,
    /// Makes the plan only.
    pub(crate) plan: Option<fn(&Save) -> Result<()>>,
    /// Makes the plan, lets another program write, and applies the plan.
    pub(crate) late: Option<fn(&Save) -> Result<()>>,
}

const PLAIN: Call =
    Call { name: "", covers: &[], prepare: |_| (), run: |_| Ok(()), plan: None, late: None };

fn how() -> ChangeOptions {
    ChangeOptions::new()
}

/// Applies a plan.
fn apply<P: Plan>(save: &Save, plan: &P) -> Result<()> {
    save.open().apply(plan, &how(), &NoProgress).map(drop)
}

/// Lets another program write a chunk.
fn meddle(save: &Save) {
    let chunks = hyworld::providers::RegionFiles::open(&save.world().join("chunks")).unwrap();
    for x in [2, 34] {
        chunks.write(ChunkPos::new(x, 1), &document(x, "Soil_Dirt")).unwrap();
    }
}

fn late<P: Plan>(save: &Save, plan: Result<P>) -> Result<()> {
    let plan = plan?;
    meddle(save);
    apply(save, &plan)
}

fn repair(save: &Save) -> Result<Repair> {
    let options = RepairOptions { from: vec![save.backup()], ..RepairOptions::default() };
    save.open().plan_repair(&options, &ScanOptions::new(), &NoProgress)
}

fn restore(save: &Save) -> Result<Restore> {
    let area = Some(ChunkRect::new(ChunkPos::new(0, 0), ChunkPos::new(40, 4)));
    let players = vec![PLAYER.to_owned()];
    let options = RestoreOptions { from: save.backup(), area, ..RestoreOptions::default() };
    let has_player = save.backup().join("../../players").exists();
    let options =
        RestoreOptions { players: if has_player { players } else { Vec::new() }, ..options };
    save.open().plan_restore(&options, &NoProgress)
}

fn undelete(save: &Save) -> Result<Undelete> {
    let options = UndeleteOptions {
        chunks: vec![ChunkPos::new(1, 1)],
        confidence: Some(hyworld::maintenance::Confidence::Low),
        ..UndeleteOptions::default()
    };
    save.open().plan_undelete(&options, &ScanOptions::new(), &NoProgress)
}

fn trim(save: &Save) -> Result<Trim> {
    let keep = (0..2).map(|x| ChunkPos::new(x, 1)).collect();
    let options = TrimOptions { include_touched: true, keep, ..TrimOptions::default() };
    save.open().plan_trim(&options, &ScanOptions::new(), &mut |_| (), &NoProgress)
}

fn pack(save: &Save, packing: Packing) -> Result<hyworld::PackWorld> {
    save.open().plan_packing(packing, &ScanOptions::new(), &NoProgress)
}

const COMPACT: Packing = Packing::Compact { level: None, drop_orphans: true };

fn upgrade(save: &Save) -> Result<Upgrade> {
    let migrations = BlockMigrations::default();
    save.open().plan_upgrade(&migrations, &ScanOptions::new(), &NoProgress)
}

fn plan_undo(save: &Save) -> Result<Undo> {
    let sealed = save.world().with_file_name("w-seal-1.hyundo");
    Undo::plan(&sealed, &UndoOptions::default())
}

/// Runs one method of a change.
fn change(save: &Save, change: impl FnOnce(&mut Change) -> Result<()>) -> Result<()> {
    let mut begun = save.open().change("test")?;
    change(&mut begun)?;
    begun.commit().map(drop)
}

fn players(save: &Save) -> PathBuf {
    save.universe().path().join("players")
}

fn seal(save: &Save) {
    apply(save, &pack(save, Packing::Seal { level: 3 }).unwrap()).unwrap();
}

fn old_chunks(save: &Save) {
    let chunks = hyworld_testkit::fixture("original/chunks/synthetic_old_versions.region.bin");
    hyworld_testkit::write_file(&save.world().join("chunks/5.5.region.bin"), &chunks);
    write_v0(&save.region());
}

fn destroy_header(save: &Save) {
    let mut bytes = std::fs::read(save.region()).unwrap();
    bytes.get_mut(..8).unwrap().fill(0);
    hyworld_testkit::write_file(&save.region(), &bytes);
}

fn put(path: &Path, create: bool) -> Result<()> {
    let blob = EncodedBlob::compress(&document(9, "Rock_Gold"), 3)?;
    let options = PutOptions { geometry: Geometry::REGION, dry_run: false };
    let file = if create { None } else { hyworld::open_region_if_present(path)? };
    hyworld::put_blob(path, file, Slot::new(7), &blob, options, &how()).map(drop)
}

pub(crate) const CALLS: &[Call] = &[
    Call {
        name: "edit",
        covers: &["Change::edit"],
        run: |save| {
            let area = BlockBox::new(BlockPos::new(0, 0, 32), BlockPos::new(1100, 9, 40));
            let fill = |chunk: &mut hyworld::chunk::Chunk, part| {
                chunk.fill(part, "Rock_Gold")?;
                Ok(())
            };
            save.open().edit(area, fill).map(drop)
        },
        ..PLAIN
    },
    Call {
        name: "put",
        covers: &["Change::put", "change", "change_with"],
        run: |save| {
            change(save, |change| {
                change.put(ChunkPos::new(0, 1), &document(0, "Rock_Gold"))?;
                change.put(ChunkPos::new(70, 70), &document(1, "Rock_Gold"))
            })
        },
        ..PLAIN
    },
    Call {
        name: "put_blob",
        covers: &["Change::put_blob"],
        run: |save| {
            let blob = EncodedBlob::compress(&document(5, "Rock_Gold"), 9)?;
            change(save, |change| change.put_blob(ChunkPos::new(33, 1), &blob))
        },
        ..PLAIN
    },
    Call {
        name: "remove",
        covers: &["Change::remove"],
        run: |save| change(save, |change| change.remove(ChunkPos::new(2, 1))),
        ..PLAIN
    },
    Call {
        name: "replace_file",
        covers: &["Change::replace_file", "Change::remove_file"],
        run: |save| {
            let world = save.world();
            change(save, |change| {
                change.replace_file(&world.join("new.json"), b"{}")?;
                change.remove_file(&world.join("config.json"))
            })
        },
        ..PLAIN
    },
    Call {
        name: "files",
        covers: &["Change::files", "of_universe"],
        run: |save| {
            let mut change = Change::of_universe(&save.universe(), "files", &how())?;
            let files = change.files();
            let players = Players::in_folder(&files, players(save));
            players.remove(PLAYER.parse().unwrap())?;
            change.commit().map(drop)
        },
        ..PLAIN
    },
    Call {
        name: "repair",
        covers: &["Repair", "apply", "Change::apply"],
        prepare: Save::damage,
        run: |save| apply(save, &repair(save)?),
        plan: Some(|save| repair(save).map(drop)),
        late: Some(|save| late(save, repair(save))),
    },
    Call {
        name: "repair of a universe",
        covers: &["Repair::begin"],
        prepare: |save| {
            let file = players(save).join(format!("{PLAYER}.json"));
            hyworld_testkit::write_file(&file, b"{");
        },
        run: |save| {
            let path = save.universe().path().to_owned();
            let Some(plan) = Repair::plan_universe(&path, &RepairOptions::default())? else {
                return Ok(());
            };
            let mut change = plan.begin(&how())?;
            change.apply(&plan, &NoProgress)?;
            change.commit().map(drop)
        },
        ..PLAIN
    },
    Call {
        name: "restore",
        covers: &["Restore", "Restore::begin"],
        prepare: Save::damage,
        run: |save| {
            let (world, plan) = (save.open(), restore(save)?);
            let mut change = plan.begin(&world, &how())?;
            change.apply(&plan, &NoProgress)?;
            change.commit().map(drop)
        },
        plan: Some(|save| restore(save).map(drop)),
        late: Some(|save| late(save, restore(save))),
    },
    Call {
        name: "undelete",
        covers: &["Undelete"],
        prepare: Save::remove_chunk,
        run: |save| apply(save, &undelete(save)?),
        plan: Some(|save| undelete(save).map(drop)),
        late: Some(|save| late(save, undelete(save))),
    },
    Call {
        name: "trim",
        covers: &["Trim"],
        run: |save| apply(save, &trim(save)?),
        plan: Some(|save| trim(save).map(drop)),
        late: Some(|save| late(save, trim(save))),
        ..PLAIN
    },
    Call {
        name: "compact",
        covers: &["PackWorld"],
        prepare: Save::remove_chunk,
        run: |save| apply(save, &pack(save, COMPACT)?),
        plan: Some(|save| pack(save, COMPACT).map(drop)),
        late: Some(|save| late(save, pack(save, COMPACT))),
    },
    Call {
        name: "seal",
        run: |save| apply(save, &pack(save, Packing::Seal { level: 3 })?),
        plan: Some(|save| pack(save, Packing::Seal { level: 3 }).map(drop)),
        ..PLAIN
    },
    Call {
        name: "unseal",
        prepare: seal,
        run: |save| apply(save, &pack(save, Packing::Unseal { level: 3 })?),
        plan: Some(|save| pack(save, Packing::Unseal { level: 3 }).map(drop)),
        ..PLAIN
    },
    Call {
        name: "upgrade",
        covers: &["Upgrade"],
        prepare: old_chunks,
        run: |save| apply(save, &upgrade(save)?),
        plan: Some(|save| upgrade(save).map(drop)),
        ..PLAIN
    },
    Call {
        name: "undo_upgrade",
        covers: &["undo_upgrade"],
        prepare: |save| keep_chunks(&save.world().join("hyworld-undo-1")),
        run: |save| {
            let kept = save.world().join("hyworld-undo-1");
            hyworld::undo_upgrade(&save.open(), &kept, &how(), &NoProgress).map(drop)
        },
        ..PLAIN
    },
    Call {
        name: "undo",
        covers: &["Undo::apply"],
        prepare: seal,
        run: |save| plan_undo(save)?.apply(&how(), &NoProgress).map(drop),
        plan: Some(|save| plan_undo(save).map(drop)),
        ..PLAIN
    },
    Call {
        name: "region put",
        covers: &["put_blob", "of_file"],
        run: |save| put(&save.region(), false),
        ..PLAIN
    },
    Call {
        name: "region put, new file",
        run: |save| put(&save.world().join("chunks/9.9.region.bin"), true),
        ..PLAIN
    },
    Call {
        name: "region rm",
        covers: &["remove_blob"],
        run: |save| hyworld::remove_blob(&save.region(), Slot::new(32), &how()).map(drop),
        ..PLAIN
    },
    Call {
        name: "region salvage --restore",
        covers: &["restore_blob"],
        prepare: Save::remove_chunk,
        run: |save| {
            let file = hyworld::open_region(&save.region())?;
            let found = file.salvage()?.blobs.into_iter().find(|blob| blob.seal.is_some());
            let Some(found) = found.map(|blob| blob.segment) else { return Ok(()) };
            drop(file);
            hyworld::restore_blob(&save.region(), Slot::new(33), found, &how()).map(drop)
        },
        ..PLAIN
    },
    Call {
        name: "region verify --rebuild-index",
        covers: &["rebuild_index"],
        prepare: Save::seal_and_lose_entry,
        run: |save| {
            let plan = hyworld::open_region(&save.region())?.plan_rebuild()?;
            hyworld::rebuild_index(&save.region(), &plan, &how()).map(drop)
        },
        ..PLAIN
    },
    Call {
        name: "region verify --rebuild-header",
        covers: &["rebuild_header"],
        prepare: destroy_header,
        run: |save| hyworld::rebuild_header(&save.region(), Geometry::REGION, &how()).map(drop),
        ..PLAIN
    },
    Call {
        name: "region compact",
        covers: &["compact_region"],
        prepare: Save::remove_chunk,
        run: |save| {
            let options = CompactOptions { drop_damaged: false, drop_orphans: true };
            hyworld::compact_region(&save.region(), options, &how()).map(drop)
        },
        ..PLAIN
    },
    Call {
        name: "region upgrade",
        covers: &["upgrade_region"],
        prepare: |save| write_v0(&save.region()),
        run: |save| hyworld::upgrade_region(&save.region(), &how()).map(drop),
        ..PLAIN
    },
    Call {
        name: "region seal",
        covers: &["seal_region"],
        run: |save| {
            let options = SealOptions { remove: false, level: 3, dry_run: false };
            hyworld::seal_region(&save.region(), options, &how(), &NoProgress).map(drop)
        },
        ..PLAIN
    },
    Call {
        name: "save_player",
        covers: &["save_player"],
        run: |save| {
            let document = Document::from_json(r#"{"Components": {"Player": {"A": 1}}}"#).unwrap();
            let player = PLAYER.parse().unwrap();
            hyworld::save_player(&save.universe(), player, &document, &how()).map(drop)
        },
        ..PLAIN
    },
    Call {
        name: "remove_player",
        covers: &["remove_player"],
        run: |save| {
            hyworld::remove_player(&save.universe(), PLAYER.parse().unwrap(), &how()).map(drop)
        },
        ..PLAIN
    },
];
