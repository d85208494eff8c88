// node:path, POSIX only: the program sees one file system, with / between names.

import { getCwd } from "nova:cwd";

export const sep = "/";
export const delimiter = ":";

function check(path) {
  if (typeof path !== "string") {
    const error = new TypeError(`The "path" argument must be of type string. Received ${path === null ? "null" : typeof path}`);
    error.code = "ERR_INVALID_ARG_TYPE";
    throw error;
  }
  return path;
}

/** Resolves . and .. without a look at the file system. */
function collapse(path, absolute) {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (!absolute) parts.push("..");
  }
  return parts.join("/");
}

export function normalize(path) {
  if (check(path) === "") return ".";
  const absolute = path.startsWith("/");
  let result = collapse(path, absolute);
  if (result === "" && !absolute) result = ".";
  if (result !== "" && path.endsWith("/")) result += "/";
  return absolute ? `/${result}` : result;
}

export function isAbsolute(path) {
  return check(path).startsWith("/");
}

export function join(...paths) {
  return normalize(paths.map(check).filter((path) => path !== "").join("/"));
}

export function resolve(...paths) {
  let result = "";
  for (let i = paths.length - 1; i >= 0 && !result.startsWith("/"); i--) {
    if (check(paths[i]) !== "") result = result === "" ? paths[i] : `${paths[i]}/${result}`;
  }
  if (!result.startsWith("/")) result = `${getCwd()}/${result}`;
  return `/${collapse(result, true)}`;
}

export function dirname(path) {
  const trimmed = check(path).replace(/\/+$/, "");
  const at = trimmed.lastIndexOf("/");
  if (at < 0) return trimmed === "" && path !== "" ? "/" : ".";
  return trimmed.slice(0, at).replace(/\/+$/, "") || "/";
}

export function basename(path, suffix = "") {
  const trimmed = check(path).replace(/\/+$/, "");
  const name = trimmed.slice(trimmed.lastIndexOf("/") + 1);
  return suffix !== "" && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

export function extname(path) {
  const name = basename(path);
  const at = name.lastIndexOf(".");
  return at <= 0 || name === ".." ? "" : name.slice(at);
}

export function relative(from, to) {
  const source = resolve(from).split("/").filter(Boolean);
  const target = resolve(to).split("/").filter(Boolean);
  let common = 0;
  while (common < source.length && common < target.length && source[common] === target[common]) common++;
  return [...source.slice(common).map(() => ".."), ...target.slice(common)].join("/");
}

export function parse(path) {
  const base = basename(path);
  const ext = extname(path);
  const root = isAbsolute(path) ? "/" : "";
  const directory = dirname(path);
  return { root, dir: directory === "." && !path.startsWith(".") ? "" : directory, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
}

export function format({ dir, root, base, name, ext } = {}) {
  const file = base || `${name ?? ""}${ext && !ext.startsWith(".") ? "." : ""}${ext ?? ""}`;
  const directory = dir || root;
  if (!directory) return file;
  return directory === root ? `${directory}${file}` : `${directory}/${file}`;
}

export const toNamespacedPath = (path) => path;

const posix = { sep, delimiter, normalize, isAbsolute, join, resolve, dirname, basename, extname, relative, parse, format, toNamespacedPath };
posix.posix = posix;
export { posix };
export default posix;
