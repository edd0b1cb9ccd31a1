import { delimiter, join } from "node:path";
import { ensureProgram, isExecutable, whyMissing } from "./debian-package.ts";

/** Debian's package is unpacked here. Installed, it would start a server, now and at every start of the machine. */
const unpacked = new URL("../../node_modules/.cache/prometheus", import.meta.url).pathname;
const program = join(unpacked, "usr/bin/promtool");

/** The program promtool on this machine, or undefined. */
export function installedPromtool(): string | undefined {
  const onPath = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const folders = [...onPath, "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];
  return [...folders.map((folder) => join(folder, "promtool")), program].find(isExecutable);
}

/** Unpacks promtool from Debian's Prometheus where we may; elsewhere throws a sentence that says what to install. */
export function ensurePromtool(): string {
  return ensureProgram({
    wanted: "promtool",
    debianPackage: "prometheus",
    isThere: `test -x '${program}'`,
    install: `mkdir -p '${unpacked}' && cd '${unpacked}' && apt-get download -q prometheus &&
      dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool && rm prometheus_*.deb`,
    otherwise: "Debian: apt-get install prometheus; macOS: brew install prometheus",
    find: installedPromtool,
  });
}

/** Why the tests can't have promtool here; undefined when they can. */
export function missingPromtool(): string | undefined {
  return whyMissing(ensurePromtool);
}
