// URL and URLSearchParams (URL Standard). Internationalised host names are put into Punycode
// after lower-casing and NFC, which is what UTS 46 does to all but a few characters.

import * as native from "nova:native";
import { custom, inspect } from "nova:inspect";
import { getCwd } from "nova:cwd";

const SPECIAL_PORTS = { __proto__: null, "http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ftp:": "21", "file:": "" };
const isSpecial = (protocol) => protocol in SPECIAL_PORTS;

function invalid(input) {
  const error = new TypeError("Invalid URL");
  error.code = "ERR_INVALID_URL";
  error.input = input;
  return error;
}

// ---- percent-encoding (section 1.3) --------------------------------------------------------

const C0 = "";
const FRAGMENT = ' "<>`';
const QUERY = ' "#<>';
const SPECIAL_QUERY = `${QUERY}'`;
const PATH = ' "#<>?`{}^';
const USERINFO = `${PATH}/:;=@[\\]|`;

function percentEncode(text, set) {
  let result = "";
  for (const byte of new Uint8Array(native.encodeUtf8(text))) {
    const character = String.fromCharCode(byte);
    if (byte > 0x7e || byte < 0x20 || set.includes(character)) {
      result += `%${byte < 16 ? "0" : ""}${byte.toString(16).toUpperCase()}`;
    } else result += character;
  }
  return result;
}

function percentDecode(text) {
  const source = new Uint8Array(native.encodeUtf8(text));
  const bytes = new Uint8Array(source.length);
  let length = 0;
  for (let i = 0; i < source.length; i++) {
    const digits = source[i] === 37 ? /^[0-9a-fA-F]{2}/.exec(String.fromCharCode(source[i + 1], source[i + 2])) : null;
    if (digits !== null && i + 2 < source.length) {
      bytes[length++] = parseInt(digits[0], 16);
      i += 2;
    } else bytes[length++] = source[i];
  }
  return native.decodeUtf8(bytes.subarray(0, length), false);
}

// ---- hosts (section 3) ---------------------------------------------------------------------

/** RFC 3492. */
function punycode(label) {
  const points = Array.from(label, (character) => character.codePointAt(0));
  const basic = points.filter((point) => point < 128);
  let output = String.fromCharCode(...basic);
  if (basic.length === points.length) return output;
  if (basic.length > 0) output += "-";
  const digit = (d) => String.fromCharCode(d < 26 ? d + 97 : d + 22);
  let n = 128;
  let delta = 0;
  let bias = 72;
  for (let handled = basic.length; handled < points.length;) {
    const m = Math.min(...points.filter((point) => point >= n));
    delta += (m - n) * (handled + 1);
    n = m;
    for (const point of points) {
      if (point < n) delta++;
      if (point !== n) continue;
      let q = delta;
      for (let k = 36; ; k += 36) {
        const t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (q < t) break;
        output += digit(t + ((q - t) % (36 - t)));
        q = Math.floor((q - t) / (36 - t));
      }
      output += digit(q);
      delta = Math.floor(delta / (handled === basic.length ? 700 : 2));
      delta += Math.floor(delta / (handled + 1));
      let k = 0;
      for (; delta > 455; k += 36) delta = Math.floor(delta / 35);
      bias = k + Math.floor((36 * delta) / (delta + 38));
      delta = 0;
      handled++;
    }
    delta++;
    n++;
  }
  return `xn--${output}`;
}

function parseIpv4Part(part) {
  if (/^0[xX][0-9a-fA-F]*$/.test(part)) return part.length === 2 ? 0 : parseInt(part.slice(2), 16);
  if (/^0[0-7]+$/.test(part)) return parseInt(part, 8);
  return /^[0-9]+$/.test(part) ? parseInt(part, 10) : NaN;
}

/** The dotted form, undefined when this is no IPv4 address, null when it is a wrong one. */
function parseIpv4(host) {
  const parts = host.split(".");
  if (parts.at(-1) === "" && parts.length > 1) parts.pop();
  const last = parts.at(-1);
  if (!/^[0-9]+$/.test(last) && !/^0[xX][0-9a-fA-F]*$/.test(last)) return undefined;
  if (parts.length > 4) return null;
  const numbers = parts.map(parseIpv4Part);
  const tail = numbers.pop();
  if (numbers.some((n) => !(n <= 255)) || !(tail < 256 ** (4 - numbers.length))) return null;
  let address = tail;
  numbers.forEach((n, i) => { address += n * 256 ** (3 - i); });
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}

function parseIpv6(text) {
  let source = text;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(source);
  if (dotted !== null) {
    const bytes = dotted[2].split(".");
    if (bytes.some((byte) => +byte > 255 || (byte.length > 1 && byte.startsWith("0")))) return null;
    const pair = (a, b) => (+a * 256 + +b).toString(16);
    source = `${dotted[1]}${pair(bytes[0], bytes[1])}:${pair(bytes[2], bytes[3])}`;
  }
  const halves = source.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const given = head.length + (tail?.length ?? 0);
  if (tail === undefined ? given !== 8 : given > 7) return null;
  const pieces = [...head, ...Array(8 - given).fill("0"), ...(tail ?? [])];
  if (!pieces.every((piece) => /^[0-9a-fA-F]{1,4}$/.test(piece))) return null;
  const short = pieces.map((piece) => parseInt(piece, 16).toString(16));
  let best = { start: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && short[i + length] === "0") length++;
    if (length > best.length) best = { start: i, length };
  }
  if (best.start < 0) return `[${short.join(":")}]`;
  return `[${short.slice(0, best.start).join(":")}::${short.slice(best.start + best.length).join(":")}]`;
}

/** The host in its serialised form, or null. */
function parseHost(text, special) {
  if (text.startsWith("[")) return text.endsWith("]") ? parseIpv6(text.slice(1, -1)) : null;
  if (!special) return /[\0\t\n\r #/<>?@[\\\]^|]/.test(text) ? null : percentEncode(text, C0);
  const name = percentDecode(text).normalize("NFC").toLowerCase().replace(/[\u3002\uff0e\uff61]/g, ".").replace(/\u00ad/g, "");
  const host = name.split(".").map(punycode).join(".");
  // eslint-disable-next-line no-control-regex
  if (host === "" || /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/.test(host)) return null;
  const address = parseIpv4(host);
  return address === undefined ? host : address;
}

// ---- parsing (section 4.4) -----------------------------------------------------------------

const DRIVE = /^[a-zA-Z][:|]$/;

function appendPath(path, text, special, isFile) {
  const segments = (special ? text.replace(/\\/g, "/") : text).split("/");
  segments.forEach((segment, i) => {
    const last = i === segments.length - 1;
    const plain = segment.replace(/%2e/gi, ".");
    if (plain === "..") {
      if (!(isFile && path.length === 1 && DRIVE.test(path[0]))) path.pop();
      if (last) path.push("");
    } else if (plain === ".") {
      if (last) path.push("");
    } else {
      const isDrive = isFile && path.length === 0 && DRIVE.test(segment);
      path.push(isDrive ? `${segment[0]}:` : percentEncode(segment, PATH));
    }
  });
}

function parseAuthority(record, authority) {
  const special = isSpecial(record.protocol);
  const at = authority.lastIndexOf("@");
  let rest = authority;
  if (at >= 0) {
    const [user, ...password] = authority.slice(0, at).split(":");
    record.username = percentEncode(user, USERINFO);
    record.password = percentEncode(password.join(":"), USERINFO);
    rest = authority.slice(at + 1);
    if (rest === "") return false;
  }
  const match = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(rest);
  if (match === null || (match[1] === "" && (special || match[2] !== undefined))) return false;
  record.host = match[1] === "" ? "" : parseHost(match[1], special);
  return record.host !== null && setPort(record, match[2] ?? "");
}

function setPort(record, text) {
  if (!/^[0-9]*$/.test(text) || +text > 65535) return false;
  const port = text === "" ? "" : `${+text}`;
  record.port = port === SPECIAL_PORTS[record.protocol] ? "" : port;
  return true;
}

/** @returns {object|null} */
function parseUrl(input, base) {
  // eslint-disable-next-line no-control-regex
  let text = input.replace(/^[\0-\x20]+|[\0-\x20]+$/g, "").replace(/[\t\n\r]/g, "");
  const record = { protocol: "", username: "", password: "", host: null, port: "", path: [], opaque: null, query: null, fragment: null };
  const hash = text.indexOf("#");
  if (hash >= 0) {
    record.fragment = percentEncode(text.slice(hash + 1), FRAGMENT);
    text = text.slice(0, hash);
  }
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text);
  if (scheme === null && base === undefined) return null;
  if (scheme === null && base.opaque !== null) {
    if (text !== "" || hash < 0) return null;
    return { ...base, path: [], fragment: record.fragment };
  }
  record.protocol = scheme === null ? base.protocol : `${scheme[1].toLowerCase()}:`;
  let rest = scheme === null ? text : text.slice(scheme[0].length);
  const special = isSpecial(record.protocol);
  const isFile = record.protocol === "file:";
  const slash = special ? /^[\\/]/ : /^\//;
  const slashes = special ? /^[\\/]{2}/ : /^\/\//;
  let relative = scheme === null;
  if (scheme !== null && special && base !== undefined && base.protocol === record.protocol && (isFile ? !slashes.test(rest) : !slash.test(rest))) relative = true;
  const mark = rest.indexOf("?");
  if (mark >= 0) {
    record.query = percentEncode(rest.slice(mark + 1), special ? SPECIAL_QUERY : QUERY);
    rest = rest.slice(0, mark);
  }
  const hasAuthority = slashes.test(rest) || (scheme !== null && special && !isFile && !relative);
  if (hasAuthority) {
    rest = special && !isFile ? rest.replace(/^[\\/]*/, "") : rest.slice(2);
    const end = rest.search(special ? /[\\/]/ : /\//);
    const authority = end < 0 ? rest : rest.slice(0, end);
    rest = end < 0 ? "" : rest.slice(end);
    if (isFile) {
      if (DRIVE.test(authority)) rest = `/${authority}${rest}`;
      else if (authority !== "") {
        record.host = parseHost(authority, true);
        if (record.host === null) return null;
      }
      record.host = record.host === "localhost" ? "" : (record.host ?? "");
      if (DRIVE.test(authority)) record.host = "";
    } else if (!parseAuthority(record, authority)) return null;
  } else if (scheme !== null && !relative) {
    if (isFile) record.host = "";
    else if (!rest.startsWith("/")) {
      record.opaque = percentEncode(rest, C0);
      return record;
    }
  } else {
    record.username = base.username;
    record.password = base.password;
    record.host = base.host;
    record.port = base.port;
    if (rest === "") {
      record.path = [...base.path];
      if (mark < 0) record.query = base.query;
      return record;
    }
    if (!slash.test(rest)) record.path = base.path.slice(0, -1);
    else if (isFile && base.path.length > 0 && DRIVE.test(base.path[0])) record.path = [base.path[0]];
  }
  if (slash.test(rest)) rest = rest.slice(1);
  else if (rest === "" && !special) return record;
  appendPath(record.path, rest, special, isFile);
  return record;
}

function pathOf(record) {
  if (record.opaque !== null) return record.opaque;
  return record.path.map((segment) => `/${segment}`).join("");
}

function serialize(record, withFragment = true) {
  let text = record.protocol;
  if (record.host !== null) {
    text += "//";
    if (record.username !== "" || record.password !== "") {
      text += `${record.username}${record.password === "" ? "" : `:${record.password}`}@`;
    }
    text += record.host + (record.port === "" ? "" : `:${record.port}`);
  } else if (record.opaque === null && record.path.length > 1 && record.path[0] === "") text += "/.";
  text += pathOf(record);
  if (record.query !== null) text += `?${record.query}`;
  if (withFragment && record.fragment !== null) text += `#${record.fragment}`;
  return text;
}

// ---- URLSearchParams -----------------------------------------------------------------------

const FORM_SAFE = /[^a-zA-Z0-9*._ -]/;

function formEncode(text) {
  if (!FORM_SAFE.test(text)) return text.replace(/ /g, "+");
  let result = "";
  for (const byte of new Uint8Array(native.encodeUtf8(text))) {
    const character = String.fromCharCode(byte);
    if (byte === 32) result += "+";
    else if (/[a-zA-Z0-9*._-]/.test(character)) result += character;
    else result += `%${byte < 16 ? "0" : ""}${byte.toString(16).toUpperCase()}`;
  }
  return result;
}

const formDecode = (text) => percentDecode(text.replace(/\+/g, " "));
const wellFormed = (value) => `${value}`.toWellFormed();

export class URLSearchParams {
  #pairs = [];
  #changed = () => {};

  constructor(init = "") {
    if (typeof init === "object" && init !== null) {
      if (typeof init[Symbol.iterator] === "function") {
        for (const pair of init) {
          const both = [...pair];
          if (both.length !== 2) throw new TypeError("Each query pair must be an iterable [name, value] tuple");
          this.#pairs.push(both.map(wellFormed));
        }
      } else for (const key of Object.keys(init)) this.#pairs.push([wellFormed(key), wellFormed(init[key])]);
    } else this.#parse(wellFormed(init).replace(/^\?/, ""));
  }

  #parse(text) {
    this.#pairs = text.split("&").filter((part) => part !== "").map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [formDecode(part), ""] : [formDecode(part.slice(0, at)), formDecode(part.slice(at + 1))];
    });
  }

  /** For URL alone: follow its query, and tell it of changes. */
  static bind(params, text, changed) {
    params.#changed = changed;
    params.#parse(text);
  }

  get size() {
    return this.#pairs.length;
  }

  append(name, value) {
    this.#pairs.push([wellFormed(name), wellFormed(value)]);
    this.#changed();
  }

  delete(name, value) {
    this.#pairs = this.#pairs.filter((pair) => pair[0] !== `${name}` || (value !== undefined && pair[1] !== `${value}`));
    this.#changed();
  }

  get(name) {
    return this.#pairs.find((pair) => pair[0] === `${name}`)?.[1] ?? null;
  }

  getAll(name) {
    return this.#pairs.filter((pair) => pair[0] === `${name}`).map((pair) => pair[1]);
  }

  has(name, value) {
    return this.#pairs.some((pair) => pair[0] === `${name}` && (value === undefined || pair[1] === `${value}`));
  }

  set(name, value) {
    const index = this.#pairs.findIndex((pair) => pair[0] === `${name}`);
    if (index < 0) {
      this.append(name, value);
      return;
    }
    this.#pairs[index][1] = wellFormed(value);
    this.#pairs = this.#pairs.filter((pair, i) => i <= index || pair[0] !== `${name}`);
    this.#changed();
  }

  sort() {
    this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    this.#changed();
  }

  forEach(callback, thisArgument) {
    for (const [name, value] of this.#pairs) callback.call(thisArgument, value, name, this);
  }

  *entries() {
    for (const pair of this.#pairs) yield [...pair];
  }

  *keys() {
    for (const pair of this.#pairs) yield pair[0];
  }

  *values() {
    for (const pair of this.#pairs) yield pair[1];
  }

  toString() {
    return this.#pairs.map((pair) => `${formEncode(pair[0])}=${formEncode(pair[1])}`).join("&");
  }

  [custom]() {
    if (this.size === 0) return "URLSearchParams {}";
    return `URLSearchParams { ${this.#pairs.map((pair) => pair.map((text) => inspect(text)).join(" => ")).join(", ")} }`;
  }
}
URLSearchParams.prototype[Symbol.iterator] = URLSearchParams.prototype.entries;
Object.defineProperty(URLSearchParams.prototype, Symbol.toStringTag, { value: "URLSearchParams", configurable: true });
const { bind } = URLSearchParams;
delete URLSearchParams.bind;

// ---- URL -----------------------------------------------------------------------------------

export class URL {
  #record;
  #params;

  constructor(input, base = undefined) {
    let parsedBase;
    if (base !== undefined) {
      parsedBase = parseUrl(wellFormed(base));
      if (parsedBase === null) throw invalid(`${base}`);
    }
    this.#record = parseUrl(wellFormed(input), parsedBase);
    if (this.#record === null) throw invalid(`${input}`);
  }

  static canParse(input, base) {
    return URL.parse(input, base) !== null;
  }

  static parse(input, base) {
    try {
      return new URL(input, base);
    } catch {
      return null;
    }
  }

  get href() {
    return serialize(this.#record);
  }

  set href(value) {
    const record = parseUrl(wellFormed(value));
    if (record === null) throw invalid(`${value}`);
    this.#record = record;
    this.#follow();
  }

  #follow() {
    if (this.#params !== undefined) this.#bindParams();
  }

  #bindParams() {
    bind(this.#params, this.#record.query ?? "", () => {
      const text = this.#params.toString();
      this.#record.query = text === "" ? null : text;
    });
  }

  get origin() {
    const { protocol } = this.#record;
    if (protocol === "blob:") return URL.parse(this.pathname)?.origin ?? "null";
    return isSpecial(protocol) && protocol !== "file:" ? `${protocol}//${this.host}` : "null";
  }

  get protocol() {
    return this.#record.protocol;
  }

  set protocol(value) {
    const match = /^([a-zA-Z][a-zA-Z0-9+.-]*):?/.exec(`${value}`);
    const protocol = match === null ? "" : `${match[1].toLowerCase()}:`;
    if (match === null || isSpecial(protocol) !== isSpecial(this.#record.protocol)) return;
    this.#record.protocol = protocol;
    setPort(this.#record, this.#record.port);
  }

  #hasUser() {
    return !(this.#record.host === null || this.#record.host === "" || this.#record.protocol === "file:");
  }

  get username() {
    return this.#record.username;
  }

  set username(value) {
    if (this.#hasUser()) this.#record.username = percentEncode(`${value}`, USERINFO);
  }

  get password() {
    return this.#record.password;
  }

  set password(value) {
    if (this.#hasUser()) this.#record.password = percentEncode(`${value}`, USERINFO);
  }

  get host() {
    const { host, port } = this.#record;
    return `${host ?? ""}${port === "" ? "" : `:${port}`}`;
  }

  set host(value) {
    if (this.#record.opaque !== null) return;
    const next = { ...this.#record };
    const { username, password } = next;
    if (!`${value}`.includes("@") && parseAuthority(next, `${value}`.replace(/[/?#\\].*$/s, ""))) {
      this.#record = { ...next, username, password };
    }
  }

  get hostname() {
    return this.#record.host ?? "";
  }

  set hostname(value) {
    if (this.#record.opaque !== null) return;
    const host = parseHost(`${value}`.replace(/[/?#\\].*$/s, ""), isSpecial(this.#record.protocol));
    if (host !== null) this.#record.host = host;
  }

  get port() {
    return this.#record.port;
  }

  set port(value) {
    if (this.#hasUser()) setPort(this.#record, /^[0-9]*/.exec(`${value}`)[0]);
  }

  get pathname() {
    return pathOf(this.#record);
  }

  set pathname(value) {
    if (this.#record.opaque !== null) return;
    const special = isSpecial(this.#record.protocol);
    const text = `${value}`.replace(special ? /^[\\/]/ : /^\//, "").replace(/[?#]/g, (c) => (c === "?" ? "%3F" : "%23"));
    this.#record.path = [];
    appendPath(this.#record.path, text, special, this.#record.protocol === "file:");
  }

  get search() {
    return this.#record.query ? `?${this.#record.query}` : "";
  }

  set search(value) {
    const text = `${value}`.replace(/^\?/, "");
    this.#record.query = text === "" ? null : percentEncode(text, isSpecial(this.#record.protocol) ? SPECIAL_QUERY : QUERY);
    this.#follow();
  }

  get searchParams() {
    if (this.#params === undefined) {
      this.#params = new URLSearchParams();
      this.#bindParams();
    }
    return this.#params;
  }

  get hash() {
    return this.#record.fragment ? `#${this.#record.fragment}` : "";
  }

  set hash(value) {
    const text = `${value}`.replace(/^#/, "");
    this.#record.fragment = text === "" ? null : percentEncode(text, FRAGMENT);
  }

  toString() {
    return this.href;
  }

  toJSON() {
    return this.href;
  }

  [custom](depth, options) {
    const shown = {};
    for (const key of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "searchParams", "hash"]) {
      shown[key] = this[key];
    }
    return `URL ${inspect(shown, options)}`;
  }
}
Object.defineProperty(URL.prototype, Symbol.toStringTag, { value: "URL", configurable: true });

// ---- node:url ------------------------------------------------------------------------------

export function fileURLToPath(value) {
  const url = typeof value === "string" ? new URL(value) : value;
  if (url.protocol !== "file:") {
    const error = new TypeError("The URL must be of scheme file");
    error.code = "ERR_INVALID_URL_SCHEME";
    throw error;
  }
  return percentDecode(url.pathname);
}

export function pathToFileURL(path) {
  const url = new URL("file:///");
  const absolute = path.startsWith("/") ? path : `${getCwd()}/${path}`;
  url.pathname = absolute.replace(/%/g, "%25").replace(/\\/g, "%5C");
  return url;
}

export default { URL, URLSearchParams, fileURLToPath, pathToFileURL };
