//! [`InstanceTemplate`]: a world in an asset pack from which worlds are created.

use std::path::{Path, PathBuf};

use hyworld_documents::{Document, Value};
use hyworld_files::OsFileSystem;

use crate::config::WorldConfig;
use crate::error::{Error, Result};
use crate::json_file::{FallbackRule, JsonFile, LoadedFrom};
use crate::names::WorldName;
use crate::universe::{Universe, random_uuid};
use crate::world::{INSTANCE_FILE, known_config};

/// The folder of the templates, in `Server` of an asset pack.
const TEMPLATES_FOLDER: &str = "Instances";

/// Maximum depth of the search for templates. Their names are short paths.
const DEPTH_MAX: usize = 8;

/// Returns the templates folder of an asset pack, if it has one.
pub(crate) fn templates_folder(pack: &Path) -> Option<PathBuf> {
    Some(pack.join("Server").join(TEMPLATES_FOLDER)).filter(|folder| folder.is_dir())
}

/// Returns the folders of all templates in a templates folder, sorted.
pub(crate) fn find_templates(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut found, mut open) = (Vec::new(), vec![(folder.to_owned(), 0)]);
    while let Some((folder, depth)) = open.pop() {
        if folder.join(INSTANCE_FILE).is_file() {
            found.push(folder);
            continue;
        }
        let failed = || Error::io(&folder, "list");
        for entry in folder.read_dir().map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            if depth < DEPTH_MAX && path.is_dir() {
                open.push((path, depth.saturating_add(1)));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the name of a template: the path below `Instances`, with `/` as separator.
pub(crate) fn template_name(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let start = parts.iter().rposition(|part| part == TEMPLATES_FOLDER);
    let start = start.map_or(parts.len().saturating_sub(1), |index| index.saturating_add(1));
    parts.get(start..).unwrap_or_default().join("/")
}

/// A folder with `instance.bson`, the configuration of the worlds created from it.
#[derive(Clone, PartialEq, Debug)]
pub struct InstanceTemplate {
    path: PathBuf,
    config: WorldConfig,
}

impl InstanceTemplate {
    /// Opens a template.
    ///
    /// # Errors
    /// Returns an error if the folder is not a template or its configuration cannot be used.
    pub fn open(path: &Path) -> Result<Self> {
        let file = JsonFile::new(&OsFileSystem, path.join(INSTANCE_FILE), FallbackRule::Config);
        let loaded = file.load()?;
        if let LoadedFrom::Nothing { .. } = loaded.from {
            let what = "not a template: instance.bson is missing".to_owned();
            return Err(Error::NotFound { path: path.to_owned(), what });
        }
        let config = known_config(path, WorldConfig::from_document(loaded.document))?;
        Ok(Self { path: path.to_owned(), config })
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the configuration for worlds created from the template.
    pub fn config(&self) -> &WorldConfig {
        &self.config
    }

    /// Returns the name: the path below `Instances`, with `/` as separator.
    pub fn name(&self) -> String {
        template_name(&self.path)
    }

    /// Creates a world from the template and returns its folder. `return_point` determines where
    /// players go when they leave; it is written verbatim as `Plugin.Instance.ReturnPoint`.
    ///
    /// # Errors
    /// Returns an error if the template cannot be copied.
    pub fn spawn(&self, universe: &Universe, return_point: Option<Document>) -> Result<PathBuf> {
        let uuid = random_uuid().map_err(Error::io(&self.path, "generate a UUID for"))?;
        let name = self.name();
        let mut settings = self.config.settings.clone();
        settings.uuid = Some(uuid);
        settings.display_name.get_or_insert_with(|| display_name(&name));
        if let Some(point) = return_point {
            set_return_point(&mut settings.plugin, point);
        }
        let world = WorldName::new(&format!("instance-{}-{uuid}", name.replace('/', "-")))?;
        // As in the game, keys that only the template has are not in the new config.json.
        universe.copy_to_world(&self.path, &world, &WorldConfig::new(settings))
    }
}

/// Converts `Some/Old_Ship` to `Old Ship`.
fn display_name(name: &str) -> String {
    name.rsplit('/').next().unwrap_or_default().replace('_', " ")
}

fn set_return_point(plugins: &mut Document, point: Document) {
    let instance = plugins.get("Instance").and_then(Value::as_document);
    let mut instance = instance.cloned().unwrap_or_default();
    instance.set("ReturnPoint", Value::Document(point));
    plugins.set("Instance", Value::Document(instance));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Transform;
    use hyworld_testkit::write_file;
    use std::fs;

    fn template(folder: &Path) -> InstanceTemplate {
        let path = folder.join("Server/Instances/Sky/Old_Ship");
        fs::create_dir_all(path.join("chunks")).unwrap();
        let text = "{\"$Comment\": \"x\", \"Version\": 2, \"IsTicking\": false, \
                    \"Instance\": {\"PreventReconnection\": true}}";
        write_file(&path.join(INSTANCE_FILE), text.as_bytes());
        write_file(&path.join("chunks/0.0.region.bin"), b"bytes");
        InstanceTemplate::open(&path).unwrap()
    }

    #[test]
    fn a_world_is_created_from_a_template() {
        let folder = tempfile::tempdir().unwrap();
        let template = template(folder.path());
        assert_eq!(template.name(), "Sky/Old_Ship");
        let universe = Universe::create(&folder.path().join("universe")).unwrap();
        let home = Transform::default().to_document();
        let path = template.spawn(&universe, Some(home)).unwrap();
        let world = path.file_name().unwrap().to_str().unwrap();
        assert!(world.starts_with("instance-Sky-Old_Ship-"), "{world}");
        assert_eq!(fs::read(path.join("chunks/0.0.region.bin")).unwrap(), b"bytes");
        assert!(path.join(INSTANCE_FILE).exists());
        let loaded = crate::world::load_config(&OsFileSystem, &path).unwrap();
        assert_eq!(loaded.from, LoadedFrom::File);
        let config = WorldConfig::from_document(loaded.document).unwrap();
        assert_eq!(config.version(), 4);
        assert_eq!(config.settings.display_name.as_deref(), Some("Old Ship"));
        assert!(!config.settings.is_ticking);
        assert!(world.ends_with(&config.settings.uuid.unwrap().to_string()));
        let plugin = config.settings.plugin.get("Instance").unwrap().as_document().unwrap();
        let keys: Vec<_> = plugin.fields().map(|(key, _)| key).collect();
        assert_eq!(keys, ["PreventReconnection", "ReturnPoint"]);
        let other = template.spawn(&universe, None).unwrap();
        assert_ne!(other, path);
        assert_eq!(universe.worlds().unwrap().len(), 2);
    }

    #[test]
    fn the_template_is_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let template = template(folder.path());
        let before = fs::read(template.path().join(INSTANCE_FILE)).unwrap();
        let universe = Universe::create(&folder.path().join("u")).unwrap();
        template.spawn(&universe, None).unwrap();
        assert_eq!(fs::read(template.path().join(INSTANCE_FILE)).unwrap(), before);
        assert_eq!(fs::read_dir(template.path()).unwrap().count(), 2);
    }

    #[test]
    fn opening_a_folder_that_is_not_a_template_fails() {
        let folder = tempfile::tempdir().unwrap();
        let opened = InstanceTemplate::open(folder.path());
        assert!(matches!(opened, Err(Error::NotFound { .. })));
        write_file(&folder.path().join(INSTANCE_FILE), b"{\"Version\": 5}");
        let opened = InstanceTemplate::open(folder.path());
        assert!(matches!(opened, Err(Error::Newer { .. })));
    }
}
