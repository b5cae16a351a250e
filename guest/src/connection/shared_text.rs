//! Texts that are held in several places, as they are handed over.

pub(super) mod one {
    use std::sync::Arc;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(in crate::connection) fn serialize<S: Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        (**text).serialize(to)
    }

    pub(in crate::connection) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(from).map(Arc::from)
    }
}

pub(super) mod perhaps {
    use std::sync::Arc;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "as serde calls it")]
    pub(in crate::connection) fn serialize<S: Serializer>(text: &Option<Arc<str>>, to: S) -> Result<S::Ok, S::Error> {
        text.as_deref().serialize(to)
    }

    pub(in crate::connection) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(Arc::from))
    }
}

pub(super) mod several {
    use std::sync::Arc;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(in crate::connection) fn serialize<S: Serializer>(texts: &[Arc<str>], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(texts.iter().map(|text| &**text))
    }

    pub(in crate::connection) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Arc<str>>, D::Error> {
        Ok(Vec::<String>::deserialize(from)?.into_iter().map(Arc::from).collect())
    }
}
