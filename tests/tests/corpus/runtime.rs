//! The component in wasmtime, with the clock and the random numbers of a case.

use std::path::Path;

use acp_sessions::component::{add_to_linker, storage};
use acp_sessions::engine_config;
use acp_sessions_adapter::Lent;
use acp_sessions_corpus::Numbers;
use wasmtime::component::{Component, Func, Instance, InstancePre, Linker, Val};
use wasmtime::{Engine, Store};

use crate::faulty::Faulty;

/// More seconds than a call takes; nobody counts them here.
const FOREVER: u64 = 1 << 32;

/// The component, compiled.
pub(crate) struct Runtime {
    engine: Engine,
    component: Component,
}

/// What an instance is lent.
pub(crate) struct State<S> {
    pub(crate) storage: Faulty<S>,
    /// In milliseconds since 1970.
    pub(crate) now: u64,
    numbers: Numbers,
}

/// One instance.
pub(crate) struct Running<S: 'static> {
    pub(crate) store: Store<State<S>>,
    instance: Instance,
}

impl Runtime {
    /// Compiles the component that the host's build made, which is the one that the program carries.
    pub(crate) fn new() -> Self {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("cargo's target directory");
        let engine = Engine::new(&engine_config::config()).expect("wasmtime runs");
        let component = Component::from_file(&engine, target.join("component/acp-sessions.wasm"));
        Self { engine, component: component.expect("the build has made it") }
    }

    /// The component with its imports.
    pub(crate) fn link<S: storage::Host + Send + 'static>(&self) -> wasmtime::Result<InstancePre<State<S>>> {
        let mut linker = Linker::new(&self.engine);
        add_to_linker(&mut linker, |state: &mut State<S>| &mut state.storage)?;
        let mut clock = linker.instance("wasi:clocks/wall-clock@0.2.12")?;
        clock.func_new("now", |store, _, _, results| {
            let now = store.data().now;
            let nanoseconds = u32::try_from(now % 1000 * 1_000_000).expect("less than a second");
            results[0] = Val::Record(vec![
                ("seconds".to_owned(), Val::U64(now / 1000)),
                ("nanoseconds".to_owned(), Val::U32(nanoseconds)),
            ]);
            Ok(())
        })?;
        let mut random = linker.instance("wasi:random/random@0.2.12")?;
        random.func_new("get-random-u64", |store, _, _, results| {
            results[0] = Val::U64(store.data().numbers.draw());
            Ok(())
        })?;
        random.func_new("get-random-bytes", |store, _, params, results| {
            let [Val::U64(length)] = params else { wasmtime::bail!("one length was asked for") };
            let numbers = length.div_ceil(8);
            let bytes = (0..numbers).flat_map(|_| store.data().numbers.draw().to_be_bytes());
            results[0] = Val::List(bytes.take(usize::try_from(*length)?).map(Val::U8).collect());
            Ok(())
        })?;
        // Nobody knows of folders in a case.
        let mut folders = linker.instance("acp:sessions/folders@0.1.0")?;
        folders.func_new("repository-of", |_, _, _, results| {
            results[0] = Val::Option(None);
            Ok(())
        })?;
        folders.func_new("worktrees", |_, _, _, results| {
            results[0] = Val::List(Vec::new());
            Ok(())
        })?;
        linker.instantiate_pre(&self.component)
    }
}

impl<S: storage::Host + Send + 'static> Running<S> {
    /// A fresh instance of this number.
    pub(crate) fn new(linked: &InstancePre<State<S>>, number: u32, storage: Lent<S>) -> wasmtime::Result<Self> {
        let state = State { storage: Faulty::new(storage), now: 0, numbers: Numbers::of(number) };
        let mut store = Store::new(linked.engine(), state);
        store.set_epoch_deadline(FOREVER);
        let instance = linked.instantiate(&mut store)?;
        Ok(Self { store, instance })
    }

    /// A function that it exports.
    pub(crate) fn function(&mut self, interface: &str, name: &str) -> Func {
        let interface = self.instance.get_export_index(&mut self.store, None, interface).expect("the interface");
        let function = self.instance.get_export_index(&mut self.store, Some(&interface), name).expect("the function");
        self.instance.get_func(&mut self.store, function).expect("a function")
    }
}
