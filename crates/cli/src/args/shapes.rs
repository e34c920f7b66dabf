//! The JSON that each verb prints, as its long help shows it. `docs/cli.md` has the same lines.

pub(super) const INFO: &str = r#"--json: one object
  {"file","version","assumed","slots","segment_bytes","region":{"x","z"} or null,
   "bytes":{"file","overhead","live","slack","unreferenced","raw"},
   "segments":{"all","used"},"blobs":{"all","sealed"},
   "damage":[{"slot","x","z","class","offset","readable","message","advice"}],
   "interrupted":[{"slot","x","z","segment"}],"leftovers":[NAME]}
Exit code 1 if something is damaged."#;

pub(super) const INFO_PLACE: &str = r#"--json: one object
  {"path","kind","universe":UNIVERSE or null,"worlds":[WORLD],
   "storage":STORAGE or null,"problem_count","problems":[TEXT]}
UNIVERSE
  {"path","players","players_only_backup","resources":[ID],
   "backups":{"folder","count","newest"}}
WORLD
  {"name","path","collides_with":[NAME],"config":CONFIG or null,"provider":{},
   "pending_provider":{} or null,"generator","resources":[ID],"writer",
   "storage":STORAGE or null}
CONFIG
  {"from","version","uuid","display_name","seed","world_gen","game_time",
   "game_mode","spawn":{"id","x","y","z"} or null,"switches":{KEY: BOOLEAN},
   "unknown_keys":[KEY]}
STORAGE
  {"place","chunks",
   "regions":{"files","chunks","bytes","overhead","live","slack",
   "unreferenced","raw"} or null,
   "contents":{"raw","entities","block_entities","unreadable"} or null}
The storage beside the worlds is that of a chunks/ folder or region file, and
then the world's own is null. With --fast contents is null.
Exit code 1 if anything cannot be read."#;

pub(super) const WORLD_LIST: &str = r#"--json: one object a line for each world
  {"name","path","display_name","uuid","seed","provider","pending_provider",
   "chunks","bytes"}
bytes are those of its region files; what could not be read is null.
Exit code 1 if anything cannot be read; stderr says what."#;

pub(super) const WORLD_CREATE: &str = r#"--json: one object
  {"name","path","universe","universe_made","uuid","display_name","seed",
   "generator","provider","dry_run"}
uuid is null in a dry run, and seed unless --seed is given.
Exit code 2 if there is such a world already."#;

pub(super) const WORLD_COPY: &str = r#"--json: one object
  {"from","to","path","uuid","files","bytes","dry_run"}
files and bytes are those of the copy; in a dry run of the world itself, and
uuid is null. Exit code 1 if there is no world FROM, 2 if there is a world TO."#;

pub(super) const WORLD_DELETE: &str = r#"--json: one object
  {"name","path","files","bytes","deleted","dry_run"}
Exit code 1 if there is no such world, 2 if nobody said yes."#;

pub(super) const LS: &str = r#"--json: one object a line for each slot whose lengths are known
  {"slot","x","z","segment","raw","compressed"}
x and z are null unless the file has 1,024 slots.
Damaged slots are named on stderr; exit code 1."#;

pub(super) const GET: &str = r#"--json: one object, only with -o FILE
  {"slot","x","z","raw","compressed","written","output"}
Exit code 1 if the slot is empty or damaged; the output file is then not made."#;

pub(super) const PUT: &str = r#"--json: one object
  {"slot","x","z","segment","raw","compressed","sealed","replaced","created",
   "dry_run"}
replaced: the slot held something. created: the region file was made.
segment is null in a dry run."#;

pub(super) const RM: &str = r#"--json: one object
  {"slot","x","z","removed","dry_run"}
Exit code 1 if the slot is empty already."#;

pub(super) const VERIFY: &str = r#"--json: one object a line
  {"type":"finding","slot","x","z","class","offset","readable","message",
   "advice"}
  {"type":"summary","checked","whole","sealed","findings","failed"}
and with --rebuild-index
  {"type":"change","slot","x","z","segment","was_absent","save_counter",
   "time_ms","identity"}
  {"type":"rebuild","changes","applied","backup"}
Exit code 1 if there are findings, also if a rebuild has put some of them right."#;

pub(super) const SALVAGE: &str = r#"--json: one object a line for each blob
  {"segment","segments","offset","raw","compressed","slot","x","z","sealed",
   "doubtful"}
with --all also "output"; with --segment -o FILE one object
  {"segment","raw","compressed","output"}
with --restore one object
  {"segment","slot","x","z","raw","compressed","replaced","restored",
   "dry_run"}
slot is null where nothing says where the blob belonged."#;

pub(super) const COMPACT: &str = r#"--json: one object
  {"before","after","blobs","dropped":[{"slot","x","z","class","message"}],
   "dry_run"}"#;

pub(super) const UPGRADE: &str = r#"--json: one object
  {"from","copied","damaged":[{"slot","x","z","class","message"}],"old",
   "dry_run"}
old is the name of the old file if it was kept, else null.
Exit code 1 if it was kept."#;

pub(super) const SEAL: &str = r#"--json: one object
  {"action","rewritten","unchanged","damaged":[{"slot","x","z","class","message"}],
   "before","after","dry_run"}
action is "seal" or "remove"; after is null in a dry run.
Exit code 1 if a slot is damaged."#;

pub(super) const DEMO: &str = r#"--json: one object instead of the tour
  {"folder","blobs","steps":[{"title","command","exit","ms"}],"world",
   "edited_blocks","raw","generate_ms","save_ms"}
blobs is the number of chunks, raw the bytes of their documents."#;

pub(super) const BENCH_REGION: &str = r#"--json: one object, times in microseconds for all blobs
  {"file","blobs","raw","compressed",
   "one":{"threads","raw_decompress_us","read_us","read_ratio","raw_compress_us",
          "write_relaxed_us","write_relaxed_ratio"},"all":{the same},
   "scaling":{"raw_decompress","read","raw_compress","write_relaxed"},
   "write_each_us","open_read_us","open_write_us","random_read_p50_us",
   "random_read_p99_us"}
The ratios are to zstd alone on the same number of threads."#;

pub(super) const BENCH_CHUNK: &str = r#"--json: one object, times in microseconds for all chunks
  {"path","chunks","raw","decompress_us","index_us","decode_us","histogram_us",
   "encode_us","ratios":{"index","decode","histogram","encode"}}
The ratios are to decompress_us, zstd alone."#;

pub(super) const BENCH_PROVIDERS: &str = r#"--json: one object, times in microseconds
  {"path","chunks","raw",
   "providers":[{"provider","write_us","read_us","write_ratio","read_ratio","stored"}],
   "convert":{"verbatim_us","recompressed_us","ratio"}}
The ratios of providers are to region files. stored is null for what is not on this disk.
--scale --json: one object, processor time per chunk
  {"chunks","providers":[{"provider",
   "copy":{"first_tenth_us","last_tenth_us","ratio"},
   "verify":{"first_tenth_us","last_tenth_us","ratio"},"peak_memory"}]}"#;

pub(super) const BENCH_STORE: &str = r#"--json: one object, times in microseconds
  {"path","threads","chunks","raw",
   "load":{"raw_us","store_us","ratio"},"save":{"raw_us","store_us","ratio"},
   "latency":{"loads","saves_per_second","p50_us","p99_us","max_us"} or null,
   "walk":{"chunks","in_memory_max","in_memory_bound","resident_before",
           "resident_max","resident_bound"} or null}
The times of load and save are for all chunks. latency is null with fewer than
101 chunks; memory is null where the system does not tell."#;

pub(super) const PREGEN: &str = r#"--json: one object
  {"world","chunks","already","generated","loaded","saved","failed",
   "failures":[{"x","z","message"}],"in_memory_max","ms","chunks_per_second",
   "finished","dry_run"}
loaded: chunks that appeared meanwhile. Exit code 1 if anything failed or it was
interrupted."#;

pub(super) const STRESS: &str = r#"--json: one object, times in microseconds
  {"world","generator","each_write","ms","viewers","steps","edits",
   "acknowledged","refused","wrong","loaded","generated","saved","unloaded",
   "failed_loads","failed_saves","failed_syncs","unsaved","in_memory_max",
   "resident_max","load":{"count","mean_us","p50_us","p99_us","max_us"},"generate":{the same},
   "save":{the same},"problems":[TEXT]}
p50_us and p99_us are upper bounds within a factor of two. generator is null
where nothing is generated. --log FILE gets two kinds of lines: edit X Z N before
chunk X,Z gets the number N, and saved X Z N after that was stored.
Exit code 1 if a chunk could not be loaded, saved, made durable or edited, or
was not as it must be."#;

pub(super) const LS_STORAGE: &str = r#"--json: one object a line for each chunk
  {"x","z","raw","stored"}
stored is null where the storage does not know it.
What cannot be listed is named on stderr; exit code 1."#;

pub(super) const VERIFY_STORAGE: &str = r#"--json: one object a line, findings and then a summary
  {"type":"finding","class","level","x","z","message","advice"}
  {"type":"summary","chunks","raw","errors","warnings","classes":{class: count}}
class is storage, unreadable, document, component, missing, roundtrip (errors),
newer or anomaly (warnings). x and z are null where it is not about one chunk.
Exit code 1 if there are errors."#;

pub(super) const CONVERT: &str = r#"--json: one object
  {"source","target","chunks","raw","copied","already","verified","verbatim",
   "failed","failures":[{"stage","x","z","message"}],"finished","dry_run","ms"}
with --verify-only
  {"source","target","same","different"}
stage is list, read, write, verify or sync; finished says that the target has
its name now. Exit code 1 if anything failed or differs."#;

pub(super) const FINGERPRINT: &str = r#"--json: one object a line for each chunk
  {"x","z","sha256","raw","entities","block_components","height_sum",
   "cells":{"blocks","filler","rotation","fluids","levels","light_local",
   "light_global","height","tint"}}
sha256 is that of the document; docs/format/chunk.md has the digests of cells.
A chunk that cannot be read is named on stderr; exit code 1."#;

pub(super) const CHUNK: &str = r#"--json: one object
  {"file","region":{"x","z"},"slot","raw","compressed","chunk":CHUNK}
CHUNK
  {"x","z","components":[COMPONENT],"other_fields":{},"needs_physics",
   "heights":[[NUMBER,...],...],"tints":[[COLOUR,...],...],
   "environments":{"palette":[{"id","name"}],
                   "patterns":[[[max_y or null,PLACE],...]],"columns":RUNS},
   "sections":[SECTION],
   "block_entities":[{"key","x","y","z","document"}],
   "entities":[{"uuid","x","y","z","model","role","document"}],
   "damaged":[{"x","y","z","health","last_damage_ms"}],
   "fragile":[{"x","y","z","seconds"}],"spawned_npcs":{},"problems":[TEXT]}
COMPONENT
  {"id","version","bytes","problem"?,"value"? or "rest"?}
SECTION
  {"section","y","components":[COMPONENT],"other_fields":{},"migration_version",
   "blocks":{"type","palette":[{"name","count"}],"runs":RUNS},
   "fillers":{"type","palette":[{"bits","x","y","z","count"}],"runs":RUNS},
   "rotations":{"type","palette":[{"index","yaw","pitch","roll","count"}],
                "runs":RUNS},
   "fluids":{"type","palette":[{"name","count"}],"runs":RUNS},
   "levels":RUNS,"support":RUNS,"ticking":RUNS,
   "local_light":{"change_id","change_counter","current","runs":RUNS or null},
   "global_light":{the same}}
RUNS is [[VALUE,COUNT],...], neighbours that are alike together: cells by x, then
z, then y; columns by x, then z. In palettes VALUE is a place in the palette.
Heights are by z and x, colours #rrggbb. Documents and values are extended JSON
that loses nothing. docs/cli.md has the rest, and how to get every block back.
Exit code 1 if there is no such chunk, or something in it cannot be decoded."#;

pub(super) const BLOCK: &str = r#"--json: one object
  {"x","y","z","block","rotation":{"index","yaw","pitch","roll"},
   "filler":{"bits","x","y","z"},"base":{"x","y","z"},"ticking","fluid",
   "fluid_level","support",
   "local_light":{"red","green","blue","sky","stored","current"},
   "global_light":{the same},"environment","height","tint",
   "chunk":{"x","z"},"section","cell","file","region":{"x","z"},"slot",
   "block_entity":DOCUMENT or null}
Exit code 1 if the chunk is not there or cannot be decoded."#;
