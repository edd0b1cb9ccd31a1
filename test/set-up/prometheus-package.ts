import { delimiter, join } from "node:path";
import { ensureProgram, isExecutable } from "./debian-package.ts";

/** Debian's package is unpacked here. Installed, it would start a server, now and at every start of the machine. */
const unpacked = new URL("../../node_modules/.cache/prometheus", import.meta.url).pathname;

/** A program of Debian's package prometheus: unpacked where we may, elsewhere an error that says what to install. */
export function ensurePrometheusProgram(name: "prometheus" | "promtool"): string {
  const program = join(unpacked, "usr/bin", name);
  const onPath = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const folders = [...onPath, "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];
  return ensureProgram({
    wanted: name,
    debianPackage: "prometheus",
    isThere: `test -x '${program}'`,
    install: `mkdir -p '${unpacked}' && cd '${unpacked}' && apt-get download -q prometheus &&
      dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/prometheus ./usr/bin/promtool && rm prometheus_*.deb`,
    otherwise: "Debian: apt-get install prometheus; macOS: brew install prometheus",
    find: () => [...folders.map((folder) => join(folder, name)), program].find(isExecutable),
  });
}
