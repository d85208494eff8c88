// The current directory: a string here and not in libc, which would look for it in the snapshot.

let current = "/work";

export const getCwd = () => current;

export function setCwd(path) {
  current = path;
}
