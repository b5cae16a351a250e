//! The same component with its engine built otherwise. All that is around the engine's module (its interface, and what leads
//! its calls through it) follows from the world, which is the same.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use wasmparser::{ExternalKind, Parser, Payload, TypeRef};

use super::binary::{HEADER, push, sections};

/// The id of the sections of a component that hold a module.
const MODULE: u8 = 1;

/// What says how a module was made; the encoder of components adds its own to it.
const PRODUCERS: &str = "producers";

/// What a module tells the encoder of its world; the encoder takes it out.
const WORLD: &str = "component-type";

/// The component with this module, as the compiler made it, in the place of its largest one: the others lead to that.
pub(super) fn with_module(component: &[u8], module: &[u8]) -> Result<Vec<u8>> {
    let modules = sections(component)?.into_iter().filter(|section| section.id == MODULE);
    let place = modules.max_by_key(|section| section.content.len()).context("the component has no module")?;
    let present = &component[place.content.clone()];
    if interface(present)? != interface(module)? {
        bail!("the module does not fit: it does not import and export what the component's own does");
    }
    let mut bytes = module[..HEADER].to_vec();
    for section in sections(module)? {
        if section.name(module).is_none_or(|name| name != PRODUCERS && !name.starts_with(WORLD)) {
            bytes.extend_from_slice(section.whole(module));
        }
    }
    for section in sections(present)? {
        if section.name(present) == Some(PRODUCERS) {
            bytes.extend_from_slice(section.whole(present));
        }
    }
    let mut whole = component[..place.start].to_vec();
    push(&mut whole, MODULE, &bytes);
    whole.extend_from_slice(&component[place.content.end..]);
    Ok(whole)
}

/// What a module imports and exports, functions with their types.
fn interface(module: &[u8]) -> Result<BTreeSet<String>> {
    let (mut types, mut functions, mut interface) = (Vec::new(), Vec::new(), BTreeSet::new());
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::TypeSection(section) => {
                for function in section.into_iter_err_on_gc_types() {
                    types.push(format!("{:?}", function?));
                }
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import?;
                    let mut what = format!("{:?}", import.ty);
                    if let TypeRef::Func(kind) = import.ty {
                        functions.push(kind);
                        what.clone_from(types.get(kind as usize).context("an import has no type")?);
                    }
                    interface.insert(format!("import {} {} {what}", import.module, import.name));
                }
            }
            Payload::FunctionSection(section) => {
                for kind in section {
                    functions.push(kind?);
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export?;
                    let mut what = format!("{:?}", export.kind);
                    if export.kind == ExternalKind::Func {
                        let kind = functions.get(export.index as usize).and_then(|kind| types.get(*kind as usize));
                        what.clone_from(kind.context("an export has no type")?);
                    }
                    interface.insert(format!("export {} {what}", export.name));
                }
            }
            _ => {}
        }
    }
    Ok(interface)
}

#[cfg(test)]
mod tests {
    use super::super::binary::{CUSTOM, push_text};
    use super::*;

    fn custom(name: &str, text: &str) -> Vec<u8> {
        let mut content = Vec::new();
        push_text(&mut content, name.as_bytes());
        content.extend(text.bytes());
        content
    }

    /// A module that imports `m.f`, a function that takes as many numbers, with these custom sections at its end.
    fn module(parameters: u8, notes: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = b"\0asm\x01\0\0\0".to_vec();
        let mut kind = vec![1, 0x60, parameters];
        kind.extend(vec![0x7f; parameters.into()]);
        kind.push(0);
        push(&mut bytes, 1, &kind);
        push(&mut bytes, 2, &[1, 1, b'm', 1, b'f', 0, 0]);
        for (name, text) in notes {
            push(&mut bytes, CUSTOM, &custom(name, text));
        }
        bytes
    }

    fn component(engine: &[u8]) -> Vec<u8> {
        let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
        push(&mut bytes, MODULE, engine);
        push(&mut bytes, MODULE, b"\0asm\x01\0\0\0");
        push(&mut bytes, CUSTOM, &custom("component-name", "x"));
        bytes
    }

    #[test]
    fn only_the_engine_is_another_and_it_is_as_the_encoder_has_it() {
        let before = component(&module(2, &[("producers", "encoder")]));
        let built = module(2, &[("kept", "longer than before".repeat(20).as_str()), ("component-type:x", "the world")]);
        let with = with_module(&before, &built).expect("it fits");
        let wanted = module(2, &[("kept", "longer than before".repeat(20).as_str()), ("producers", "encoder")]);
        assert_eq!(with, component(&wanted));
    }

    #[test]
    fn a_module_with_another_interface_is_refused() {
        let before = component(&module(2, &[]));
        assert!(with_module(&before, &module(3, &[])).is_err());
        assert!(with_module(&before, b"\0asm\x01\0\0\0").is_err());
        assert!(with_module(b"\0asm\x0d\0\x01\0", &module(2, &[])).is_err());
    }
}
