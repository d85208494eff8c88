// node:os: what a sandbox can say about itself.

import * as native from "nova:native";

export const EOL = "\n";
export const devNull = "/dev/null";
export const platform = () => "wasi";
export const type = () => "WASI";
export const arch = () => "wasm32";
export const release = () => "preview1";
export const hostname = () => "localhost";
export const homedir = () => "/work";
export const tmpdir = () => "/tmp";
export const endianness = () => "LE";
export const cpus = () => [];
export const availableParallelism = () => 1;
export const totalmem = () => native.memoryBytes()[0];
export const freemem = () => 0;
export const uptime = () => native.now() / 1000;
export const loadavg = () => [0, 0, 0];
export const networkInterfaces = () => ({});
export const userInfo = () => ({ username: "nova", uid: 0, gid: 0, shell: null, homedir: "/work" });
export default {
  EOL, devNull, platform, type, arch, release, hostname, homedir, tmpdir, endianness, cpus, availableParallelism,
  totalmem, freemem, uptime, loadavg, networkInterfaces, userInfo,
};
