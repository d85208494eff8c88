// What little of Intl programs meet without naming it. This runtime has no locale data: what
// would need it says so instead of answering in another format than asked.

const define = (target, name, value) =>
  Object.defineProperty(target, name, { value, writable: true, configurable: true });

function unavailable(what) {
  return new RangeError(`${what}: locales and their formats (Intl) are not available in the WASM runtime`);
}

function checkLocale(locales, what) {
  const locale = Array.isArray(locales) ? locales[0] : locales;
  if (locale === undefined || /^(?:en(?:-US)?|C|POSIX)$/.test(locale)) return;
  throw unavailable(`${what}('${locale}')`);
}

const NUMBER_OPTIONS = new Set(["minimumFractionDigits", "maximumFractionDigits", "useGrouping", "style", "currency"]);
const CURRENCIES = { USD: "$", EUR: "€", GBP: "£", JPY: "¥" };

function numberToLocaleString(locales, options = {}) {
  checkLocale(locales, "toLocaleString");
  for (const key of Object.keys(options)) {
    if (!NUMBER_OPTIONS.has(key)) throw unavailable(`toLocaleString with the option ${key}`);
  }
  const { style = "decimal", currency, useGrouping = true } = options;
  if (!["decimal", "percent", "currency"].includes(style) || (style === "currency" && !Object.hasOwn(CURRENCIES, `${currency}`))) {
    throw unavailable(`toLocaleString with the style ${style} ${currency ?? ""}`.trim());
  }
  const value = Number(this) * (style === "percent" ? 100 : 1);
  const usual = style === "currency" ? (currency === "JPY" ? 0 : 2) : 0;
  const minimum = options.minimumFractionDigits ?? Math.min(usual, options.maximumFractionDigits ?? usual);
  const maximum = options.maximumFractionDigits ?? Math.max(minimum, style === "decimal" ? 3 : usual);
  if (!(minimum >= 0 && maximum <= 100 && minimum <= maximum)) throw new RangeError("fraction digits are out of range");
  if (Number.isNaN(value)) return "NaN";
  const [whole, fraction = ""] = Number.isFinite(value) ? roundedDigits(Math.abs(value), maximum).split(".") : ["∞"];
  let decimals = fraction.replace(/0+$/, "");
  if (decimals.length < minimum) decimals = decimals.padEnd(minimum, "0");
  const grouped = useGrouping ? whole.replace(/\B(?=(?:\d{3})+$)/g, ",") : whole;
  const text = decimals === "" ? grouped : `${grouped}.${decimals}`;
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return `${sign}${style === "currency" ? CURRENCIES[currency] : ""}${text}${style === "percent" ? "%" : ""}`;
}

/** Rounds the shortest decimal form half away from zero, as ICU does: 1.005 becomes 1.01. */
function roundedDigits(value, digits) {
  if (value >= 1e21) return BigInt(value).toString();
  const [whole, fraction = ""] = plainDecimal(value).split(".");
  if (fraction.length <= digits) return `${whole}.${fraction}`;
  const kept = BigInt(whole + fraction.slice(0, digits)) + (fraction[digits] >= "5" ? 1n : 0n);
  const text = kept.toString().padStart(digits + 1, "0");
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

function plainDecimal(value) {
  const text = `${value}`;
  const match = /^(\d)(?:\.(\d+))?e-(\d+)$/.exec(text);
  return match === null ? text : `0.${"0".repeat(match[3] - 1)}${match[1]}${match[2] ?? ""}`;
}

// ---- dates ---------------------------------------------------------------------------------

function checkedDateFormat(name) {
  const plain = Date.prototype[name];
  return { [name](locales, options) {
    checkLocale(locales, name);
    if (options !== undefined && Object.keys(options).length > 0) throw unavailable(`${name} with options`);
    return plain.call(this);
  } }[name];
}

// ---- comparing -----------------------------------------------------------------------------

const strip = (text) => text.normalize("NFD").replace(/[\u0300-\u036f]/g, "");
const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
// Punctuation, then digits, then letters: the order of the root collation for ASCII.
const sortKey = (text) => text.toLowerCase().replace(/[a-z]/g, (c) => `\u{e000}${c}`).replace(/[0-9]/g, (c) => `\u{dfff}${c}`);

function compareNumeric(a, b) {
  const left = a.match(/\d+|\D+/g) ?? [];
  const right = b.match(/\d+|\D+/g) ?? [];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const bothNumbers = /^\d/.test(left[i]) && /^\d/.test(right[i]);
    const result = bothNumbers ? order(BigInt(left[i]), BigInt(right[i])) : order(sortKey(left[i]), sortKey(right[i]));
    if (result !== 0) return result;
  }
  return order(left.length, right.length);
}

/** Letters first, then accents, then case (small before large), as the root collation has it. */
function localeCompare(other, locales, options = {}) {
  if (this === undefined || this === null) throw new TypeError("localeCompare called on null or undefined");
  const a = `${this}`;
  const b = `${other}`;
  const { sensitivity = "variant", numeric = false } = options;
  const letters = numeric ? compareNumeric(strip(a), strip(b)) : order(sortKey(strip(a)), sortKey(strip(b)));
  if (letters !== 0 || sensitivity === "base") return letters;
  const accents = sensitivity === "case" ? 0 : order(a.normalize("NFD").toLowerCase(), b.normalize("NFD").toLowerCase());
  if (accents !== 0 || sensitivity === "accent") return accents;
  return order(b.normalize("NFD"), a.normalize("NFD"));
}

export function installLocaleFunctions() {
  define(Number.prototype, "toLocaleString", { toLocaleString(locales, options) {
    return numberToLocaleString.call(this, locales, options);
  } }.toLocaleString);
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]) define(Date.prototype, name, checkedDateFormat(name));
  define(String.prototype, "localeCompare", { localeCompare(other, locales, options) {
    return localeCompare.call(this, other, locales, options);
  } }.localeCompare);
}
