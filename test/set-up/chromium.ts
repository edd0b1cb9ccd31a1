import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

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
  const present = installedChromium();
  if (present) return present;
  if (process.getuid?.() !== 0 || !isDebian()) {
    throw new Error(
      "The tests need Chromium: install it (Debian: apt-get install chromium; macOS: brew install --cask chromium) or Google Chrome.",
    );
  }
  process.stderr.write("The tests need Chromium: installing Debian's package chromium with apt-get.\n");
  // Test files start at once, each in its process: one installs, the others wait for it and find it done.
  const install = `command -v chromium >/dev/null ||
    { apt-get update -q && apt-get install -qy --no-install-recommends chromium; }`;
  const outcome = spawnSync("flock", [join(tmpdir(), "breezeway-tests-apt.lock"), "sh", "-c", install], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    encoding: "utf8",
  });
  const installed = installedChromium();
  if (!installed) {
    throw new Error(
      `The tests need Chromium, and apt-get install chromium did not bring it: ${lastLines(outcome.stderr ?? "") || outcome.error?.message}`,
    );
  }
  return installed;
}

/** Why the tests can't have Chromium here; undefined when they can. With CI=true it is an error: nothing is skipped. */
export function missingChromium(): string | undefined {
  try {
    ensureChromium();
    return undefined;
  } catch (error) {
    if (process.env.CI === "true" || !(error instanceof Error)) throw error;
    return error.message;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isDebian(): boolean {
  const release = "/etc/os-release";
  return existsSync(release) && /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(readFileSync(release, "utf8"));
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-3).join(" / ");
}
