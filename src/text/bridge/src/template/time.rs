//! `strftime_now`, in UTC.

use minijinja::Value;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const DAY_SECONDS: i64 = 86_400;

struct Moment {
    year: i64,
    month: i64,
    day: i64,
    weekday: i64,
    day_of_year: i64,
    second_of_day: i64,
}

/// The function that templates call.
pub fn strftime_now(unix_time: i64) -> Value {
    Value::from_function(move |format: &str| strftime(unix_time, format))
}

impl Moment {
    fn new(unix_time: i64) -> Self {
        let days = unix_time.div_euclid(DAY_SECONDS);
        let (year, month, day) = civil(days);
        Moment {
            year,
            month,
            day,
            weekday: (days + 4).rem_euclid(7),
            day_of_year: days - days_before(year) + 1,
            second_of_day: unix_time.rem_euclid(DAY_SECONDS),
        }
    }

    fn hour12(&self) -> i64 {
        (self.second_of_day / 3600 + 11) % 12 + 1
    }
}

/// Year, month and day of a day count since 1970. Source: Howard Hinnant, chrono-compatible date algorithms.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Days from 1970 to the first of January of `year`.
fn days_before(year: i64) -> i64 {
    let past = year - 1;
    past * 365 + past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400) - 719_162
}

/// Unknown directives stay as they are.
pub fn strftime(unix_time: i64, format: &str) -> String {
    // Years far outside the calendar would overflow it.
    let moment = Moment::new(unix_time.clamp(-DAY_SECONDS * 1_000_000_000, DAY_SECONDS * 1_000_000_000));
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('-') => {
                let name = chars.next().unwrap_or('-');
                let text = directive(&moment, name).unwrap_or_else(|| format!("%-{name}"));
                let bare = text.trim_start_matches(['0', ' ']);
                out.push_str(if bare.is_empty() { "0" } else { bare });
            }
            Some(name) => out.push_str(&directive(&moment, name).unwrap_or_else(|| format!("%{name}"))),
            None => out.push('%'),
        }
    }
    out
}

fn directive(moment: &Moment, name: char) -> Option<String> {
    let month = MONTHS[(moment.month - 1) as usize];
    let weekday = DAYS[moment.weekday as usize];
    let (hour, minute, second) =
        (moment.second_of_day / 3600, moment.second_of_day / 60 % 60, moment.second_of_day % 60);
    let text = match name {
        'Y' => moment.year.to_string(),
        'y' => format!("{:02}", moment.year.rem_euclid(100)),
        'm' => format!("{:02}", moment.month),
        'd' => format!("{:02}", moment.day),
        'e' => format!("{:2}", moment.day),
        'j' => format!("{:03}", moment.day_of_year),
        'B' => month.to_owned(),
        'b' | 'h' => month[..3].to_owned(),
        'A' => weekday.to_owned(),
        'a' => weekday[..3].to_owned(),
        'w' => moment.weekday.to_string(),
        'u' => ((moment.weekday + 6) % 7 + 1).to_string(),
        'H' => format!("{hour:02}"),
        'I' => format!("{:02}", moment.hour12()),
        'M' => format!("{minute:02}"),
        'S' => format!("{second:02}"),
        'p' => if hour < 12 { "AM" } else { "PM" }.to_owned(),
        'Z' | 'z' => String::new(),
        'f' => "000000".to_owned(),
        'F' => format!("{}-{:02}-{:02}", moment.year, moment.month, moment.day),
        'T' | 'X' => format!("{hour:02}:{minute:02}:{second:02}"),
        'R' => format!("{hour:02}:{minute:02}"),
        'D' | 'x' => format!("{:02}/{:02}/{:02}", moment.month, moment.day, moment.year.rem_euclid(100)),
        'c' => format!(
            "{} {} {:2} {hour:02}:{minute:02}:{second:02} {}",
            &weekday[..3],
            &month[..3],
            moment.day,
            moment.year
        ),
        'n' => "\n".to_owned(),
        't' => "\t".to_owned(),
        '%' => "%".to_owned(),
        _ => return None,
    };
    Some(text)
}
