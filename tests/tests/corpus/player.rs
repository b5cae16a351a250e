//! Plays a case with instances of the component.

use std::collections::BTreeMap;

use acp_sessions::component::storage::Host;
use acp_sessions_adapter::Lent;
use acp_sessions_corpus::{Call, Case, Connect, Content, Fault, Step};
use acp_sessions_guest::storage::{Durability, Storage, Write};
use serde_json::{Map, Value, json};
use wasmtime::component::InstancePre;

use crate::runtime::{Running, Runtime, State};
use crate::values::{from_json, to_json};

const CONNECTION: &str = "acp:sessions/connection@0.1.0";
const SESSIONS: &str = "acp:sessions/sessions@0.1.0";

struct Player<'c, S: Host + Send + 'static> {
    case: &'c Case,
    linked: InstancePre<State<S>>,
    storage: Lent<S>,
    now: u64,
    instances: BTreeMap<u32, Running<S>>,
    memos: BTreeMap<u32, BTreeMap<String, String>>,
}

/// The case as it comes out over this store, which is empty.
pub(crate) fn play<S: Host + Send + 'static>(runtime: &Runtime, store: S, case: &Case) -> Case {
    let storage = Lent::new(store);
    case.start.write(&storage).expect("the storage is as the case says");
    let linked = runtime.link().expect("the component fits");
    let (instances, memos) = (BTreeMap::new(), BTreeMap::new());
    let mut host = Player { case, linked, storage, now: 0, instances, memos };
    let mut played = case.clone();
    for step in &mut played.steps {
        host.now = step.now.map_or(host.now, |now| u64::try_from(now).expect("a time from 1970 on"));
        step.returns = host.step(step);
        for pulled in &mut step.pulls {
            *pulled = host.call(step.instance, "pull", json!({}), &[]).expect("nothing goes wrong here");
        }
    }
    played.end = Content::of(&host.storage).expect("what is stored can be read");
    // What a storage names may have held something once.
    played.end.logs.retain(|_, entries| !entries.is_empty());
    played.end.texts.retain(|_, parts| !parts.is_empty());
    if case.without_text_search {
        // What is indexed nobody can ask for.
        played.end.texts.clear();
    }
    played
}

impl<S: Host + Send + 'static> Player<'_, S> {
    /// What a step returns, if it returns anything.
    fn step(&mut self, step: &Step) -> Option<Value> {
        match &step.call {
            Call::Commit { writes } => {
                let writes = writes.iter().cloned().map(Write::from).collect();
                let committed = Storage::commit(&self.storage, &[], writes, Durability::Durable);
                committed.expect("somebody else can write");
                return None;
            }
            Call::Connect(connect) => self.prepare(step.instance.expect("an instance"), connect),
            _ => {}
        }
        let (name, arguments) = match serde_json::to_value(&step.call).expect("a call") {
            Value::String(name) => (name, Value::Null),
            Value::Object(call) => call.into_iter().next().expect("a function"),
            other => panic!("{other} is no call"),
        };
        let returned = self.call(step.instance, &name, arguments, &step.faults);
        assert_eq!(returned.is_none(), !step.has_returned(), "whether the instance is lost");
        // What says nothing has no `returns`, and a `connect` that goes well is one.
        let is_silent = |value: &Value| value.is_null() || name == "connect" && value.get("ok").is_some();
        returned.filter(|value| !is_silent(value))
    }

    /// Makes the instance that is to be connected.
    fn prepare(&mut self, number: u32, connect: &Connect) {
        let kept = match connect.after {
            Some(before) => self.memos[&before].clone(),
            None => connect.kept.iter().cloned().collect(),
        };
        self.memos.insert(number, kept);
        let instance = self.instance(number);
        self.instances.insert(number, instance);
    }

    fn instance(&self, number: u32) -> Running<S> {
        Running::new(&self.linked, number, self.storage.clone()).expect("it can be instantiated")
    }

    /// What a function returns; none where the instance is lost.
    fn call(&mut self, number: Option<u32>, name: &str, arguments: Value, faults: &[Fault]) -> Option<Value> {
        let mut other = None;
        let arguments = self.arguments(number, name, arguments);
        let running = match number {
            Some(number) => self.instances.get_mut(&number).expect("the instance is connected"),
            None => other.insert(self.instance(0)),
        };
        let state = running.store.data_mut();
        state.now = self.now;
        state.storage.without_text_search = self.case.without_text_search;
        state.storage.arm(faults);
        let is_connection = ["connect", "receive", "pull", "peer-closed", "agent-restarted", "idle"].contains(&name);
        let function = running.function(if is_connection { CONNECTION } else { SESSIONS }, name);
        let ty = function.ty(&running.store);
        let params: Vec<_> = ty.params().map(|(name, ty)| from_json(&ty, &arguments[name])).collect();
        let mut results = vec![wasmtime::component::Val::Bool(false); ty.results().len()];
        match function.call(&mut running.store, &params, &mut results) {
            Ok(()) => {}
            Err(_) if !faults.is_empty() => return None,
            Err(trap) => panic!("{name}: {trap:?}"),
        }
        let value = results.first().map_or(Value::Null, to_json);
        if name == "receive" || name == "pull" {
            return Some(self.taken(number.expect("an instance"), &value));
        }
        Some(value)
    }

    /// The arguments of a function, with what a case leaves out.
    fn arguments(&self, number: Option<u32>, name: &str, mut arguments: Value) -> Value {
        let pair = |key: &str, name: &str, value: &str| json!({ key: name, "value": value });
        match name {
            "connect" => {
                let settings = arguments["settings"].as_array().into_iter().flatten();
                let named = |setting: &Value| Some(pair("name", setting[0].as_str()?, setting[1].as_str()?));
                let settings: Vec<_> = settings.filter_map(named).collect();
                let kept = number.map(|number| &self.memos[&number]).into_iter().flatten();
                let kept: Vec<_> = kept.map(|(key, value)| pair("key", key, value)).collect();
                arguments["settings"] = settings.into();
                arguments["kept"] = kept.into();
            }
            "receive" | "pull" if arguments["client-room"].is_null() => arguments["client-room"] = u32::MAX.into(),
            "list-sessions" | "changes-since" => {
                let criteria = &mut arguments["criteria"];
                let usual =
                    [("archived", json!("hidden")), ("subagents", json!(false)), ("include-worktrees", json!(false))];
                for (name, usual) in usual {
                    if criteria[name].is_null() {
                        criteria[name] = usual;
                    }
                }
            }
            _ => {}
        }
        arguments
    }

    /// A `step` without what is empty or false. What it wants kept, is.
    fn taken(&mut self, number: u32, step: &Value) -> Value {
        let memos = self.memos.entry(number).or_default();
        for memo in step["outputs"].as_array().into_iter().flatten().filter_map(|output| output.get("keep")) {
            let key = memo["key"].as_str().expect("a key").to_owned();
            match memo["value"].as_str() {
                Some(value) => memos.insert(key, value.to_owned()),
                None => memos.remove(&key),
            };
        }
        let says = |value: &Value| *value != json!([]) && *value != json!(false);
        let members = step.as_object().expect("a step").iter().filter(|(_, value)| says(value));
        Value::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>())
    }
}
