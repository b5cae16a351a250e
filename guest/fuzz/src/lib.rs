//! What the fuzz targets share: conversations that are made of bytes.

pub mod bytes;
pub mod phrases;
pub mod talk;
