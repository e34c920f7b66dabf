//! Chunks as games 0.6 and 0.7 probably write them, built by hand because no real ones are
//! available.
//!
//! Both are chunks of air with a chest at (5, 65, 9) and two entities: a sheep with a UUID at
//! y 64.0 in section 2, and an item without one in section 5. Section 9 has an `EntitySection`
//! without a field.

/// Names of the components and fields of a section that hold entities and block entities.
#[derive(Clone, Copy, Debug)]
pub struct SectionNames {
    /// The component with the entities, and its field.
    pub entities: (&'static str, &'static str),
    /// The component with the block entities, and its field.
    pub blocks: (&'static str, &'static str),
}

impl SectionNames {
    /// The most likely names.
    pub const LIKELY: Self = Self {
        entities: ("EntitySection", "Entities"),
        blocks: ("BlockComponentSection", "BlockComponents"),
    };
}

/// The bytes of a document under construction.
#[derive(Default)]
struct Bson(Vec<u8>);

impl Bson {
    fn field(mut self, kind: u8, key: &str, value: &[u8]) -> Self {
        self.0.push(kind);
        self.0.extend(key.as_bytes());
        self.0.push(0);
        self.0.extend(value);
        self
    }

    fn document(self, key: &str, value: Self) -> Self {
        self.field(3, key, &value.finish())
    }

    fn list(self, key: &str, items: impl IntoIterator<Item = Self>) -> Self {
        let numbered = items.into_iter().enumerate();
        let list = numbered
            .fold(Self::default(), |list, (number, item)| list.document(&number.to_string(), item));
        self.field(4, key, &list.finish())
    }

    fn int(self, key: &str, value: i32) -> Self {
        self.field(16, key, &value.to_le_bytes())
    }

    fn double(self, key: &str, value: f64) -> Self {
        self.field(1, key, &value.to_le_bytes())
    }

    fn string(self, key: &str, value: &str) -> Self {
        let bytes = [&length(value.len() + 1), value.as_bytes(), &[0]].concat();
        self.field(2, key, &bytes)
    }

    fn binary(self, key: &str, subtype: u8, value: &[u8]) -> Self {
        let bytes = [&length(value.len()), &[subtype][..], value].concat();
        self.field(5, key, &bytes)
    }

    fn data(self, value: &[u8]) -> Self {
        self.binary("Data", 0, value)
    }

    fn finish(self) -> Vec<u8> {
        [&length(self.0.len() + 5), &self.0[..], &[0]].concat()
    }
}

fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(0).to_le_bytes()
}

fn holder(components: Bson) -> Bson {
    Bson::default().document("Components", components)
}

fn position(y: f64) -> Bson {
    let position = Bson::default().double("X", 3.5).double("Y", y).double("Z", 4.5);
    Bson::default().document("Position", position)
}

fn sheep() -> Bson {
    let uuid: Vec<u8> = (0..16).collect();
    holder(
        Bson::default()
            .document("Transform", position(64.0))
            .document("UUID", Bson::default().binary("UUID", 4, &uuid))
            .document("NPC", Bson::default().int("Version", 5).string("RoleName", "Sheep")),
    )
}

fn item() -> Bson {
    let item = Bson::default().string("Id", "Ore_Iron").int("Quantity", 3);
    let item = Bson::default().document("Item", item);
    holder(Bson::default().document("Transform", position(170.0)).document("Item", item))
}

fn chest() -> Bson {
    let stack = Bson::default().string("Id", "Weapon_Sword_Iron").int("Quantity", 1);
    let items = Bson::default().document("4", stack);
    let container = Bson::default().int("Capacity", 18).document("Items", items);
    let block = Bson::default().int("Capacity", 18).document("ItemContainer", container);
    holder(Bson::default().document("ItemContainerBlock", block))
}

/// Returns the blocks of section 2, as a palette of two blocks, with the chest in its cell.
fn blocks_with_chest() -> Vec<u8> {
    let mut data = vec![0, 0, 0, 11, 1, 0, 2];
    for (id, name, count) in [(0, "Empty", 32_767_u16), (1, "Furniture_Chest", 1)] {
        data.extend([id, 0, u8::try_from(name.len()).unwrap_or(0)]);
        data.extend(name.as_bytes());
        data.extend(count.to_be_bytes());
    }
    let cells = data.len();
    data.resize(cells + 16_384 + 16, 0);
    let cell = usize::from(CHEST_CELL);
    if let Some(pair) = data.get_mut(cells + cell / 2) {
        *pair = if cell % 2 == 0 { 0x10 } else { 0x01 };
    }
    data
}

/// Cell (5, 1, 9) of a section.
const CHEST_CELL: u16 = 1 << 10 | 9 << 5 | 5;

/// Adds the components with entities and block entities to a section.
fn with_holders(section: Bson, number: usize, names: SectionNames) -> Bson {
    let ((entities, entities_field), (blocks, blocks_field)) = (names.entities, names.blocks);
    let list = |entity| Bson::default().list(entities_field, [entity]);
    match number {
        2 => {
            let map = Bson::default().document(&CHEST_CELL.to_string(), chest());
            let section = section.document(entities, list(sheep()));
            section.document(blocks, Bson::default().document(blocks_field, map))
        }
        5 => section.document(entities, list(item())),
        9 => section.document(entities, Bson::default()),
        _ => section,
    }
}

fn heights_and_tints() -> Vec<u8> {
    let mut data = vec![0, 1, 0, 0, 0, 0, 5, 0, 0];
    data.resize(data.len() + 1280, 0);
    data.extend([1, 0, 0xAB, 0x34, 0x12, 0xFF, 0, 5, 0, 0]);
    data.resize(data.len() + 1280, 0);
    data
}

fn environments() -> Vec<u8> {
    let mut data = [&[0, 0, 0, 1, 0, 0, 0, 0x7f, 0, 9][..], b"Env_Hills"].concat();
    (0..1024).for_each(|_| data.extend([0, 0, 0, 0, 0, 0, 0, 0x7f]));
    data
}

/// Returns a chunk of game 0.6: entities and block entities in the sections, and empty lists in the
/// chunk.
pub fn game_0_6_chunk(names: SectionNames) -> Vec<u8> {
    let sections = (0..10).map(|number| {
        let air = [&[0, 0, 0, 11][..], &[0; 13]].concat();
        let blocks = if number == 2 { blocks_with_chest() } else { air };
        let section = Bson::default()
            .document("Fluid", Bson::default().data(&[0, 0]))
            .document("ChunkSection", Bson::default())
            .document("Block", Bson::default().int("Version", 6).data(&blocks));
        holder(with_holders(section, number, names))
    });
    let no_blocks = Bson::default().document("BlockComponents", Bson::default());
    let root = Bson::default()
        .document("BlockComponentChunk", no_blocks)
        .document("EnvironmentChunk", Bson::default().data(&environments()))
        .document("ChunkColumn", Bson::default().list("Sections", sections))
        .document("WorldChunk", Bson::default())
        .document("BlockHealthChunk", Bson::default().data(&[2, 0, 0, 0, 0, 0, 0, 0, 0]))
        .document("BlockChunk", Bson::default().int("Version", 3).data(&heights_and_tints()))
        .document("EntityChunk", Bson::default().list("Entities", []));
    holder(root).finish()
}

/// Returns a chunk of game 0.7: blocks, heights, environments and health in components of unknown
/// format, with arbitrary bytes, and no lists in the chunk itself.
pub fn game_0_7_chunk() -> Vec<u8> {
    let opaque = || Bson::default().data(b"not known");
    let sections = (0..10).map(|number| {
        let section = Bson::default()
            .document("Fluid", Bson::default().data(&[0, 0]))
            .document("ChunkSection", Bson::default())
            .document("EnvironmentSection", opaque())
            .document("BlockHealthSection", opaque())
            .document("Block", Bson::default().int("Version", 7).data(b"not known"));
        holder(with_holders(section, number, SectionNames::LIKELY))
    });
    let root = Bson::default()
        .document("ChunkColumn", Bson::default().list("Sections", sections))
        .document("WorldChunk", Bson::default())
        .document("HeightmapColumn", opaque())
        .document("BlockChunk", Bson::default().int("Version", 4).data(b"not known"));
    holder(root).finish()
}
