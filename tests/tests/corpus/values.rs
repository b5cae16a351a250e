//! Values of the WIT as a case writes them.

use serde_json::{Map, Value};
use wasmtime::component::{Type, Val};

/// A value of this type. What is not there is an option without a value or a list without elements.
pub(crate) fn from_json(ty: &Type, value: &Value) -> Val {
    match ty {
        Type::Bool => Val::Bool(value.as_bool().expect("a boolean")),
        Type::U32 => Val::U32(value.as_u64().and_then(|number| u32::try_from(number).ok()).expect("a number")),
        Type::String => Val::String(text(value)),
        Type::Enum(_) => Val::Enum(text(value)),
        Type::List(list) => {
            let elements = value.as_array().map(Vec::as_slice).unwrap_or_default();
            Val::List(elements.iter().map(|element| from_json(&list.ty(), element)).collect())
        }
        Type::Record(record) => {
            let fields = record.fields().map(|field| (field.name.to_owned(), from_json(&field.ty, &value[field.name])));
            Val::Record(fields.collect())
        }
        Type::Option(option) => Val::Option((!value.is_null()).then(|| Box::new(from_json(&option.ty(), value)))),
        Type::Variant(variant) => {
            let (name, payload) =
                value.as_object().and_then(|object| object.iter().next()).expect("a case with a value");
            let case = variant.cases().find(|case| case.name == name).expect("a case of the variant");
            Val::Variant(name.clone(), case.ty.map(|ty| Box::new(from_json(&ty, payload))))
        }
        other => panic!("no function takes {other:?}"),
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// The other way round.
pub(crate) fn to_json(value: &Val) -> Value {
    let payload = |value: &Option<Box<Val>>| value.as_ref().map_or(Value::Null, |value| to_json(value));
    let member = |name: &str, value| Value::Object(Map::from_iter([(name.to_owned(), value)]));
    match value {
        Val::Bool(value) => (*value).into(),
        Val::U32(value) => (*value).into(),
        Val::U64(value) => (*value).into(),
        Val::String(value) | Val::Enum(value) | Val::Variant(value, None) => value.as_str().into(),
        Val::List(values) => values.iter().map(to_json).collect(),
        Val::Record(fields) => fields.iter().map(|(name, value)| (name.clone(), to_json(value))).collect(),
        Val::Option(value) => payload(value),
        Val::Variant(name, value) => member(name, payload(value)),
        Val::Result(Ok(value)) => member("ok", payload(value)),
        Val::Result(Err(value)) => member("error", payload(value)),
        other => panic!("no function returns {other:?}"),
    }
}
