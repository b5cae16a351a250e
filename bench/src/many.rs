//! Sessions by their number: the same ones in every run.

use acp_sessions_guest::store::{Session, Title};

/// A word that half of the sessions hold.
pub const COMMON_WORD: &str = "refactor";
/// A word that [`RARE_SESSIONS`] sessions hold, however many there are.
pub const RARE_WORD: &str = "xylophone";
/// How many sessions hold the rare word.
pub const RARE_SESSIONS: u64 = 20;

/// How many sessions hold each word of [`SCARCE_WORDS`] and [`SCARCE_APART`], or all where there are fewer.
pub const SCARCE_SESSIONS: u64 = 2000;
/// Two words that the same [`SCARCE_SESSIONS`] sessions hold.
pub const SCARCE_WORDS: [&str; 2] = ["zeppelin", "yardarm"];
/// A word that others of them hold.
pub const SCARCE_APART: &str = "vineyard";
/// Two words that four of five sessions hold, each for itself.
pub const FREQUENT_WORDS: [&str; 2] = ["workflow", "checklist"];
/// Two words that no session holds both of, and each of them one: every second session, and all before or after the
/// middle.
pub const HALVES: [[&str; 2]; 2] = [["evening", "oddity"], ["ancient", "novelty"]];

/// The agent that they are with: the built-in one, whose list the program shows.
pub const AGENT: &str = "acp-sessions-agent";

/// When the oldest session was created, milliseconds since 1970.
const BEGINNING: i64 = 1_600_000_000_000;
/// How far apart the sessions are, in milliseconds. Ten share one time.
const APART: i64 = 200_000;
/// How many different words there are.
const VOCABULARY: u64 = 20_000;

/// A session and what was said in it.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) session: Session,
    pub(crate) prompt: String,
    pub(crate) reply: String,
}

/// The session of this number among `count`.
pub(crate) fn sample(nth: u64, count: u64) -> Sample {
    let mut random = Random(nth);
    let id = format!("{:016x}{:016x}", random.next(), random.next());
    // Half of the sessions are in ten directories, the rest are spread over ten thousand.
    let cwd = if nth.is_multiple_of(2) {
        format!("/home/somebody/work/project-{}", random.below(10))
    } else {
        format!("/home/somebody/elsewhere/folder-{:05}", random.below(10_000))
    };
    let updated = BEGINNING + i64::try_from(nth / 10).unwrap_or_default() * APART;
    let mut session = Session::new(id, cwd, updated - i64::try_from(random.below(3_600_000)).unwrap_or_default());
    session.touch(updated);
    session.title = Title::Auto(random.words(5));
    let id = session.id.clone();
    session.give_to(AGENT, &id, u64::MAX);
    session.prompts = 1;
    let mut prompt = random.words(12);
    if random.below(2) == 0 {
        prompt = format!("{prompt} {COMMON_WORD} this");
    }
    let mut reply = random.words(16);
    if nth.is_multiple_of((count / RARE_SESSIONS).max(1)) {
        reply = format!("{reply} {RARE_WORD}");
    }
    for word in planted(nth, count, &mut random) {
        reply.push(' ');
        reply.push_str(word);
    }
    Sample { session, prompt, reply }
}

/// The words that a session holds so that there are searches of every kind.
fn planted(nth: u64, count: u64, random: &mut Random) -> impl Iterator<Item = &'static str> {
    let every = (count / SCARCE_SESSIONS).max(2);
    let scarce = SCARCE_WORDS.map(|word| (word, nth.is_multiple_of(every)));
    let apart = (SCARCE_APART, nth % every == every / 2);
    let frequent = FREQUENT_WORDS.map(|word| (word, random.below(5) > 0));
    let [[even, odd], [old, new]] = HALVES;
    let halves =
        [(even, nth.is_multiple_of(2)), (odd, !nth.is_multiple_of(2)), (old, nth < count / 2), (new, nth >= count / 2)];
    let all = scarce.into_iter().chain([apart]).chain(frequent).chain(halves);
    all.filter(|(_, is_held)| *is_held).map(|(word, _)| word)
}

/// `SplitMix64`: good enough to spread things.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    /// The smaller of two draws, so that some words are frequent and most are not.
    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] =
            ["ba", "cor", "del", "fi", "gan", "hu", "jo", "kel", "lim", "mo", "nar", "pe", "qui", "rus", "sta", "tov"];
        let mut rest = self.below(VOCABULARY).min(self.below(VOCABULARY)) + 16;
        let mut word = String::new();
        while rest > 0 {
            word.push_str(SYLLABLES[(rest % 16) as usize]);
            rest /= 16;
        }
        word
    }
}
