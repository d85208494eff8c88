// node:fs/promises

import { promises } from "node:fs";

export const {
  open, readFile, writeFile, appendFile, copyFile, stat, lstat, access, realpath, readdir, mkdir, mkdtemp, rmdir, rm,
  unlink, rename, truncate, utimes, chmod, cp, link, symlink, readlink, constants,
} = promises;
export default promises;
