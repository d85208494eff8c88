// Errors of system calls, in Node's form.

import { Error } from "nova:primordials";

// preview1 errno values (witx: typename $errno) that a file operation can give.
const ERRNO = {
  __proto__: null,
  2: ["EACCES", "permission denied"],
  8: ["EBADF", "bad file descriptor"],
  19: ["EDQUOT", "quota exceeded"],
  20: ["EEXIST", "file already exists"],
  22: ["EFBIG", "file too large"],
  25: ["EILSEQ", "the name is not valid Unicode"],
  28: ["EINVAL", "invalid argument"],
  29: ["EIO", "i/o error"],
  31: ["EISDIR", "illegal operation on a directory"],
  32: ["ELOOP", "too many symbolic links encountered"],
  33: ["EMFILE", "too many open files"],
  37: ["ENAMETOOLONG", "name too long"],
  41: ["ENFILE", "file table overflow"],
  44: ["ENOENT", "no such file or directory"],
  48: ["ENOMEM", "not enough memory"],
  51: ["ENOSPC", "no space left: the run's memory budget is used up"],
  52: ["ENOSYS", "function not implemented"],
  54: ["ENOTDIR", "not a directory"],
  55: ["ENOTEMPTY", "directory not empty"],
  58: ["ENOTSUP", "operation not supported"],
  63: ["EPERM", "operation not permitted"],
  69: ["EROFS", "read-only file system"],
  75: ["EXDEV", "cross-device link not permitted"],
  76: ["ENOTCAPABLE", "not permitted in the sandbox"],
};

/** The Error for a negative result of a native call. */
export function systemError(result, syscall, path, dest) {
  const known = ERRNO[-result];
  const code = known === undefined ? "E" + -result : known[0];
  const text = known === undefined ? "error " + -result : known[1];
  const where = path === undefined ? "" : " '" + path + "'" + (dest === undefined ? "" : (" -> '" + dest + "'"));
  const error = new Error(code + ": " + text + ", " + syscall + where);
  error.errno = result;
  error.code = code;
  error.syscall = syscall;
  if (path !== undefined) error.path = path;
  if (dest !== undefined) error.dest = dest;
  return error;
}
