//! What random sessions are made of: agents, directories in several spellings, and words in several scripts and cases.

/// Directories; all spellings in a row are one directory, and no two rows are.
pub const DIRECTORIES: &[&[&str]] = &[
    &["/", "//", "/.", "/.."],
    &["/home/x", "/home/x/", "/home//x", "/home/./x", "/home/x/y/..", "//home/x//."],
    &["/home", "/home/", "/home/x/.."],
    &["/home/x/y", "/home/x/y/", "/home/x/./y"],
    &["/HOME/x"],
    &["C:\\work", "c:\\work", "C:\\work\\", "c:/work", "C:/work/sub/.."],
    &["C:\\", "c:/", "C:\\..", "c:\\."],
    &["C:\\work\\sub", "C:/work//sub"],
    &["D:\\work", "d:/work/"],
    &["\\\\server\\share", "\\\\server\\share\\", "\\\\server\\share\\.."],
    &["\\\\server\\share\\дом", "\\\\server/share/./дом/"],
    &["/проекты/東京", "/проекты/東京/", "/проекты/./東京"],
    &["/a b/%41"],
];

/// Those of [`DIRECTORIES`] that correspond to each other in the worktrees of one repository.
const WORKTREES: &[&[usize]] = &[&[1, 2, 11], &[5, 8]];

/// Whether two of the [`DIRECTORIES`] do.
pub fn are_worktrees(one: usize, other: usize) -> bool {
    WORKTREES.iter().any(|group| group.contains(&one) && group.contains(&other))
}

/// The directories that correspond to this one, as somebody tells them who is not careful.
pub fn worktrees_of(cwd: &str) -> Option<Vec<String>> {
    let Some(own) = DIRECTORIES.iter().position(|spellings| spellings[0] == cwd) else { return Some(Vec::new()) };
    let others = (0..DIRECTORIES.len()).filter(|other| are_worktrees(own, *other));
    let spelt = others.flat_map(|other| [DIRECTORIES[other].first(), DIRECTORIES[other].last()]).flatten();
    Some(spelt.copied().chain(["relative", ""]).map(str::to_owned).collect())
}

/// The names of agents. Lists are of the first one's sessions where nothing else is said.
pub const AGENTS: &[&str] = &["agent", "-", "агент/2"];

/// A word as it can be written, and as it counts.
#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    /// Without case and accents.
    pub folded: &'static str,
    /// Ways to write it.
    pub written: &'static [&'static str],
    /// Whether its script is written without spaces, so that any piece of it is found.
    pub unspaced: bool,
}

const fn word(folded: &'static str, written: &'static [&'static str]) -> Word {
    Word { folded, written, unspaced: false }
}

const fn unspaced(folded: &'static str, written: &'static [&'static str]) -> Word {
    Word { folded, written, unspaced: true }
}

/// The words of titles, metadata and conversations. Some begin like others.
pub const WORDS: &[Word] = &[
    word("fix", &["fix", "Fix", "FIX", "ﬁx"]),
    word("fixture", &["fixture", "Fixture"]),
    word("cafe", &["cafe", "Café", "CAFÉ", "cafe\u{301}"]),
    word("login", &["login", "LogIn"]),
    word("2fa", &["2fa", "２FA"]),
    word("strasse", &["Straße", "STRASSE", "strasse"]),
    word("елка", &["ёлка", "Ёлка", "ЕЛКА"]),
    word("σισυφοσ", &["Σίσυφος", "ΣΊΣΥΦΟΣ"]),
    word("한국어", &["한국어"]),
    unspaced("東京", &["東京"]),
    unspaced("東京都", &["東京都"]),
    unspaced("言語", &["言語"]),
    unspaced("カフェ", &["カフェ", "ｶﾌｪ"]),
    unspaced("ภาษาไทย", &["ภาษาไทย"]),
];
