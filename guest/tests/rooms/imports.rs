//! What the files of a crate import from each other, as far as their text tells: by `use` and by paths, each followed
//! through re-exports to the file that has what is named. Comments, tests, and modules that are not always compiled are
//! left out, and so is who may see a thing: `pub(in crate::connection)` imports nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The files of a crate by the paths of their modules, such as `connection::live`; that of the crate itself is empty.
pub(crate) struct Files(BTreeMap<String, File>);

/// What a file says of others.
struct File {
    /// The paths that it names.
    paths: Vec<String>,
    /// What others have from it that it has from elsewhere: under which name, and the path to it.
    exports: BTreeMap<String, String>,
    /// The modules that it declares.
    modules: Vec<String>,
}

impl Files {
    /// Reads them all, from `lib.rs` in this folder on.
    pub(crate) fn read(source: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut unread = vec![String::new()];
        while let Some(module) = unread.pop() {
            let text = fs::read_to_string(source.join(name(&module))).expect("a module's file");
            let file = File::read(&text);
            unread.extend(file.modules.iter().map(|child| within(&module, child)));
            files.insert(module, file);
        }
        Self(files)
    }

    /// The names of all files, each with those of the files that it imports from.
    pub(crate) fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let imports = |(module, file): (&String, &File)| {
            let homes = file.paths.iter().filter_map(|path| self.home(module, path));
            (name(module), homes.filter(|home| home != module).map(|home| name(&home)).collect())
        };
        self.0.iter().map(imports).collect()
    }

    /// The module that has what a path names that stands in this module; none if it is of another crate.
    fn home(&self, from: &str, path: &str) -> Option<String> {
        let mut names = path.split("::").peekable();
        let mut module = from;
        match *names.peek()? {
            "crate" => module = "",
            "self" | "super" => {}
            first if self.0.contains_key(&within(from, first)) => {}
            _ => return None,
        }
        names.next_if(|first| ["crate", "self"].contains(first));
        while names.next_if_eq(&"super").is_some() {
            module = parent(module);
        }
        let mut module = module.to_owned();
        for name in names {
            let child = within(&module, name);
            if !self.0.contains_key(&child) {
                let export = self.0.get(&module)?.exports.get(name);
                return export.and_then(|path| self.home(&module, path)).or(Some(module));
            }
            module = child;
        }
        Some(module)
    }
}

impl File {
    fn read(text: &str) -> Self {
        let mut file = Self { paths: Vec::new(), exports: BTreeMap::new(), modules: Vec::new() };
        let code = without_visibilities(&code(text));
        let (mut lines, mut before) = (code.lines().map(str::trim), "");
        while let Some(line) = lines.next() {
            let (is_public, item) = line.strip_prefix("pub ").map_or((false, line), |item| (true, item));
            if let Some(tree) = item.strip_prefix("use ") {
                let mut tree = tree.to_owned();
                while !tree.ends_with(';') {
                    tree.push_str(lines.next().expect("the end of a `use`"));
                }
                file.add_use(is_public, tree.trim_end_matches(';'));
            } else if let Some(module) = item.strip_prefix("mod ").and_then(|module| module.strip_suffix(';')) {
                file.modules.extend((!before.starts_with("#[cfg(")).then(|| module.to_owned()));
            } else {
                let words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
                file.paths.extend(words.filter(|word| word.contains("::")).map(str::to_owned));
            }
            before = line;
        }
        file
    }

    fn add_use(&mut self, is_public: bool, tree: &str) {
        for path in written_out(tree) {
            let (path, alias) = path.split_once(" as ").unwrap_or((&path, &path));
            if is_public {
                let name = alias.rsplit("::").next().unwrap_or_default();
                self.exports.insert(name.to_owned(), path.to_owned());
            } else {
                self.paths.push(path.to_owned());
            }
        }
    }
}

/// The paths that a file names, to be used there or for others to use.
pub(crate) fn paths(text: &str) -> Vec<String> {
    let file = File::read(text);
    file.paths.into_iter().chain(file.exports.into_values()).collect()
}

/// A file without comments and without its tests.
pub(crate) fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect()
}

/// Code with `pub` wherever it says who may see a thing.
fn without_visibilities(code: &str) -> String {
    let behind = |piece: &str| piece.split_once(')').map(|(_, rest)| format!("pub{rest}")).unwrap_or_default();
    let (first, rest) = code.split_once("pub(").unwrap_or((code, ""));
    first.to_owned() + &rest.split("pub(").map(behind).collect::<String>()
}

/// The paths of a `use`, each written out.
fn written_out(tree: &str) -> Vec<String> {
    let Some((before, rest)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let mut depth = 0;
    let branches = rest.strip_suffix('}').expect("the end of a group").split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    let branches = branches.map(str::trim).filter(|branch| !branch.is_empty());
    branches.flat_map(|branch| written_out(&format!("{before}{branch}"))).collect()
}

/// The path of a module's child.
fn within(module: &str, child: &str) -> String {
    if module.is_empty() { child.to_owned() } else { format!("{module}::{child}") }
}

/// The path of the module that a module stands in.
fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

/// The name of a module's file.
fn name(module: &str) -> String {
    if module.is_empty() { "lib.rs".to_owned() } else { module.replace("::", "/") + ".rs" }
}
