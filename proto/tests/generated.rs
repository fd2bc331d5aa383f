//! The checked-in gRPC code is what the `.proto` files say. When it is not, this test writes it anew and fails,
//! so that the mend is already in the tree.

use std::path::Path;

#[test]
fn generated_code_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let protos = ["proto/glass/v1/client.proto", "proto/glass/v1/worker.proto"].map(|file| root.join(file));
    let files = protox::compile(&protos, [root.join("proto")]).expect("the .proto files compile");
    let out = tempfile::tempdir().expect("a temporary directory");
    tonic_prost_build::configure()
        .build_transport(false)
        // Their own show no value (`glass_proto::secret`).
        .skip_debug(["glass.v1.Secret", "glass.worker.v1.Secret"])
        .out_dir(out.path())
        .compile_fds(files)
        .expect("code can be generated");
    let mut stale = Vec::new();
    for name in ["glass.v1.rs", "glass.worker.v1.rs"] {
        let fresh = std::fs::read(out.path().join(name)).expect("the generated file");
        let place = root.join("src/gen").join(name);
        if std::fs::read(&place).ok() != Some(fresh.clone()) {
            std::fs::write(&place, fresh).expect("the generated file can be written");
            stale.push(name);
        }
    }
    assert!(stale.is_empty(), "{stale:?} were stale and have been written anew; commit them");
}
