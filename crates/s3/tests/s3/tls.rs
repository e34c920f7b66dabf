//! Encrypted connections, with a certificate that must be trusted explicitly.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hyworld_providers::{Access, ChunkStorage};
use hyworld_s3::S3Options;

use crate::harness::{GAME, Server, free_port, http_status, is_available};
use crate::positions;

const NEW_KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

/// Creates an authority and a certificate for this machine. Returns whether that worked.
fn create_certificates(folder: &Path) -> bool {
    let run = |arguments: &str| {
        let output =
            Command::new("openssl").current_dir(folder).args(arguments.split(' ')).output();
        output.is_ok_and(|output| output.status.success())
    };
    run(&format!("req -x509 {NEW_KEY} -days 2 -subj /CN=hyworld-tests -keyout ca.key -out ca.pem"))
        && run(&format!(
            "req {NEW_KEY} -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
             -keyout leaf.key -out leaf.csr"
        ))
        && run("x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
                -copy_extensions copy -out leaf.pem")
}

#[test]
fn encrypted_connections_work() {
    let probe = tempfile::tempdir().unwrap();
    if !is_available() {
        return;
    }
    if !create_certificates(probe.path()) {
        println!("SKIPPED: openssl is required to create certificates");
        return;
    }
    let port = free_port();
    let server = Server::start_with(|folder| {
        assert!(create_certificates(folder));
        let folder = folder.display();
        vec![
            format!("-s3.port.https={port}"),
            format!("-s3.cert.file={folder}/leaf.pem"),
            format!("-s3.key.file={folder}/leaf.key"),
        ]
    });
    // It answers a plain request with status 400.
    while http_status(port, "/") != 400 {
        std::thread::sleep(Duration::from_millis(50));
    }
    let bundle = server.folder().join("ca.pem").display().to_string();
    let open = |bundle: Option<&str>, access| {
        let keys = [("AWS_ACCESS_KEY_ID", GAME.key), ("AWS_SECRET_ACCESS_KEY", GAME.secret)];
        let all = keys.into_iter().chain(bundle.map(|path| ("AWS_CA_BUNDLE", path)));
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let options = S3Options::new("s3://hyworld/tls").unwrap().variables(all);
        let options = options.endpoint(&format!("https://127.0.0.1:{port}")).access(access);
        options.deadline(Duration::from_secs(3)).open()
    };
    let storage = open(Some(&bundle), Access::ReadWrite).unwrap();
    let at = positions(1)[0];
    storage.write(at, b"encrypted").unwrap();
    assert_eq!(storage.read(at).unwrap().unwrap(), b"encrypted");
    let text = open(None, Access::ReadOnly).unwrap_err().to_string();
    assert!(text.contains("UnknownIssuer; if you trust the server"), "{text}");
    let leaf_key = server.folder().join("leaf.key").display().to_string();
    let text = open(Some(&leaf_key), Access::ReadOnly).unwrap_err().to_string();
    assert!(text.contains("contains no certificates"), "{text}");
}
