//! The table as docs/speed.md shows it.

use std::time::Duration;

use super::super::figures::millis;
use super::measure::Figures;
use crate::style;

pub(super) fn print(runs: u32, columns: &[(u64, Figures)]) {
    println!("{}", style::heading(format_args!("Lists by the number of sessions, median of {runs} requests, in ms")));
    line("", columns.iter().map(|(sessions, _)| sessions.to_string()), columns);
    let row = |name: &str, figure: &dyn Fn(&Figures) -> Duration| {
        line(name, columns.iter().map(|(_, figures)| format!("{:.3}", millis(figure(figures)))), columns);
    };
    row("bare query", &|figures| figures.query);
    row("bare echo", &|figures| figures.echo);
    // A small store has no later page of what is rare.
    let largest = columns.iter().max_by_key(|(_, figures)| figures.pages.len());
    let names: Vec<&str> =
        largest.map(|(_, f)| f.pages.iter().map(|(name, _)| name.as_str()).collect()).unwrap_or_default();
    let optional = |name: &str, figure: &dyn Fn(&Figures, Duration) -> String| {
        let cells = columns.iter().map(|(_, f)| f.page(name).map_or("-".to_owned(), |page| figure(f, page)));
        line(name, cells, columns);
    };
    for name in &names {
        optional(name, &|_, page| format!("{:.3}", millis(page)));
    }
    row("all pages", &|figures| figures.full);
    let followed = columns.first().map(|(_, figures)| figures.followed.figures().map(|(name, _)| name));
    for (at, name) in followed.iter().flatten().enumerate() {
        row(name, &|figures| figures.followed.figures()[at].1);
    }
    let of = |part: Duration, whole: Duration| format!("{:.2}", part.as_secs_f64() / whole.as_secs_f64());
    let floor = |figures: &Figures| figures.query + figures.echo;
    if let Some((smallest, base)) = columns.first() {
        for at in [0, 2] {
            let name = format!("{} ÷ that of {smallest}", base.pages[at].0);
            line(&name, columns.iter().map(|(_, f)| of(f.pages[at].1, base.pages[at].1)), columns);
        }
    }
    println!("{}", style::heading(format_args!("Each page ÷ (query + echo)")));
    for name in &names {
        optional(name, &|figures, page| of(page, floor(figures)));
    }
    let memory = |figures: &Figures| figures.memory.map_or("-".to_owned(), |kib| format!("{}", kib / 1024));
    line("peak memory, MiB", columns.iter().map(|(_, figures)| memory(figures)), columns);
}

fn line(name: &str, cells: impl Iterator<Item = String>, columns: &[(u64, Figures)]) {
    let cells: Vec<String> = cells.map(|cell| format!("{cell:>12}")).collect();
    debug_assert_eq!(cells.len(), columns.len());
    println!("{name:<50}{}", cells.concat());
}
