//! What a component says of itself: its name, version, licence, what it is and what it is made of, in sections of their own, as
//! tools for WebAssembly read them.

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::binary::{CUSTOM, HEADER, push, push_text, sections};
use super::sbom::purl;

/// Where components keep names, their own first.
const NAMES: &str = "component-name";

/// The component with what cargo knows of its package written into it.
pub(super) fn described(component: &[u8], package: &Value) -> Result<Vec<u8>> {
    let text = |key: &str| package[key].as_str().with_context(|| format!("the package has no {key}"));
    let mut bytes = component[..HEADER].to_vec();
    let mut is_named = false;
    for section in sections(component)? {
        if section.name(component) == Some(NAMES) {
            let names = &component[section.content.clone()][1 + NAMES.len()..];
            if names.first() == Some(&0) {
                bail!("the component has a name already");
            }
            push(&mut bytes, CUSTOM, &named(text("name")?, names));
            is_named = true;
        } else {
            bytes.extend_from_slice(section.whole(component));
        }
    }
    if !is_named {
        push(&mut bytes, CUSTOM, &named(text("name")?, &[]));
    }
    let source = source(package);
    for (section, said) in [
        ("version", text("version")?),
        ("licenses", text("license")?),
        ("description", text("description")?),
        ("source", &source),
    ] {
        let mut content = Vec::new();
        push_text(&mut content, section.as_bytes());
        content.extend_from_slice(said.as_bytes());
        push(&mut bytes, CUSTOM, &content);
    }
    Ok(bytes)
}

/// The address of what it is made of: the repository that the package names, else the package itself, as the list of what is
/// compiled into it calls it.
fn source(package: &Value) -> String {
    package["repository"].as_str().map_or_else(|| purl(package), str::to_owned)
}

/// What the section of the names holds when the component's own is before the others.
fn named(name: &str, others: &[u8]) -> Vec<u8> {
    let (mut content, mut own) = (Vec::new(), Vec::new());
    push_text(&mut own, name.as_bytes());
    push_text(&mut content, NAMES.as_bytes());
    push(&mut content, 0, &own);
    content.extend_from_slice(others);
    content
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wasmparser::{ComponentName, ComponentNameSectionReader, KnownCustom, Parser, Payload};

    use super::*;

    #[test]
    fn tools_read_what_a_component_says_of_itself() {
        let mut component = b"\0asm\x0d\0\x01\0".to_vec();
        let mut names = Vec::new();
        push_text(&mut names, NAMES.as_bytes());
        // Of no function.
        names.extend([1, 2, 1, 0]);
        push(&mut component, CUSTOM, &names);
        let mut package = json!({"name": "engine", "version": "1.2.3", "license": "MIT", "description": "What it is"});
        let bytes = described(&component, &package).expect("described");
        let mut said = Vec::new();
        for payload in Parser::new(0).parse_all(&bytes) {
            let Payload::CustomSection(section) = payload.expect("a component") else { continue };
            match section.as_known() {
                KnownCustom::ComponentName(names) => {
                    let names: ComponentNameSectionReader = names;
                    for name in names {
                        if let Ok(ComponentName::Component { name, .. }) = name {
                            said.push(("name", name.to_owned()));
                        }
                    }
                }
                _ => said.push((section.name(), String::from_utf8_lossy(section.data()).into_owned())),
            }
        }
        let wanted = [
            ("name", "engine"),
            ("version", "1.2.3"),
            ("licenses", "MIT"),
            ("description", "What it is"),
            ("source", "pkg:cargo/engine@1.2.3"),
        ];
        assert_eq!(said, wanted.map(|(key, text)| (key, text.to_owned())));
        assert!(described(&bytes, &package).is_err(), "it has a name");
        package["repository"] = json!("https://example.org/engine");
        assert_eq!(source(&package), "https://example.org/engine");
        assert!(described(&component, &json!({"name": "engine"})).is_err());
    }
}
