//! How agents tell in text what is attached to a prompt: by a mention, a link, a label, an element, a tag, between lines, below a
//! heading, in a section at the end, or by nothing but its address or its text.

use crate::reconcile::turn::sum::Sum;
use crate::store::keys;

/// In how many bytes an image or a sound is told at most.
const LONGEST_MEDIUM: usize = 128;
/// What agents say instead of an image: Hermes of each, fast-agent of one by itself.
const OF_IMAGES: [&str; 2] = ["screenshot", "visioncontent"];
/// How long the label of a link is at most.
const LONGEST_LABEL: usize = 256;
/// How many bytes of a file's beginning are kept.
const LONGEST_BEGINNING: usize = 64;
/// How many ends of something of which it is not known what it has are looked at, from the first, and from the last.
const MOST_ENDS: usize = 16;
/// A name with less would be found anywhere.
const SHORTEST_NAME: usize = 3;

/// How a section with files begins, before what they are.
const SECTION: &str = "---Contentfromreferenced";
/// How a file begins in there.
const IN_SECTION: &str = "Contentfrom@";
/// How it ends, if its end is told.
const SECTION_END: &str = "---Endofcontent---";
/// How the line before a file begins that stands between two.
const LINE_BEFORE: &str = "---Resource:";
/// How such a line ends, and all of the line behind the file.
const LINE: &str = "---";
/// How the heading above a file that was linked begins: with its path.
const HEADING: &str = "#/";
/// What stands before the address of a link that pi's adapter tells.
const CONTEXT: &str = "[Context]";
/// What such a file stands between.
const FENCE: &str = "```";

/// What of a text counts here. That is less than what counts of what was said: some agents mark a space in a name, or what is
/// Markdown in a text, with a backslash, so none of those counts.
pub(super) fn letters(text: &str) -> String {
    let does_count = |letter: &char| !letter.is_whitespace() && !matches!(letter, '\\' | '\u{200b}' | '\u{feff}');
    text.chars().filter(does_count).collect()
}

/// Something that is attached.
#[derive(Debug, Clone)]
pub(super) enum Attached {
    /// A link or a file.
    File {
        /// What it is told by: its address, its name.
        names: Vec<String>,
        /// What is in it, if the client has sent that.
        text: Option<Contents>,
    },
    /// An image or a sound, which is told by no name but by what kind of medium it is.
    Medium(String),
}

/// What is in a file.
#[derive(Debug, Clone)]
pub(super) struct Contents {
    /// The first of it, by which most of what is something else is told apart at once.
    beginning: String,
    all: Sum,
}

impl Contents {
    fn of(text: &str) -> Self {
        let letters = letters(text);
        let beginning = letters[..letters.floor_char_boundary(LONGEST_BEGINNING)].to_owned();
        Self { beginning, all: Sum::of(&letters) }
    }
}

impl Attached {
    /// A file with these names.
    pub(super) fn file(names: impl Iterator<Item = String>, text: Option<&str>) -> Self {
        let mut all = Vec::new();
        for name in names {
            let path = path(&name).unwrap_or_default();
            let without_place = path.split(['#', '?']).next().unwrap_or_default();
            let file = name.rsplit('/').next().unwrap_or_default();
            let written = [name.as_str(), path, without_place, file];
            let read = [path, without_place, file].into_iter().filter_map(keys::decode);
            let names = written.into_iter().map(letters).chain(read.map(|name| letters(&name)));
            all.extend(names.filter(|name| name.len() >= SHORTEST_NAME));
        }
        all.sort_unstable();
        all.dedup();
        Self::File { names: all, text: text.map(Contents::of) }
    }

    fn names(&self) -> &[String] {
        match self {
            Self::File { names, .. } => names,
            Self::Medium(_) => &[],
        }
    }

    /// Whether it is told somewhere in these letters.
    fn is_named_in(&self, told: &str) -> bool {
        match self {
            Self::File { names, .. } => names.iter().any(|name| told.contains(name)),
            Self::Medium(kind) => {
                let is_its = |told: &str| {
                    told.contains(kind) || kind == "image" && OF_IMAGES.iter().any(|word| told.contains(word))
                };
                told.len() <= LONGEST_MEDIUM && is_its(&told.to_ascii_lowercase())
            }
        }
    }

    /// Whether it can be told anywhere in these letters.
    fn may_be_in(&self, told: &str) -> bool {
        matches!(self, Self::Medium(_)) || self.is_named_in(told)
    }

    /// How many bytes of these letters, which begin with one of its names, that name has.
    fn name_length(&self, told: &str) -> Option<usize> {
        self.names().iter().filter(|name| told.starts_with(name.as_str())).map(String::len).max()
    }

    /// How many bytes of these letters, which begin with what is in it, that has.
    fn text_length(&self, told: &str) -> Option<usize> {
        let Self::File { text: Some(text), .. } = self else { return None };
        let length = usize::try_from(text.all.length()).ok()?;
        let is_it = |told: &&str| told.starts_with(&text.beginning) && Sum::of(told) == text.all;
        told.get(..length).filter(is_it).map(|_| length)
    }

    /// How many bytes these letters begin with that are a link to it. Its name may have brackets itself.
    fn link_length<'t>(&self, told: &'t str) -> Option<usize> {
        let label = told.strip_prefix('!').unwrap_or(told).strip_prefix('[')?;
        let middles = label.match_indices("](").take_while(|(end, _)| *end <= LONGEST_LABEL);
        let addresses =
            middles.filter(|(end, _)| is_balanced(&label[..*end])).map(|(end, middle)| &label[end + middle.len()..]);
        let behind = |address: &'t str, name: &String| address.strip_prefix(name.as_str())?.strip_prefix(')');
        let ends = addresses.flat_map(|address| self.names().iter().filter_map(move |name| behind(address, name)));
        ends.map(|rest| told.len() - rest.len()).max()
    }

    /// How many bytes these letters begin with that are its name as a label, perhaps with a line.
    fn label_length(&self, told: &str) -> Option<usize> {
        let label = told.strip_prefix('[')?;
        let rest = &label[self.name_length(label)?..];
        let line =
            rest.strip_prefix(':').map_or(rest, |line| line.trim_start_matches(|digit: char| digit.is_ascii_digit()));
        Some(told.len() - line.strip_prefix(']')?.len())
    }

    /// How many bytes these letters begin with that are what is in it between two lines, the first with its name.
    fn between_lines_length(&self, told: &str) -> Option<usize> {
        let named = told.strip_prefix(LINE_BEFORE)?;
        let file = named[self.name_length(named)?..].strip_prefix(LINE)?;
        let rest = file[self.text_length(file)?..].strip_prefix(LINE)?;
        Some(told.len() - rest.len())
    }

    /// How many bytes these letters begin with that are an element with what is in it.
    fn element_length(&self, told: &str) -> Option<usize> {
        let tag = told.strip_prefix('<')?.find('>')? + 2;
        let end = tag + self.text_length(&told[tag..]).filter(|_| self.is_named_in(&told[..tag]))?;
        let closing = told[end..].strip_prefix("</")?.find('>')?;
        Some(end + 2 + closing + 1)
    }

    /// What follows it in a section.
    fn behind_in_section<'t>(&self, told: &'t str) -> Option<&'t str> {
        let told = told.strip_prefix(IN_SECTION)?;
        let told = told[self.name_length(told)?..].strip_prefix(':')?;
        match self {
            Self::File { text: Some(_), .. } => told.get(self.text_length(told)?..),
            _ => told.strip_prefix('<')?.split_once('>').map(|(_, behind)| behind),
        }
    }
}

/// How many bytes these letters begin with that tell of one of these for sure.
pub(super) fn sure(all: &[Attached], told: &str) -> Option<usize> {
    let mention = |attached: &Attached| Some(1 + attached.name_length(told.strip_prefix('@')?)?);
    let context = |attached: &Attached| {
        let address = told.strip_prefix(CONTEXT)?;
        let length = attached.name_length(address).filter(|length| address[..*length].contains("://"))?;
        Some(CONTEXT.len() + length)
    };
    let lengths = |attached: &Attached| {
        let named = [mention(attached), attached.link_length(told), attached.label_length(told)];
        named
            .into_iter()
            .chain([context(attached)])
            .chain([attached.element_length(told), attached.between_lines_length(told)])
    };
    all.iter().flat_map(lengths).flatten().chain(section(all, told)).max()
}

/// The lengths of what these letters may begin with that tells of one of these, the likeliest first.
pub(super) fn likely(all: &[Attached], told: &str) -> Vec<usize> {
    if !all.iter().any(|attached| attached.may_be_in(told)) {
        return Vec::new();
    }
    let is_told = |length: &usize| all.iter().any(|attached| attached.is_named_in(&told[..*length]));
    match told.as_bytes() {
        [b'<', ..] => elements(told).chain(told.find('>').map(|end| end + 1)).filter(is_told).collect(),
        [b'#', ..] => parts(all, told, 1, FENCE),
        _ if told.starts_with(LINE_BEFORE) => parts(all, told, LINE_BEFORE.len(), LINE),
        [b'[', ..] | [b'!', b'[', ..] => label(told).into_iter().filter(is_told).collect(),
        _ if told.starts_with(SECTION) => {
            let ends = told.match_indices(SECTION_END).map(|(at, end)| at + end.len()).take(MOST_ENDS);
            let ends: Vec<usize> = ends.filter(is_told).collect();
            // Some files have no end but that of the message.
            if ends.is_empty() { Some(told.len()).filter(is_told).into_iter().collect() } else { ends }
        }
        _ => Vec::new(),
    }
}

/// The lengths of what these letters begin with that is nothing but an address or the text of one of these.
pub(super) fn bare(all: &[Attached], told: &str) -> impl Iterator<Item = usize> {
    let address = |attached: &Attached| attached.name_length(told).filter(|length| told[..*length].contains('/'));
    all.iter().flat_map(move |attached| [address(attached), attached.text_length(told)]).flatten()
}

/// Where the next of what may tell of something attached begins.
pub(super) fn next(told: &str) -> Option<usize> {
    let begins = [SECTION, LINE_BEFORE, HEADING].map(|begin| told.find(begin));
    begins.into_iter().chain([told.find(['@', '<', '[', '!'])]).flatten().min()
}

/// The path in the address of a file, as the address has it: clients have addresses of their own with one in them.
fn path(address: &str) -> Option<&str> {
    let in_query = |address| str::split_once(address, "?path=").map(|(_, path)| path);
    address.strip_prefix("file://").or_else(|| in_query(address))
}

/// Where a file that stands between such marks may have its end, where one of these is named from this place up to the first.
fn parts(all: &[Attached], told: &str, from: usize, mark: &str) -> Vec<usize> {
    let Some(begin) = told[from..].find(mark).filter(|length| *length <= LONGEST_LABEL).map(|length| from + length)
    else {
        return Vec::new();
    };
    let is_named = |attached: &Attached| attached.names().iter().any(|name| told[from..begin].contains(name.as_str()));
    if !all.iter().any(is_named) {
        return Vec::new();
    }
    let file = begin + mark.len();
    // What is in it may end as the mark begins.
    let ends = told.char_indices().map(|(at, _)| at).filter(|at| *at >= file && told[*at..].starts_with(mark));
    let mut ends: Vec<usize> = ends.map(|at| at + mark.len()).collect();
    if let Some(middle) = ends.len().checked_sub(2 * MOST_ENDS) {
        ends.drain(MOST_ENDS..MOST_ENDS + middle);
    }
    ends
}

/// Whether each bracket in it that is opened is closed, and no other.
fn is_balanced(label: &str) -> bool {
    let mut open = 0_usize;
    let is_closed = label.bytes().all(|byte| {
        let change = match byte {
            b'[' => open.checked_add(1),
            b']' => open.checked_sub(1),
            _ => Some(open),
        };
        open = change.unwrap_or_default();
        change.is_some()
    });
    is_closed && open == 0
}

/// How long a section is that has nothing but what is known to be in these.
fn section(all: &[Attached], told: &str) -> Option<usize> {
    let (_, mut rest) = told.strip_prefix(SECTION)?.split_once("---")?;
    let begin = rest.len();
    while let Some(behind) = all.iter().filter_map(|one| one.behind_in_section(rest)).min_by_key(|rest| rest.len()) {
        rest = behind;
    }
    let is_all = rest.len() < begin && !rest.starts_with(IN_SECTION);
    let rest = rest.strip_prefix(SECTION_END).unwrap_or(rest);
    is_all.then_some(told.len() - rest.len())
}

/// Where an element that these letters begin with may have its end.
fn elements(told: &str) -> impl Iterator<Item = usize> {
    let ends = told.match_indices("</").filter_map(|(at, _)| {
        let name = at + 2..at + told[at..].find('>')?;
        let is_its = !name.is_empty() && told[1..].starts_with(&told[name.clone()]);
        is_its.then_some(name.end + 1)
    });
    ends.take(MOST_ENDS)
}

/// Where a label, or a link with one, that these letters begin with has its end.
fn label(told: &str) -> Option<usize> {
    let label = told.find(']')? + 1;
    match told[label..].strip_prefix('(') {
        Some(address) => Some(label + 1 + address.find(')')? + 1),
        None => Some(label),
    }
}
