//! All contenders in turn, again and again: of each figure the best one counts, since what else the machine does only adds to it.

use anyhow::{Result, ensure};
use serde_json::Value;

use super::contender::Contender;
use super::player::Played;
use super::sizes::Sizes;
use super::workload::{Part, Workload};

/// A figure of each contender.
pub(super) struct Column {
    /// Without its unit.
    pub(super) name: &'static str,
    /// With it, for people.
    pub(super) heading: &'static str,
    /// In JSON.
    pub(super) key: &'static str,
}

/// How many of them are times.
pub(super) const TIMED: usize = 6;

/// The figures, the size of the package last.
pub(super) const COLUMNS: [Column; TIMED + 1] = [
    Column { name: "start", heading: "start, ms", key: "start_ms" },
    Column { name: "a line", heading: "a line, µs", key: "line_us" },
    Column { name: "an update", heading: "an update, µs", key: "update_us" },
    Column { name: "a page", heading: "a page, ms", key: "page_ms" },
    Column { name: "a search", heading: "a search, ms", key: "search_ms" },
    Column { name: "a load", heading: "a load, ms", key: "load_ms" },
    Column { name: "package", heading: "package, kB", key: "package_kb" },
];

/// One of each column.
pub(super) type Figures = [f64; TIMED + 1];

/// The figures of each contender, in their order.
pub(super) fn measure(sizes: Sizes, contenders: &mut [Contender]) -> Result<Vec<Figures>> {
    let workload = Workload::read(sizes)?;
    let initialize = workload.part(&["initialize"], 0)?;
    // The first start makes the store, and what the package caches.
    for round in 0..=sizes.rounds {
        for contender in &mut *contenders {
            let took = contender.start(&initialize)?;
            if round > 0 {
                contender.samples[0].push(took);
            }
        }
    }
    for part in workload.fill()? {
        for contender in &mut *contenders {
            contender.play(&part)?;
        }
    }
    let rounds = Rounds::new(&workload, sizes)?;
    for _ in 0..sizes.rounds {
        for contender in &mut *contenders {
            rounds.play(contender)?;
        }
    }
    contenders.iter_mut().map(figures).collect()
}

/// Stops it, and takes the best of each.
fn figures(contender: &mut Contender) -> Result<Figures> {
    contender.stop()?;
    let mut figures = [contender.size; TIMED + 1];
    for (figure, samples) in figures.iter_mut().zip(&contender.samples) {
        *figure = samples.iter().copied().fold(f64::INFINITY, f64::min);
    }
    let is_there = |figure: &f64| figure.is_finite() && *figure > 0.0;
    ensure!(figures.iter().all(is_there), "{}: a figure has not come out: {figures:?}", contender.name);
    Ok(figures)
}

/// What is played in each round.
struct Rounds {
    sizes: Sizes,
    pass: Part,
    prompt: Part,
    record: Part,
    end: Part,
    page: Part,
    search: Part,
    /// How many it finds.
    found: usize,
    load: Part,
    close: Part,
}

impl Rounds {
    fn new(workload: &Workload, sizes: Sizes) -> Result<Self> {
        let (recorded, loaded) = (workload.recorded(), workload.loaded());
        Ok(Self {
            sizes,
            pass: workload.part(&["pass"], 0)?.times(sizes.passed),
            prompt: workload.part(&["prompt"], recorded)?,
            record: workload.part(&["record"], recorded)?.times(sizes.recorded).idle(100),
            end: workload.part(&["end"], recorded)?,
            page: workload.part(&["page"], 0)?.times(sizes.listed),
            search: workload.part(&["search"], 0)?.times(sizes.listed),
            found: workload.rare(),
            load: workload.part(&["load"], loaded)?.answered(),
            close: workload.part(&["close"], loaded)?.answered(),
        })
    }

    fn play(&self, contender: &mut Contender) -> Result<()> {
        let name = contender.name;
        let passed = contender.play(&self.pass)?;
        ensure!(passed.lines == self.sizes.passed, "{name}: {} lines passed", passed.lines);

        contender.play(&self.prompt)?;
        let recorded = contender.play(&self.record)?;
        ensure!(recorded.lines >= self.sizes.recorded, "{name}: {} updates came", recorded.lines);
        contender.play(&self.end)?;

        let paged = contender.play(&self.page)?;
        ensure!(listed(&paged) > 0, "{name}: nothing is listed: {paged:?}");
        let searched = contender.play(&self.search)?;
        ensure!(listed(&searched) == self.found, "{name}: {} found: {searched:?}", listed(&searched));

        let loaded = contender.play(&self.load)?;
        ensure!(loaded.last["id"] == "load", "{name}: the load has no answer: {loaded:?}");
        ensure!(loaded.lines > self.sizes.loaded, "{name}: {} lines were loaded", loaded.lines);
        contender.play(&self.close)?;

        let [_, line, update, page, search, load] = &mut contender.samples;
        line.push(each(&passed, self.sizes.passed) * 1e3);
        update.push(each(&recorded, self.sizes.recorded) * 1e3);
        page.push(each(&paged, self.sizes.listed));
        search.push(each(&searched, self.sizes.listed));
        load.push(loaded.millis);
        Ok(())
    }
}

/// In milliseconds.
fn each(played: &Played, count: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let count = count as f64;
    played.millis / count
}

/// How many sessions the last answer lists.
fn listed(played: &Played) -> usize {
    played.last["result"]["sessions"].as_array().map_or(0, Vec::<Value>::len)
}
