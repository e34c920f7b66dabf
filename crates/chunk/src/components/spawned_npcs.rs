//! `ChunkSpawnedNPCData`: the number of creatures that each environment of the chunk has spawned.

use crate::component::Component;
use crate::error::Result;
use crate::fields::Fields;
use hyworld_documents::RawDocument;

const COUNTS_KEY: &str = "EnvironmentSpawnCounts";

/// Spawn counts by environment, in stored order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChunkSpawnedNpcData {
    /// Environment name and count. The game stores counts as floats.
    pub counts: Vec<(String, f64)>,
}

impl Component for ChunkSpawnedNpcData {
    const ID: &'static str = "ChunkSpawnedNPCData";

    fn decode(document: RawDocument<'_>, _version: i32) -> Result<Self> {
        let mut counts = Vec::new();
        let found = document.get(COUNTS_KEY)?.and_then(|counts| counts.as_document());
        for element in found.into_iter().flat_map(RawDocument::elements) {
            let element = element?;
            if let Some(count) = element.as_f64() {
                counts.push((element.key().to_owned(), count));
            }
        }
        Ok(Self { counts })
    }

    fn encode(&self, fields: &mut Fields<'_>) {
        fields.document(COUNTS_KEY, |writer| {
            for (environment, count) in &self.counts {
                writer.double(environment, *count);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Holder;

    #[test]
    fn round_trip() {
        let counts = vec![("Env_Zone1".to_owned(), 2.0), ("Env_Cave".to_owned(), 0.5)];
        let data = ChunkSpawnedNpcData { counts };
        let mut holder = Holder::new();
        holder.put(&data).unwrap();
        assert_eq!(holder.get::<ChunkSpawnedNpcData>().unwrap(), Some(&data));
        let before = holder.encode();
        holder.put(&data).unwrap();
        assert_eq!(holder.encode(), before);
    }
}
