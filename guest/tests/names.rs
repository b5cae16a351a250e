//! The names of `wit/world.wit` can be used as they are wherever bindings are made for: none is a keyword of WIT, Python
//! or JavaScript, and none that stands alone in the bindings (a function, a parameter, a type) shadows one that Python or
//! JavaScript has. And nothing in the storage is a 64-bit number, which JavaScript would make a `BigInt` of.

use std::path::Path;

use wit_parser::{Function, PackageId, Resolve, Type, TypeDefKind};

const WIT: &str = "as async bool borrow char constructor enum error-context export f32 f64 flags from func future import \
    include interface list map option own package record resource result s16 s32 s64 s8 static stream string tuple type \
    u16 u32 u64 u8 use variant with world";

const PYTHON: &str = "and as assert async await break case class continue def del elif else except false finally for from \
    global if import in is lambda match none nonlocal not or pass raise return self true try type while with yield";

const JAVASCRIPT: &str = "arguments await break case catch class const continue debugger default delete do else enum eval \
    export extends false finally for function if implements import in instanceof interface let new null package private \
    protected public return static super switch this throw true try typeof undefined var void while with yield";

/// What stands in Python's `builtins` in lower case.
const PYTHON_STANDARD: &str = "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod \
    compile complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset \
    getattr globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max \
    memoryview min next object oct open ord pow print property quit range repr reversed round set setattr slice sorted \
    staticmethod str sum super tuple type vars zip";

/// Types that are there without being imported: ECMAScript's, TypeScript's and, beside those, Python's.
const STANDARD_TYPES: &str = "Array ArrayBuffer Atomics BigInt Boolean DataView Date Error EvalError Exclude Extract \
    Function Intl Iterator JSON Map Math NonNullable Number Object Omit Parameters Partial Pick Promise Proxy RangeError \
    Readonly Record ReferenceError Reflect RegExp Required Set String Symbol SyntaxError TypeError Uppercase WeakMap \
    WeakRef WeakSet BaseException Ellipsis Exception ImportError KeyError NotImplemented OSError RuntimeError \
    ValueError Warning";

/// How a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Behind something else: a field, a case, an interface.
    Within,
    /// By itself: a function, a parameter.
    Alone,
    /// A type, written in capitals.
    Type,
}

fn holds(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|known| known == name)
}

fn in_capitals(name: &str) -> String {
    let capitalised =
        |part: &str| part.chars().take(1).map(|first| first.to_ascii_uppercase()).collect::<String>() + &part[1..];
    name.split('-').map(capitalised).collect()
}

/// What is wrong with a name.
fn fault(name: &str, used: Use) -> Option<&'static str> {
    match used {
        _ if holds(WIT, name) => Some("is a keyword of WIT"),
        _ if holds(PYTHON, name) => Some("is a keyword of Python"),
        _ if holds(JAVASCRIPT, name) => Some("is a keyword of JavaScript"),
        Use::Alone | Use::Type if holds(PYTHON_STANDARD, name) => Some("shadows a name of Python's"),
        Use::Type if holds(STANDARD_TYPES, &in_capitals(name)) => Some("shadows a type of the language's"),
        _ => None,
    }
}

/// Every name in a package, and how it is used.
fn names(resolve: &Resolve, package: PackageId) -> Vec<(String, String, Use)> {
    let package = &resolve.packages[package];
    let mut names = Vec::new();
    let mut add = |place: &str, name: &str, used| names.push((place.to_owned(), name.to_owned(), used));
    for world in package.worlds.keys() {
        add("the package", world, Use::Within);
    }
    for (interface, id) in &package.interfaces {
        add("the package", interface, Use::Within);
        let interface = &resolve.interfaces[*id];
        for (name, id) in &interface.types {
            add("a type", name, Use::Type);
            let members: Vec<&String> = match &resolve.types[*id].kind {
                TypeDefKind::Record(record) => record.fields.iter().map(|field| &field.name).collect(),
                TypeDefKind::Variant(variant) => variant.cases.iter().map(|case| &case.name).collect(),
                TypeDefKind::Enum(cases) => cases.cases.iter().map(|case| &case.name).collect(),
                kind => panic!("{name} is a {}, of which this test knows nothing", kind.as_str()),
            };
            for member in members {
                add(name, member, Use::Within);
            }
        }
        for (name, Function { params, .. }) in &interface.functions {
            add("a function", name, Use::Alone);
            for param in params {
                add(name, &param.name, Use::Alone);
            }
        }
    }
    names
}

fn faults(resolve: &Resolve, package: PackageId) -> Vec<String> {
    let names = names(resolve, package).into_iter();
    names.filter_map(|(place, name, used)| Some(format!("{place}: {name} {}", fault(&name, used)?))).collect()
}

/// Whether a 64-bit number is in a type.
fn is_long(resolve: &Resolve, of: &Type) -> bool {
    let is_long = |of: &Type| is_long(resolve, of);
    match of {
        Type::U64 | Type::S64 => true,
        Type::Id(id) => match &resolve.types[*id].kind {
            TypeDefKind::Record(record) => record.fields.iter().any(|field| is_long(&field.ty)),
            TypeDefKind::Variant(variant) => variant.cases.iter().any(|case| case.ty.as_ref().is_some_and(is_long)),
            TypeDefKind::Enum(_) => false,
            TypeDefKind::Option(of) | TypeDefKind::List(of) | TypeDefKind::Type(of) => is_long(of),
            TypeDefKind::Result(result) => result.ok.iter().chain(&result.err).any(is_long),
            kind => panic!("a {} is not expected", kind.as_str()),
        },
        _ => false,
    }
}

/// The functions of an interface in which a 64-bit number goes in or out.
fn with_long_numbers(resolve: &Resolve, package: PackageId, interface: &str) -> Vec<String> {
    let functions = &resolve.interfaces[resolve.packages[package].interfaces[interface]].functions;
    let of =
        |function: &Function| function.params.iter().map(|param| param.ty).chain(function.result).collect::<Vec<_>>();
    let long = functions.iter().filter(|(_, function)| of(function).iter().any(|of| is_long(resolve, of)));
    long.map(|(name, _)| name.clone()).collect()
}

fn ours() -> (Resolve, PackageId) {
    let mut resolve = Resolve::default();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
    let (package, _) = resolve.push_dir(path).expect("wit/ can be read");
    (resolve, package)
}

#[test]
fn no_name_is_a_keyword_or_shadows_a_standard_one() {
    let (resolve, package) = ours();
    assert!(names(&resolve, package).len() > 100, "they were looked for");
    assert_eq!(faults(&resolve, package), [""; 0]);
}

#[test]
fn nothing_in_the_storage_is_a_big_integer() {
    let (resolve, package) = ours();
    assert_eq!(with_long_numbers(&resolve, package, "storage"), [""; 0]);
}

#[test]
fn what_is_not_allowed_is_found() {
    let text = "package x:y;
        interface sessions {
            record id { %from: string, id: u64 }
            variant error { delete, fine(id) }
            enum archived { exclude, %include }
            %list: func(filter: string) -> result<list<option<id>>, error>;
            get: func(session-id: string) -> option<string>;
        }";
    let mut resolve = Resolve::default();
    let package = resolve.push_str("y.wit", text).expect("it can be read");
    assert_eq!(
        faults(&resolve, package),
        [
            "a type: id shadows a name of Python's",
            "id: from is a keyword of WIT",
            "a type: error shadows a type of the language's",
            "error: delete is a keyword of JavaScript",
            "archived: include is a keyword of WIT",
            "a function: list is a keyword of WIT",
            "list: filter shadows a name of Python's",
        ]
    );
    assert_eq!(with_long_numbers(&resolve, package, "sessions"), ["list"]);
}
