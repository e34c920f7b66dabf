//! [`GameTime`]: a time in a world, written as `0001-01-09T19:21:05.303579616Z`.

use std::fmt;
use std::str::FromStr;

use hyworld_documents::Value;

use super::setting::{Setting, SettingProblem};

const SECONDS_PER_DAY: i64 = 86_400;

/// The last year that can be written, as in the game.
const YEAR_MAX: i64 = 999_999_999;

/// The Gregorian calendar repeats after this many years and days.
const ERA_YEARS: i64 = 400;
const ERA_DAYS: i64 = 146_097;

/// Days from March 1 of year 0, the start of the first era, to January 1, 1970.
const EPOCH_DAYS: i64 = 719_468;

/// A time in a world. New worlds start in year 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameTime {
    seconds: i64,
    nanos: u32,
}

/// The text is not a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a time such as 0001-01-01T05:30:00Z")]
pub struct NotATime;

impl GameTime {
    /// The start time of new worlds: 05:30 on the first day.
    pub const START: Self = Self { seconds: -62_135_577_000, nanos: 0 };

    /// Creates a time from seconds since 1970 and nanoseconds. Returns `None` if it is about a
    /// billion years away or `nanos` is a second or more.
    pub fn new(seconds: i64, nanos: u32) -> Option<Self> {
        let last = YEAR_MAX * 365 * SECONDS_PER_DAY;
        let is_valid = (-last..=last).contains(&seconds) && nanos < 1_000_000_000;
        is_valid.then_some(Self { seconds, nanos })
    }

    /// Returns the whole seconds since 1970.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Returns the nanoseconds after the last whole second.
    pub fn nanos(self) -> u32 {
        self.nanos
    }
}

/// Returns the days from 1970 to a date. Years are counted from March, so that leap days come last.
/// No value comes near the limits of 64 bits.
fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(ERA_YEARS);
    let year_of_era = year.rem_euclid(ERA_YEARS);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - EPOCH_DAYS
}

/// Returns the date (year, month, day) this many days after the start of 1970.
fn date_after(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH_DAYS;
    let era = days.div_euclid(ERA_DAYS);
    let day_of_era = days.rem_euclid(ERA_DAYS);
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let days_before = 365 * year_of_era + year_of_era / 4 - year_of_era / 100;
    let day_of_year = day_of_era - days_before;
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * ERA_YEARS + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

/// Formats like Java's `Instant`: 0, 3, 6 or 9 fraction digits, and `+` before years of five
/// digits.
impl fmt::Display for GameTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_after(self.seconds.div_euclid(SECONDS_PER_DAY));
        let second = self.seconds.rem_euclid(SECONDS_PER_DAY);
        match year {
            10_000.. => write!(f, "+{year}")?,
            0.. => write!(f, "{year:04}")?,
            _ => write!(f, "-{:04}", -year)?,
        }
        let (hours, minutes) = (second / 3600, second / 60 % 60);
        write!(f, "-{month:02}-{day:02}T{hours:02}:{minutes:02}:{:02}", second % 60)?;
        match self.nanos {
            0 => {}
            nanos if nanos % 1_000_000 == 0 => write!(f, ".{:03}", nanos / 1_000_000)?,
            nanos if nanos % 1_000 == 0 => write!(f, ".{:06}", nanos / 1_000)?,
            nanos => write!(f, ".{nanos:09}")?,
        }
        f.write_str("Z")
    }
}

impl fmt::Debug for GameTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for GameTime {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        parse(text).ok_or(NotATime)
    }
}

fn parse(text: &str) -> Option<GameTime> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (year, month_and_day) =
        date.len().checked_sub(6).and_then(|at| date.split_at_checked(at))?;
    let (month, day) = month_and_day.strip_prefix('-')?.split_once('-')?;
    let (month, day) = (number(month, 2)?, number(day, 2)?);
    let (sign, digits) = match (year.strip_prefix('-'), year.strip_prefix('+')) {
        (Some(digits), _) => (-1, digits),
        (_, Some(digits)) => (1, digits),
        _ => (1, year),
    };
    let year = sign * number(digits, digits.len().clamp(4, 9))?;
    let days = days_to(year, month, day);
    // An invalid day, such as February 30, does not round-trip.
    if date_after(days) != (year, month, day) {
        return None;
    }
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    if time.ends_with('.') || fraction.len() > 9 {
        return None;
    }
    let nanos = number(&format!("{fraction:0<9}"), 9)?;
    let mut parts = clock.split(':').map(|part| number(part, 2));
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let second = hours * 3600 + minutes * 60 + seconds;
    GameTime::new(days * SECONDS_PER_DAY + second, u32::try_from(nanos).ok()?)
}

/// Parses a number with exactly `count` digits.
fn number(digits: &str, count: usize) -> Option<i64> {
    let is_number = digits.len() == count && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

impl Setting for GameTime {
    fn read(value: &Value) -> Result<Self, SettingProblem> {
        let time = value.as_str().and_then(|text| text.parse().ok());
        time.ok_or_else(|| SettingProblem::new("a time such as 0001-01-01T05:30:00Z", value))
    }

    fn write(&self, _old: Option<&Value>) -> Option<Value> {
        Some(Value::String(self.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_trip() {
        for text in [
            "0001-01-01T05:30:00Z",
            "0001-01-09T19:21:05.303579616Z",
            "1970-01-02T10:38:53.897Z",
            "2000-02-29T23:59:59.000001Z",
            "0000-01-01T00:00:00Z",
            "-0001-12-31T00:00:00Z",
            "+10000-01-01T00:00:00Z",
            "-123456-06-07T08:09:10.100Z",
        ] {
            assert_eq!(text.parse::<GameTime>().unwrap().to_string(), text);
        }
        assert_eq!(GameTime::START.to_string(), "0001-01-01T05:30:00Z");
        let time: GameTime = "1970-01-02T00:00:01.5Z".parse().unwrap();
        assert_eq!((time.seconds(), time.nanos()), (86_401, 500_000_000));
        assert_eq!(time.to_string(), "1970-01-02T00:00:01.500Z");
    }

    #[test]
    fn every_day_of_eight_hundred_years_round_trips() {
        let mut expected = (1600, 1, 1);
        for days in days_to(1600, 1, 1)..days_to(2400, 1, 1) {
            let (year, month, day) = expected;
            assert_eq!(date_after(days), expected);
            assert_eq!(days_to(year, month, day), days);
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let last = match month {
                2 => 28 + i64::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            expected = match (month, day == last) {
                (_, false) => (year, month, day + 1),
                (12, true) => (year + 1, 1, 1),
                (_, true) => (year, month + 1, 1),
            };
        }
    }

    #[test]
    fn invalid_times_are_rejected() {
        for text in [
            "",
            "Z",
            "noon",
            "2001-02-29T00:00:00Z",
            "2001-13-01T00:00:00Z",
            "2001-00-01T00:00:00Z",
            "2001-01-01T24:00:00Z",
            "2001-01-01T00:60:00Z",
            "2001-01-01T00:00Z",
            "2001-01-01T00:00:00:00Z",
            "2001-01-01T00:00:00",
            "2001-01-01T00:00:00.Z",
            "2001-01-01T00:00:00.1234567890Z",
            "2001-1-01T00:00:00Z",
            "201-01-01T00:00:00Z",
            "9999999999-01-01T00:00:00Z",
            "20\u{e9}1-01-01T00:00:00Z",
            "2001-01-\u{e9}T00:00:00Z",
        ] {
            assert!(text.parse::<GameTime>().is_err(), "{text}");
        }
        assert!(GameTime::new(i64::MAX, 0).is_none() && GameTime::new(0, 1_000_000_000).is_none());
    }
}
