//! Where libinsula is: what pkg-config says, or the directory INSULA_LIB_DIR.
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=INSULA_LIB_DIR");
    if let Ok(dir) = std::env::var("INSULA_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", dir);
    } else if let Ok(out) = Command::new("pkg-config").args(["--libs-only-L", "insula"]).output() {
        for word in String::from_utf8_lossy(&out.stdout).split_whitespace() {
            println!("cargo:rustc-link-search=native={}", word.trim_start_matches("-L"));
        }
    }
    println!("cargo:rustc-link-lib=insula");
}
