import { delimiter, join } from "node:path";
import { ensureProgram, isExecutable, whyMissing } from "./debian-package.ts";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const ofMacos = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The program of a Chromium or Chrome on this machine, or undefined. */
export function installedChromium(): string | undefined {
  const onPath = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const folders = [...onPath, "/usr/bin", "/usr/local/bin"];
  const candidates = [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...ofMacos];
  return candidates.find(isExecutable);
}

/** Installs Debian's Chromium where we may; elsewhere throws a sentence that says what to install. */
export function ensureChromium(): string {
  return ensureProgram({
    wanted: "Chromium",
    debianPackage: "chromium",
    isThere: "command -v chromium",
    otherwise: "Debian: apt-get install chromium; macOS: brew install --cask chromium; or Google Chrome",
    find: installedChromium,
  });
}

/** Why the tests can't have Chromium here; undefined when they can. */
export function missingChromium(): string | undefined {
  return whyMissing(ensureChromium);
}
