//! Nothing but its dependencies: with which features the libraries are built that the program and its build script share.
//!
//! Both depend on it. The build script compiles the engine ahead of time with the compiler that the program has too; were
//! anything asked of one of the two alone, cargo would build that library and all that needs it twice, which for wasmtime and
//! its compiler takes longer than all the rest.
