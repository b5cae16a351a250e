// SQLite says of a write to this file system that it has failed, and not why. Whether it was for want of room is found out here, for all files of
// the worker that this is in.

let isFull = false;

const { write } = FileSystemSyncAccessHandle.prototype;
FileSystemSyncAccessHandle.prototype.write = function (content, options) {
  let written = 0;
  try {
    written = write.call(this, content, options);
  } catch (error) {
    isFull ||= error?.name === "QuotaExceededError";
    throw error;
  }
  isFull ||= written < content.byteLength;
  return written;
};

/** Whether there was too little room for something since this was asked last. */
export function wasFull() {
  const was = isFull;
  isFull = false;
  return was;
}
