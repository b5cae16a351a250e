//! Agents that people use, from the npm registry, with a model stub behind them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::clients::installed;
use crate::launch::Launch;
use crate::model_stub::ModelStub;

/// opencode, which gives its messages ids and has resume, load, list and fork.
pub fn opencode(home: &Path, model: &ModelStub) -> Launch {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    // The platform's package holds the program; the package `opencode-ai` around it only finds it when it is installed.
    let program = modules().join(format!("opencode-{system}-{machine}/bin/opencode"));
    let config = json!({
        "model": "stub/stub", "small_model": "stub/stub", "autoupdate": false, "share": "disabled",
        "provider": {"stub": {"npm": "@ai-sdk/openai-compatible", "name": "Stub",
            "options": {"baseURL": model.base_url(), "apiKey": "dummy"}, "models": {"stub": {"name": "Stub"}}}},
    });
    let launch = at_home(Launch::new(&installed(program)).arg("acp"), home);
    ["OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD"]
        .into_iter()
        .fold(launch, |launch, switch| launch.env(switch, "1"))
        .env("OPENCODE_CONFIG_CONTENT", config.to_string())
}

/// Qwen Code, which gives its messages no ids and has resume, load and list.
pub fn qwen_code(home: &Path, model: &ModelStub) -> Launch {
    let program = installed(modules().join("@qwen-code/qwen-code/cli-entry.js"));
    let settings = json!({
        "security": {"auth": {"selectedType": "openai"}}, "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false},
    });
    fs::create_dir_all(home.join(".qwen")).expect("the agent's home is writable");
    fs::write(home.join(".qwen/settings.json"), settings.to_string()).expect("the agent's home is writable");
    at_home(Launch::new(Path::new("node")).arg(program).arg("--acp"), home)
        .env("OPENAI_API_KEY", "dummy")
        .env("OPENAI_BASE_URL", model.base_url())
        .env("OPENAI_MODEL", "stub")
}

fn modules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("real_agents/node_modules")
}

/// Keeps everything that the agent remembers in this folder.
fn at_home(launch: Launch, home: &Path) -> Launch {
    let folders = [("XDG_DATA_HOME", "data"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")];
    let launch = launch.env("HOME", home).env("XDG_CACHE_HOME", home.join("cache"));
    folders.into_iter().fold(launch, |launch, (variable, folder)| launch.env(variable, home.join(folder)))
}
