//! What the component is made of, as `CycloneDX` 1.6 has it: every crate that is compiled into it, with its licence, where it
//! is from and the checksum it is locked to. The same sources give the same document: it has no date and no random number.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::lock::Lock;
use super::tree::{Graph, Package};

/// Of which crate it is the list.
pub(super) struct Sbom<'a> {
    /// Its name.
    pub(super) package: &'a str,
    /// The SHA-256 of what was built of it.
    pub(super) digest: String,
    /// The version of the compiler, and of its standard library.
    pub(super) compiler: String,
}

impl Sbom<'_> {
    /// The document: of the packages in the graph, by what `cargo metadata` and the lock file say of them.
    pub(super) fn document(&self, graph: &Graph, metadata: &Value, lock: &Lock) -> Result<String> {
        let known = known(metadata);
        let (mut subject, mut components) = (None, Vec::new());
        for package in graph.keys() {
            let found = known.get(package).with_context(|| format!("nothing is known of {package}"))?;
            if found["name"] == self.package {
                subject = Some(component(found, lock));
            } else {
                components.push(component(found, lock));
            }
        }
        let mut subject = subject.with_context(|| format!("there is no package {}", self.package))?;
        subject["type"] = json!("application");
        subject["hashes"] = json!([{"alg": "SHA-256", "content": self.digest}]);
        let purl_of = |package: &Package| known.get(package).map(|package| purl(package));
        let dependencies: Vec<Value> = graph
            .iter()
            .map(|(package, uses)| {
                json!({"ref": purl_of(package), "dependsOn": uses.iter().filter_map(purl_of).collect::<Vec<_>>()})
            })
            .collect();
        let document = json!({
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "component": subject,
                "tools": {"components": [{"type": "application", "name": "rustc", "version": self.compiler}]},
            },
            "components": components,
            "dependencies": dependencies,
        });
        Ok(format!("{document:#}\n"))
    }
}

/// What `cargo metadata` knows, by name and version.
pub(crate) fn known(metadata: &Value) -> BTreeMap<Package, &Value> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let named = packages.filter_map(|package| {
        Some((format!("{} v{}", package["name"].as_str()?, package["version"].as_str()?), package))
    });
    named.collect()
}

fn component(package: &Value, lock: &Lock) -> Value {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let purl = purl(package);
    let mut component = json!({
        "type": "library",
        "bom-ref": purl,
        "name": text("name"),
        "version": text("version"),
        "purl": purl,
    });
    if let Some(licence) = package["license"].as_str() {
        // As crates wrote it before there were expressions.
        let expression = licence.replace(" / ", "/").replace('/', " OR ");
        component["licenses"] = json!([{"expression": expression}]);
    }
    if let Some(checksum) = lock.checksum(text("name"), text("version")) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

/// The package's address, as package-url has it.
pub(super) fn purl(package: &Value) -> String {
    format!(
        "pkg:cargo/{}@{}",
        package["name"].as_str().unwrap_or_default(),
        package["version"].as_str().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_into_it_is_listed_and_nothing_else() {
        let package = |name: &str, licence: &str| json!({"name": name, "version": "1.0.0", "license": licence});
        let metadata =
            json!({"packages": [package("engine", "MIT"), package("used", "MIT/Apache-2.0"), package("tests", "MIT")]});
        let graph = Graph::from([
            ("engine v1.0.0".to_owned(), ["used v1.0.0".to_owned()].into()),
            ("used v1.0.0".to_owned(), [].into()),
        ]);
        let lock = Lock::read("[[package]]\nname = \"used\"\nversion = \"1.0.0\"\nchecksum = \"abcd\"\n");
        let sbom = Sbom { package: "engine", digest: "1234".to_owned(), compiler: "1.95.0".to_owned() };
        let document = sbom.document(&graph, &metadata, &lock).expect("a document");
        let document: Value = serde_json::from_str(&document).expect("JSON");
        let subject = &document["metadata"]["component"];
        assert_eq!((&subject["name"], &subject["hashes"][0]["content"]), (&json!("engine"), &json!("1234")));
        let listed = json!([{
            "type": "library", "bom-ref": "pkg:cargo/used@1.0.0", "name": "used", "version": "1.0.0",
            "purl": "pkg:cargo/used@1.0.0", "licenses": [{"expression": "MIT OR Apache-2.0"}],
            "hashes": [{"alg": "SHA-256", "content": "abcd"}],
        }]);
        assert_eq!(document["components"], listed);
        let dependency = json!({"ref": "pkg:cargo/engine@1.0.0", "dependsOn": ["pkg:cargo/used@1.0.0"]});
        assert_eq!(document["dependencies"][0], dependency);
        let strange = Graph::from([("unheard v1.0.0".to_owned(), [].into())]);
        assert!(sbom.document(&strange, &metadata, &lock).is_err());
    }
}
