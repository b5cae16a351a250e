//! A client that does not read costs no memory, and is told how things are when it reads again.

use acp_sessions_tests::process::peak;
use acp_sessions_tests::scene::Scene;

use crate::burst::{MANY, follower, keep_many};
use crate::on;

const MIB: usize = 1 << 20;
/// How much more memory the program may have had at most while its client does not read. All that changes would be more.
const MOST: usize = 8 * MIB;

#[test]
fn who_does_not_read_is_told_later_how_things_are_then() {
    let scene = Scene::new();
    keep_many(&scene);
    let (mut client, mut list) = follower(&scene, None);
    list.settle(&mut client);
    let folder = |nth: usize| if nth == 0 { "/bench".to_owned() } else { format!("/folder-{nth}") };
    // How often all change: the first time it is told, the second time it is too much to tell, also without what stands on the
    // lines of up to a MiB that are under way to a client that takes a few of them before it reads no more.
    let mut at = 0;
    for (times, resyncs) in [(3, 0), (10, 1)] {
        list.take_told();
        let before = peak(client.pid());
        for _ in 0..times {
            on(&scene, &["move", &folder(at), &folder(at + 1)]);
            at += 1;
        }
        // The kernel counts pages in passing, and may tell a little less of the same mark than before.
        let grown = peak(client.pid()).saturating_sub(before);
        assert!(grown < MOST, "{times} times: {} MiB more than {} MiB", grown / MIB, before / MIB);
        list.settle(&mut client);
        assert_eq!(list.told.resyncs, resyncs, "{times} times");
        if resyncs == 0 {
            assert_eq!(list.told.changed.len(), MANY);
        }
        assert_eq!(list.findings, [""; 0]);
    }
}
