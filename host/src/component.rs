//! The engine component: how it is loaded, what it is lent, and what it may use up.

mod bindings;
mod cache;
mod compiler;
mod file;
mod instance;
mod lent;
mod limits;
mod memory;
mod precompiled;
mod state;
mod ticker;
mod typed;
mod wasi;

use std::path::Path;

use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker};

pub use self::bindings::acp::sessions::{folders, storage};
pub use self::bindings::exports::acp::sessions::{connection, sessions};
pub use self::cache::Cache;
pub use self::file::{COMPILE_WITHIN, LONGEST, LoadError};
pub use self::instance::Instance;
pub use self::limits::Limits;

use self::bindings::SessionEnginePre;
use self::bindings::wasi::clocks::wall_clock;
use self::bindings::wasi::random::random;
use self::state::State;
use self::ticker::Ticker;
use self::wasi::Wasi;
use crate::folders::Folders;

/// The compiled engine, ready to be instantiated with storages of the type `S`.
pub struct Component<S: storage::Host + Send + 'static> {
    engine: Engine,
    instance_pre: SessionEnginePre<State<S>>,
    limits: Limits,
    ticker: Ticker,
    folders: Folders,
}

impl<S: storage::Host + Send + 'static> Component<S> {
    /// Loads the engine that was compiled into this program.
    pub fn embedded(limits: Limits) -> wasmtime::Result<Self> {
        let (engine, component) = precompiled::load()?;
        Self::link(engine, &component, limits)
    }

    /// Loads the engine in this file: a component, in its binary form, of the world `session-engine`. It is compiled, unless
    /// the cache has it, and runs under the same limits as the embedded one. It may have [`LONGEST`] bytes, and compiling it
    /// may take [`COMPILE_WITHIN`]; how much memory that takes depends on what is in it.
    pub fn from_file(path: &Path, cache: &Cache, limits: Limits) -> Result<Self, LoadError> {
        let engine = Engine::new(&crate::engine_config::config()).map_err(LoadError::Runtime)?;
        let component = file::load(&engine, path, cache)?;
        Self::link(engine, &component, limits).map_err(|error| file::unfit(path, &error))
    }

    fn link(engine: Engine, component: &wasmtime::component::Component, limits: Limits) -> wasmtime::Result<Self> {
        let mut linker = Linker::new(&engine);
        add_to_linker(&mut linker, |state: &mut State<S>| &mut state.lent)?;
        folders::add_to_linker::<State<S>, HasSelf<Folders>>(&mut linker, |state| &mut state.folders)?;
        wall_clock::add_to_linker::<State<S>, HasSelf<Wasi>>(&mut linker, |state| &mut state.wasi)?;
        random::add_to_linker::<State<S>, HasSelf<Wasi>>(&mut linker, |state| &mut state.wasi)?;
        let instance_pre = SessionEnginePre::new(linker.instantiate_pre(component)?)?;
        let ticker = Ticker::start(engine.clone());
        Ok(Self { engine, instance_pre, limits, ticker, folders: Folders::none() })
    }

    /// What its instances know of folders.
    pub(crate) fn folders(&self) -> &Folders {
        &self.folders
    }

    /// Its instances know of folders what is told here. Otherwise they know nothing of any.
    #[must_use]
    pub fn with_folders(self, folders: Folders) -> Self {
        Self { folders, ..self }
    }

    /// What each of its instances may use up.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// A fresh instance over this storage, with nothing in its memory.
    pub fn instantiate(&self, storage: S) -> wasmtime::Result<Instance<'_, S>> {
        Instance::new(self, storage)
    }
}

/// Lends the storage import to a component of another host, as [`Component`] does it for the embedded engine.
///
/// ```
/// use acp_sessions::component::add_to_linker;
/// use acp_sessions::engine_config;
/// use acp_sessions::store::Sqlite;
/// use wasmtime::Engine;
/// use wasmtime::component::Linker;
///
/// struct Tenant {
///     store: Sqlite,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::new(&engine_config::config())?;
/// let mut linker = Linker::new(&engine);
/// add_to_linker(&mut linker, |tenant: &mut Tenant| &mut tenant.store)?;
///
/// let tenant = Tenant { store: Sqlite::builder().in_memory().build()? };
/// let mut store = wasmtime::Store::new(&engine, tenant);
/// # store.set_epoch_deadline(1);
/// # Ok(())
/// # }
/// ```
pub fn add_to_linker<T, S>(linker: &mut Linker<T>, storage: fn(&mut T) -> &mut S) -> wasmtime::Result<()>
where
    T: 'static,
    S: storage::Host + 'static,
{
    storage::add_to_linker::<T, HasSelf<S>>(linker, storage)
}
