//! Made-up terrain, as chunks that the game could load: hills of stone under earth and grass, water
//! up to a level, some ore, and a camp in one place.

use anyhow::Context;
use hyworld_chunk::bson::{Document, Value};
use hyworld_chunk::{
    AssetKey, BlockChunk, BlockComponentChunk, BlockSection, Chunk, EntityChunk, EnvironmentChunk,
    Filler, FluidSection, HeightMap, Holder, Palette, Rotation, TintMap,
};
use hyworld_coords::{
    BlockPos, ChunkPos, ColumnArray, ColumnPos, LocalBlock, SectionArray, SectionY,
};

/// Distance of the points between which the ground is a plane.
const GRID: i32 = 16;

/// The highest block under water, where the ground is lower.
const WATER_Y: i32 = 23;

/// Where somebody has put a chest: a column of a chunk near the middle.
const CAMP: ColumnPos = ColumnPos::new(517, 521);

/// The ground of all columns of a chunk.
type Grounds = ColumnArray<i32>;

/// The document of a chunk. Every revision has other ore.
pub(super) fn document(at: ChunkPos, revision: u32) -> anyhow::Result<Vec<u8>> {
    let columns = ColumnArray::from_fn(|column| at.column(column).unwrap_or(CAMP));
    let grounds = ColumnArray::from_fn(|column| ground(columns[column]));
    let mut chunk = Chunk::new();
    // The hills end below y 64.
    for y in SectionY::all().take(2) {
        chunk.put_in(y, &blocks(&columns, &grounds, y, revision)?)?;
        chunk.put_in(y, &water(&grounds, y)?)?;
    }
    let mut found = BlockChunk::new();
    let heights = ColumnArray::from_fn(|column| i16::try_from(grounds[column]).unwrap_or(0));
    found.heights = HeightMap::from_values(&heights);
    found.tints = TintMap::from_values(&ColumnArray::from_fn(|column| tint(grounds[column])));
    chunk.put(&found)?;
    chunk.put(&EnvironmentChunk::uniform("Env_Demo_Hills")?)?;
    if at == CAMP.chunk() {
        put_camp(&mut chunk)?;
    }
    Ok(chunk.encode())
}

fn blocks(
    columns: &ColumnArray<ColumnPos>,
    grounds: &Grounds,
    section: SectionY,
    revision: u32,
) -> anyhow::Result<BlockSection> {
    let names = ["Empty", "Rock_Stone", "Ore_Copper", "Soil_Dirt", "Soil_Grass"];
    let names = names.map(|name| AssetKey::new(name).unwrap_or(AssetKey::EMPTY));
    let numbers = SectionArray::from_fn(|cell| {
        let y = section.first_y() + i32::from(cell.y());
        let (column, ground) = (columns[cell.column()], grounds[cell.column()]);
        match y - ground {
            ..-3 if hash(column.x, y * 131 + column.z, revision).is_multiple_of(29) => 2,
            ..-3 => 1,
            -3..0 => 3,
            0 => 4,
            _ => 0,
        }
    });
    Ok(BlockSection::from_blocks(0, Palette::from_indices(&names, &numbers)?))
}

fn water(grounds: &Grounds, section: SectionY) -> anyhow::Result<FluidSection> {
    let name = AssetKey::new("Water_Source").unwrap_or(AssetKey::EMPTY);
    let mut fluids = FluidSection::new();
    let in_section = |y: i32| u8::try_from(y - section.first_y()).ok();
    for (column, &ground) in grounds.cells() {
        let (low, high) = (ground.max(section.first_y() - 1) + 1, WATER_Y.min(section.last_y()));
        let cell = |y: i32| LocalBlock::new(column.x(), in_section(y)?, column.z());
        if let (true, Some(low), Some(high)) = (low <= high, cell(low), cell(high)) {
            fluids.fill(low, high, name.clone(), 1)?;
        }
    }
    Ok(fluids)
}

/// Where the chest is.
pub(super) fn chest() -> BlockPos {
    CAMP.block(ground(CAMP) + 1)
}

/// Puts a chest with a shovel on the ground, and a sheep beside it.
fn put_camp(chunk: &mut Chunk) -> anyhow::Result<()> {
    let pos = chest();
    let at = pos.in_chunk().context("the camp is not in the world")?;
    let chest = AssetKey::new("Furniture_Chest").unwrap_or(AssetKey::EMPTY);
    let towards_x = Rotation::new(3, 0, 0).unwrap_or(Rotation::NONE);
    let section = at.section();
    let mut blocks = chunk.get_in::<BlockSection>(section)?.unwrap_or_else(|| BlockSection::new(0));
    blocks.set_block(at.local(), chest, towards_x, Filler::BASE)?;
    chunk.put_in(section, &blocks)?;
    let shovel = document_of([
        ("Id", Value::String("Tool_Shovel".to_owned())),
        ("Quantity", Value::Int32(1)),
        ("Durability", Value::Double(71.5)),
    ]);
    let items = document_of([("0", Value::Document(shovel))]);
    let container =
        document_of([("Capacity", Value::Int32(18)), ("Items", Value::Document(items))]);
    let container = document_of([("ItemContainer", Value::Document(container))]);
    let mut entities = BlockComponentChunk::default();
    entities.insert(at, holder([("ItemContainerBlock", container)])?);
    chunk.put(&entities)?;
    chunk.put(&EntityChunk { entities: vec![sheep(pos)?] })?;
    Ok(())
}

fn sheep(beside: BlockPos) -> anyhow::Result<Holder> {
    let position = document_of([
        ("X", Value::Double(f64::from(beside.x) + 2.5)),
        ("Y", Value::Double(f64::from(beside.y))),
        ("Z", Value::Double(f64::from(beside.z) + 0.25)),
    ]);
    let uuid = Value::Binary { subtype: 4, bytes: b"made up by demo.".to_vec() };
    let model = document_of([("Id", Value::String("Sheep".to_owned()))]);
    holder([
        ("Transform", document_of([("Position", Value::Document(position))])),
        ("UUID", document_of([("UUID", uuid)])),
        ("Model", document_of([("Model", Value::Document(model))])),
    ])
}

fn document_of<const N: usize>(fields: [(&str, Value); N]) -> Document {
    let mut document = Document::new();
    for (key, value) in fields {
        document.set(key, value);
    }
    document
}

fn holder<const N: usize>(components: [(&str, Document); N]) -> anyhow::Result<Holder> {
    let mut holder = Holder::new();
    for (id, document) in components {
        holder.set_raw(id, &document.to_bytes())?;
    }
    Ok(holder)
}

/// Grass is greener where it is low.
fn tint(ground: i32) -> i32 {
    let low = u8::try_from(60 - ground.min(60)).unwrap_or(0);
    i32::from_be_bytes([0xFF, 0x9C - low, 0x98, 0x2C])
}

/// The height of the ground: planes between points of random height.
fn ground(ColumnPos { x, z }: ColumnPos) -> i32 {
    let (grid_x, grid_z) = (x.div_euclid(GRID), z.div_euclid(GRID));
    let (in_x, in_z) = (x.rem_euclid(GRID), z.rem_euclid(GRID));
    let height = |x, z| i32::from(hash(x, z, 0).to_le_bytes().map(|byte| byte % 48)[0]);
    let along_x = |z| height(grid_x, z) * (GRID - in_x) + height(grid_x + 1, z) * in_x;
    let sum = along_x(grid_z) * (GRID - in_z) + along_x(grid_z + 1) * in_z;
    sum / (GRID * GRID) + 8
}

/// Three numbers stirred into one.
fn hash(a: i32, b: i32, c: u32) -> u32 {
    let mut h = a.cast_unsigned().wrapping_mul(0x9E37_79B1);
    h = (h ^ b.cast_unsigned()).wrapping_mul(0x85EB_CA77);
    h = (h ^ (h >> 15) ^ c).wrapping_mul(0xC2B2_AE3D);
    h ^ (h >> 13)
}
