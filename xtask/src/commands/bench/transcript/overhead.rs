//! What each request and notification takes longer than without anything between.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::super::figures::median;
use super::super::section::Section;
use super::contender::{self, Contender};
use super::memory;
use super::sizes::Sizes;
use super::sync::Sync;

/// Bytes of text in a streamed update.
const TEXT: usize = 64;

/// What was measured of one contender.
#[derive(Default)]
struct Samples {
    requests: Vec<Duration>,
    passed: Vec<Duration>,
    pokes: Vec<Duration>,
    turns: Vec<Duration>,
    texts: Vec<Duration>,
    mixed: Vec<Duration>,
}

/// Medians in microseconds.
struct Figures {
    name: &'static str,
    request: f64,
    passed: f64,
    poke: f64,
    turn: f64,
    /// For each notification of a stream.
    text: f64,
    mixed: f64,
    memory: Option<f64>,
}

/// Measures all contenders in turns.
pub(super) fn measure(sizes: &Sizes, folder: &Path) -> Result<Vec<Section>> {
    let mut contenders = vec![
        Contender::start("nothing between", contender::direct()?)?,
        Contender::start("cat", contender::cat()?)?,
        Contender::start("conductor, recording nothing", contender::conductor()?)?,
        Contender::start("acp-sessions, recording", contender::sessions(&folder.join("overhead.db"))?)?,
    ];
    let (mut sync, mut syncs) = (Sync::create(&folder.join("synced"))?, Vec::new());
    let mut samples: Vec<Samples> = contenders.iter().map(|_| Samples::default()).collect();
    for round in 0..=sizes.rounds {
        for (contender, samples) in contenders.iter_mut().zip(&mut samples) {
            sample(contender, sizes, samples)?;
            // The first round is for warming up.
            if round == 0 {
                *samples = Samples::default();
            }
        }
        for _ in 0..sizes.turns {
            syncs.push(sync.turn()?);
        }
    }
    let figures: Vec<Figures> = contenders
        .iter()
        .zip(&mut samples)
        .map(|(contender, samples)| Figures::of(contender, samples, sizes.stream))
        .collect();
    for contender in contenders {
        contender.client.stop()?;
    }
    Ok(vec![singles(&figures), turns(&figures, micros(&mut syncs)), streams(&figures)])
}

fn sample(contender: &mut Contender, sizes: &Sizes, samples: &mut Samples) -> Result<()> {
    let Contender { client, session, .. } = contender;
    let mode = format!(r#"{{"sessionId":"{session}","modeId":"code"}}"#);
    for _ in 0..sizes.singles {
        samples.requests.push(client.request("session/set_mode", &mode)?.took);
    }
    for _ in 0..sizes.singles {
        samples.passed.push(client.request("_bench/ping", "{}")?.took);
    }
    for _ in 0..sizes.singles {
        samples.pokes.push(client.poke(session)?);
    }
    for _ in 0..sizes.turns {
        samples.turns.push(client.stream(session, 1, TEXT, "text")?.took);
    }
    for (kind, times) in [("text", &mut samples.texts), ("mixed", &mut samples.mixed)] {
        let streamed = client.stream(session, sizes.stream, TEXT, kind)?;
        // A layer may add something of its own, such as a title.
        ensure!(streamed.notifications >= sizes.stream, "{} of {} came", streamed.notifications, sizes.stream);
        times.push(streamed.took);
    }
    Ok(())
}

/// The median.
fn micros(times: &mut [Duration]) -> f64 {
    median(times).as_secs_f64() * 1e6
}

impl Figures {
    fn of(contender: &Contender, samples: &mut Samples, stream: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let stream = stream as f64;
        Self {
            name: contender.name,
            request: micros(&mut samples.requests),
            passed: micros(&mut samples.passed),
            poke: micros(&mut samples.pokes),
            turn: micros(&mut samples.turns),
            text: micros(&mut samples.texts) / stream,
            mixed: micros(&mut samples.mixed) / stream,
            // A pipeline of the shell has no process of its own to look at.
            memory: memory::high_water(contender.client.process()).filter(|_| contender.name != "cat"),
        }
    }
}

fn singles(figures: &[Figures]) -> Section {
    let mut section = Section::new(
        "singles",
        "One at a time: µs, and µs more than with nothing between (median)",
        &[
            ("set_mode", "request_us"),
            ("more", "request_added_us"),
            ("ext request", "passed_us"),
            ("more", "passed_added_us"),
            ("notification", "notification_us"),
            ("more", "notification_added_us"),
            ("turn", "turn_us"),
            ("more", "turn_added_us"),
        ],
    );
    let floor = &figures[0];
    for own in figures {
        let pairs =
            [(own.request, floor.request), (own.passed, floor.passed), (own.poke, floor.poke), (own.turn, floor.turn)];
        section.row(own.name, pairs.into_iter().flat_map(|(own, floor)| [Some(own), Some(own - floor)]));
    }
    section
}

/// What a turn that is on disk before it is answered takes, beside the syncing alone.
fn turns(figures: &[Figures], sync: f64) -> Section {
    let title = "A turn: µs more than with nothing between, µs to sync its bytes alone, and times a message that passes and that";
    let columns = [("more", "turn_added_us"), ("sync", "sync_us"), ("times", "ratio")];
    let mut section = Section::new("turns", title, &columns);
    let floor = &figures[0];
    for own in &figures[1..] {
        let (turn, passed) = (own.turn - floor.turn, own.passed - floor.passed);
        section.row(own.name, [Some(turn), Some(sync), Some(turn / (passed + sync))]);
    }
    section
}

fn streams(figures: &[Figures]) -> Section {
    let mut section = Section::new(
        "streams",
        "In a stream: µs for each update, more than with nothing between, updates a second (median of turns)",
        &[
            ("text", "text_us"),
            ("more", "text_added_us"),
            ("a second", "text_per_second"),
            ("mixed", "mixed_us"),
            ("more", "mixed_added_us"),
            ("a second", "mixed_per_second"),
            ("MiB peak", "memory_mib"),
        ],
    );
    let floor = &figures[0];
    for own in figures {
        let streams = [(own.text, floor.text), (own.mixed, floor.mixed)];
        let values = streams.into_iter().flat_map(|(own, floor)| [Some(own), Some(own - floor), Some(1e6 / own)]);
        section.row(own.name, values.chain([own.memory]));
    }
    section
}
