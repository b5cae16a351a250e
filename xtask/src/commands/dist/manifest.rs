//! The manifest of the crate that is packed: as cargo knows the package in the workspace, without anything of the workspace.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// What of a dependency its manifest says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Dependency {
    /// Its name in the registry, where the package calls it otherwise.
    package: Option<String>,
    version: String,
    default_features: bool,
    features: Vec<String>,
    optional: bool,
}

/// The manifest of `package`, of which `metadata` is what cargo says of the workspace. What its own crates are there for is
/// said by `inlined`, whose dependencies become those of the package, and `carried`, which is in it as a file. `workspace` is
/// the workspace's manifest, for its profiles.
pub(super) fn of(package: &Value, metadata: &Value, inlined: &str, carried: &str, workspace: &str) -> Result<String> {
    let text = |key: &str| package[key].as_str().with_context(|| format!("the package has no {key}"));
    let mut manifest = "# Written by `cargo xtask dist`.\n[package]\n".to_owned();
    for key in ["name", "version", "edition", "rust_version", "license", "description"] {
        line(&mut manifest, &key.replace('_', "-"), &quoted(text(key)?));
    }
    line(&mut manifest, "readme", &quoted("README.md"));
    for target in package["targets"].as_array().context("the package has no targets")? {
        if target["kind"] == Value::from(vec!["bin"]) {
            manifest += "\n[[bin]]\n";
            line(&mut manifest, "name", &quoted(target["name"].as_str().unwrap_or_default()));
            line(&mut manifest, "path", &quoted("src/main.rs"));
            line(&mut manifest, "required-features", &list(&strings(&target["required-features"])));
        }
    }
    manifest += "\n[features]\n";
    for (name, needs) in package["features"].as_object().context("the package has no features")? {
        line(&mut manifest, name, &list(&strings(needs)));
    }
    // Its tests need the workspace, and stay there.
    for (kind, heading) in [(None, "dependencies"), (Some("build"), "build-dependencies")] {
        let _ = write!(manifest, "\n[{heading}]\n");
        for (name, dependency) in dependencies(package, metadata, kind, inlined, carried)? {
            line(&mut manifest, &name, &dependency.to_toml());
        }
    }
    for profile in workspace.split("\n\n").filter(|part| part.lines().any(|line| line.starts_with("[profile."))) {
        let _ = write!(manifest, "\n{}\n", profile.trim_end());
    }
    Ok(manifest)
}

/// The dependencies of a kind that come from a registry.
fn dependencies(
    package: &Value,
    metadata: &Value,
    kind: Option<&str>,
    inlined: &str,
    carried: &str,
) -> Result<BTreeMap<String, Dependency>> {
    let mut found = BTreeMap::<String, Dependency>::new();
    let mut own = Vec::new();
    let of_kind = |package: &Value, kind: Option<&str>| -> Vec<Value> {
        let all = package["dependencies"].as_array().cloned().unwrap_or_default();
        all.into_iter().filter(|dependency| dependency["kind"].as_str() == kind).collect()
    };
    for dependency in of_kind(package, kind) {
        match dependency["name"].as_str().unwrap_or_default() {
            name if name == inlined => {
                let packages = metadata["packages"].as_array().context("cargo knows no packages")?;
                let inlined = packages.iter().find(|package| package["name"] == name).context("it is not there")?;
                own.extend(of_kind(inlined, None));
            }
            name if name == carried => {}
            name if dependency["path"].is_string() => bail!("the crate cannot be packed: it needs {name}, a folder"),
            _ => own.push(dependency),
        }
    }
    for dependency in own {
        if !dependency["target"].is_null() {
            bail!("the crate cannot be packed: what {} is for is not understood", dependency["name"]);
        }
        let name = dependency["rename"].as_str().or_else(|| dependency["name"].as_str()).unwrap_or_default();
        let one = Dependency::of(&dependency);
        match found.entry(name.to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(one);
            }
            Entry::Occupied(mut entry) => entry.get_mut().join(one)?,
        }
    }
    Ok(found)
}

impl Dependency {
    fn of(dependency: &Value) -> Self {
        let package = dependency["rename"].as_str().and_then(|_| dependency["name"].as_str());
        Self {
            package: package.map(str::to_owned),
            version: dependency["req"].as_str().unwrap_or_default().trim_start_matches('^').to_owned(),
            default_features: dependency["uses_default_features"] == true,
            features: strings(&dependency["features"]),
            optional: dependency["optional"] == true,
        }
    }

    /// Both are asked for.
    fn join(&mut self, other: Self) -> Result<()> {
        if self.version != other.version || self.package != other.package {
            bail!("the crate cannot be packed: it asks for {} and {} of the same", self.version, other.version);
        }
        self.default_features |= other.default_features;
        self.optional &= other.optional;
        self.features.extend(other.features);
        self.features.sort();
        self.features.dedup();
        Ok(())
    }

    fn to_toml(&self) -> String {
        let mut parts = vec![format!("version = {}", quoted(&self.version))];
        if let Some(package) = &self.package {
            parts.push(format!("package = {}", quoted(package)));
        }
        if !self.default_features {
            parts.push("default-features = false".to_owned());
        }
        if !self.features.is_empty() {
            parts.push(format!("features = {}", list(&self.features)));
        }
        if self.optional {
            parts.push("optional = true".to_owned());
        }
        format!("{{ {} }}", parts.join(", "))
    }
}

fn line(manifest: &mut String, key: &str, value: &str) {
    let _ = writeln!(manifest, "{key} = {value}");
}

/// A string as TOML has it: what JSON escapes TOML escapes alike.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn list(texts: &[String]) -> String {
    let quoted: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", quoted.join(", "))
}

fn strings(values: &Value) -> Vec<String> {
    let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
    values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const WORKSPACE: &str = "[workspace]\nmembers = []\n\n# One.\n[profile.release]\nopt-level = 3\n";

    fn dependency(name: &str, kind: Option<&str>, more: &Value) -> Value {
        let mut one = json!({"name": name, "kind": kind, "req": "^1.2", "uses_default_features": true, "features": [],
            "optional": false, "target": null, "rename": null});
        for (key, value) in more.as_object().into_iter().flatten() {
            one[key] = value.clone();
        }
        one
    }

    fn package(dependencies: &[Value]) -> Value {
        json!({"name": "a", "version": "0.1.0", "edition": "2024", "rust_version": "1.95", "license": "MIT",
            "description": "It \"does\"", "features": {"default": ["cli"], "cli": ["dep:clap"]},
            "targets": [{"kind": ["lib"], "name": "a"}, {"kind": ["bin"], "name": "a", "required-features": ["cli"]}],
            "dependencies": dependencies})
    }

    fn manifest(dependencies: &[Value]) -> Result<String> {
        let features = json!({"name": "shared", "dependencies": [
            dependency("serde", None, &json!({"features": ["rc"]})), dependency("other", None, &json!({}))]});
        of(&package(dependencies), &json!({ "packages": [features] }), "shared", "carried", WORKSPACE)
    }

    #[test]
    fn what_the_workspace_is_for_is_in_the_manifest_and_nothing_of_the_workspace() {
        let path = json!({"path": "/somewhere"});
        let manifest = manifest(&[
            dependency("serde", None, &json!({"features": ["derive"], "uses_default_features": false})),
            dependency("clap", None, &json!({"optional": true, "req": "=4.6.1"})),
            dependency("shared", None, &path),
            dependency("carried", Some("build"), &path),
            dependency("stories", Some("dev"), &path),
            dependency("tempfile", Some("dev"), &json!({})),
        ]);
        let manifest = manifest.expect("it can be packed");
        for line in [
            r#"description = "It \"does\"""#,
            r#"rust-version = "1.95""#,
            r#"required-features = ["cli"]"#,
            r#"cli = ["dep:clap"]"#,
            r#"serde = { version = "1.2", features = ["derive", "rc"] }"#,
            r#"clap = { version = "=4.6.1", optional = true }"#,
            r#"other = { version = "1.2" }"#,
            "[profile.release]",
            "# One.",
        ] {
            assert!(manifest.lines().any(|found| found == line), "{line} is not in\n{manifest}");
        }
        for word in ["shared", "carried", "stories", "tempfile", "somewhere", "workspace"] {
            assert!(!manifest.contains(word), "{word} is in\n{manifest}");
        }
    }

    #[test]
    fn what_cannot_be_packed_is_an_error() {
        for (dependencies, error) in [
            (vec![dependency("folder", None, &json!({"path": "/somewhere"}))], "it needs folder"),
            (vec![dependency("odd", None, &json!({"target": "cfg(unix)"}))], "is not understood"),
            (
                vec![
                    dependency("serde", None, &json!({"req": "^2"})),
                    dependency("shared", None, &json!({"path": "/"})),
                ],
                "of the same",
            ),
        ] {
            let found = manifest(&dependencies).expect_err(error).to_string();
            assert!(found.contains(error), "{found}");
        }
    }
}
