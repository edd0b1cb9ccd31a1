import { delimiter, join } from "node:path";
import { ensureProgram, isExecutable, whyMissing } from "./debian-package.ts";

/** Chromium without windows. The pages run in the same engine, for a quarter of the CPU time. */
const headlessShells = ["chromium-headless-shell", "chrome-headless-shell"];
const browsers = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const ofMacos = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

const installShell = "timeout 300 apt-get install -qy --no-install-recommends chromium-headless-shell";

/** The program of a headless shell, Chromium or Chrome on this machine, or undefined. */
export function installedChromium(): string | undefined {
  return installedShell() ?? [...onPath(browsers), ...ofMacos].find(isExecutable);
}

/** Installs Debian's headless shell where we may, also beside a Chromium. Elsewhere see `ensureChromium`. */
export function ensureCheapChromium(): string {
  try {
    return ensureProgram({
      wanted: "Chromium's headless shell",
      debianPackage: "chromium-headless-shell",
      isThere: "command -v chromium-headless-shell",
      install: installShell,
      otherwise: "Debian: apt-get install chromium-headless-shell",
      find: installedShell,
    });
  } catch {
    return ensureChromium();
  }
}

/** Installs Debian's Chromium where we may; elsewhere throws a sentence that says what to install. */
export function ensureChromium(): string {
  return ensureProgram({
    wanted: "Chromium",
    debianPackage: "chromium",
    isThere: "command -v chromium",
    otherwise: "Debian: apt-get install chromium-headless-shell; macOS: brew install --cask chromium; or Google Chrome",
    find: installedChromium,
  });
}

/** Why the tests can't have Chromium here; undefined when they can. */
export function missingChromium(): string | undefined {
  return whyMissing(ensureChromium);
}

function installedShell(): string | undefined {
  return onPath(headlessShells).find(isExecutable);
}

function onPath(names: readonly string[]): readonly string[] {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return names.flatMap((name) => [...folders, "/usr/bin", "/usr/local/bin"].map((folder) => join(folder, name)));
}
