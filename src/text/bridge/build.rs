//! Finds out whether the compiler knows std::alloc::set_alloc_error_hook. It is unstable; CMake allows it for this crate
//! with RUSTC_BOOTSTRAP=paceline_bridge.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

const PROBE: &str = "#![feature(alloc_error_hook)] pub fn probe() { std::alloc::set_alloc_error_hook(|_| ()); }";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTC_BOOTSTRAP");
    println!("cargo:rustc-check-cfg=cfg(alloc_error_hook)");
    if compiles().unwrap_or(false) {
        println!("cargo:rustc-cfg=alloc_error_hook");
    } else {
        println!("cargo:warning=no set_alloc_error_hook: templates that take too much memory end the process");
    }
}

fn compiles() -> Option<bool> {
    let folder = env::var_os("OUT_DIR")?;
    let file = Path::new(&folder).join("probe.rs");
    fs::write(&file, PROBE).ok()?;
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.args(["--crate-name=paceline_bridge", "--crate-type=lib", "--emit=metadata", "--out-dir"]);
    Some(rustc.arg(&folder).arg(&file).output().ok()?.status.success())
}
