//! [`ClientEffects`]: the appearance of a world's sky.

use hyworld_documents::Value;

use super::setting::{Setting, SettingProblem, object, read_key};

/// The appearance of the sky. The game uses 32-bit floats and writes them as 64-bit floats.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClientEffects {
    /// Height of the sun.
    pub sun_height_percent: f64,
    /// Angle of the sun's path.
    pub sun_angle_degrees: f64,
    /// Strength of bloom.
    pub bloom_intensity: f64,
    /// Sharpness of bloom.
    pub bloom_power: f64,
    /// Brightness of the sun.
    pub sun_intensity: f64,
    /// Strength of sunshafts.
    pub sunshaft_intensity: f64,
    /// Size of sunshafts.
    pub sunshaft_scale_factor: f64,
}

impl Default for ClientEffects {
    fn default() -> Self {
        Self {
            sun_height_percent: 100.0,
            sun_angle_degrees: 0.0,
            bloom_intensity: f64::from(0.3_f32),
            bloom_power: 8.0,
            sun_intensity: 0.25,
            sunshaft_intensity: f64::from(0.3_f32),
            sunshaft_scale_factor: 4.0,
        }
    }
}

impl ClientEffects {
    fn members(&mut self) -> [(&'static str, &mut f64); 7] {
        [
            ("SunHeightPercent", &mut self.sun_height_percent),
            ("SunAngleDegrees", &mut self.sun_angle_degrees),
            ("BloomIntensity", &mut self.bloom_intensity),
            ("BloomPower", &mut self.bloom_power),
            ("SunIntensity", &mut self.sun_intensity),
            ("SunshaftIntensity", &mut self.sunshaft_intensity),
            ("SunshaftScaleFactor", &mut self.sunshaft_scale_factor),
        ]
    }
}

impl Setting for ClientEffects {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        let document = object(value)?;
        let mut effects = Self::default();
        for (key, member) in effects.members() {
            *member = read_key(document, key)?.unwrap_or(*member);
        }
        Ok(effects)
    }

    fn write(&self, old: Option<&Value>) -> Option<Value> {
        let mut document = old.and_then(Value::as_document).cloned().unwrap_or_default();
        let mut stored = old.and_then(|old| Self::read(old).ok());
        let mut changed = *self;
        for (index, (key, member)) in changed.members().into_iter().enumerate() {
            let before = stored.as_mut().map(|stored| stored.members().map(|(_, value)| *value));
            let before = before.and_then(|all| all.get(index).copied());
            // Unchanged values keep their form, such as 8 for 8.0.
            if before.map(f64::to_bits) != Some(member.to_bits()) {
                document.set(key, Value::Double(*member));
            }
        }
        Some(Value::Document(document))
    }
}

#[cfg(test)]
mod tests {
    use hyworld_documents::Document;

    use super::*;

    #[test]
    fn only_changed_values_are_written() {
        let text = "{\n  \"BloomPower\": 8,\n  \"Mine\": 1,\n  \"SunIntensity\": 0.5\n}";
        let old = Value::Document(Document::from_json(text).unwrap());
        let mut effects = ClientEffects::read(&old).unwrap();
        assert_eq!(effects.write(Some(&old)), Some(old.clone()));
        effects.sun_intensity = 0.75;
        let written = effects.write(Some(&old)).unwrap();
        assert_eq!(written.as_document().unwrap().to_json(), text.replace("0.5", "0.75"));
    }
}
