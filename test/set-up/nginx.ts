import { delimiter, join } from "node:path";
import { ensureProgram, isExecutable, whyMissing } from "./debian-package.ts";

/** Debian's package is unpacked here. Installed, it would start a server on port 80, now and at every start of the machine. */
const unpacked = new URL("../../node_modules/.cache/nginx", import.meta.url).pathname;
const program = join(unpacked, "usr/sbin/nginx");

/** The program of an nginx on this machine, or undefined. */
export function installedNginx(): string | undefined {
  const onPath = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const folders = [...onPath, "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];
  return [...folders.map((folder) => join(folder, "nginx")), program].find(isExecutable);
}

/** Unpacks Debian's nginx where we may; elsewhere throws a sentence that says what to install. */
export function ensureNginx(): string {
  return ensureProgram({
    wanted: "nginx",
    debianPackage: "nginx",
    isThere: `test -x '${program}'`,
    install: `mkdir -p '${unpacked}' && cd '${unpacked}' &&
      apt-get install -qy --no-install-recommends $(${librariesOf("nginx")}) &&
      apt-get download -q nginx && dpkg-deb -x nginx_*.deb . && rm nginx_*.deb`,
    otherwise: "Debian: apt-get install nginx; macOS: brew install nginx",
    find: installedNginx,
  });
}

/** Why the tests can't have nginx here; undefined when they can. */
export function missingNginx(): string | undefined {
  return whyMissing(ensureNginx);
}

function librariesOf(debianPackage: string): string {
  return `apt-cache depends ${debianPackage} | sed -n 's/^ *Depends: *\\(z*lib[^ ]*\\)$/\\1/p'`;
}
