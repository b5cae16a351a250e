// What the tabs and the workers of one store call each other by.

/** The lock that whoever has the store open holds, and the channel that all hear. */
export const scopeOf = (name) => `acp-sessions:${name}`;
/** The lock that tabs share as long as their workers are not in line for that one yet. */
export const startingOf = (scope) => `${scope}:starting`;
/** The lock that a tab or a worker holds as long as it lives. */
export const lifeOf = (scope, id) => `${scope}:life:${id}`;
/** The channel between a tab and whoever has the store open. */
export const channelOf = (scope, id) => `${scope}:tab:${id}`;

/** Holds a lock until what is returned is called, or this page or worker ends. Comes when it is held. */
export function hold(lock, mode = "exclusive") {
  return new Promise((held, failed) => {
    navigator.locks.request(lock, { mode }, () => new Promise((release) => held(release))).catch(failed);
  });
}

/** Comes when nobody shares a lock any more who did when it was asked. */
export const unshared = (lock) => navigator.locks.request(lock, () => {});

/** Comes when nobody holds a lock any more. */
export const gone = (lock) => navigator.locks.request(lock, { mode: "shared" }, () => {});
