// Installs the npm packages of this folder: those that the service needs or, for tests and checks, all of them.
// Plain JavaScript that any Node from 18 on can parse, because the packaged Node may not be there yet.
const { spawn, spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const { existsSync, readFileSync, renameSync, rmSync, writeFileSync } = fs;
const { dirname, join } = require("node:path");

const root = dirname(dirname(fs.realpathSync(__filename)));
const modules = join(root, "node_modules");
const lockFile = join(root, "package-lock.json");
const stampName = ".breezeway-setup";

/**
 * Installs when packages are missing or the lock file has changed since. Without `isDevelopment` the development
 * packages are left out. They are kept where they are installed already.
 */
exports.installPackages = ({ isDevelopment }) => {
  if (!existsSync(lockFile)) return;
  // A link leads to the packages of another folder, which are not ours to replace.
  if (fs.lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const isComplete = () => isOfThisLockFile() && (!isDevelopment || developmentPackages().every(isInstalled));
  if (isComplete()) return;
  withInstallLock((lock) => {
    if (isComplete()) return;
    const areAll = isDevelopment || developmentPackages().some(isInstalled);
    say(
      areAll
        ? "installing npm packages, with those for tests and checks …"
        : "installing the npm packages that the service needs …",
    );
    install(join(lock, String(process.pid)), areAll ? ["--include=dev"] : ["--omit=dev"]);
  });
};

exports.root = root;
exports.fail = fail;

function isOfThisLockFile() {
  const stamp = join(modules, stampName);
  if (existsSync(stamp)) return readFileSync(stamp, "utf8") === digestOfLockFile();
  if (!isInstalledByNpm()) return false;
  try {
    writeFileSync(stamp, digestOfLockFile());
  } catch {
    // The folder of another user: each start compares again.
  }
  return true;
}

/** Whether `npm ci` or `npm install` has installed what the lock file names. npm writes its list of packages last. */
function isInstalledByNpm() {
  const installed = packagesIn(join(modules, ".package-lock.json"));
  return Object.entries(packagesIn(lockFile))
    .filter(([path, wanted]) => path !== "" && isNeeded(wanted))
    .every(([path, { version, integrity }]) => {
      const found = installed[path];
      return found?.version === version && found?.integrity === integrity && isInstalled(path);
    });
}

/** Optional packages for this platform bring Node itself. Where there are two, the C library of the machine decides. */
function isNeeded({ dev, optional, devOptional, os, cpu, libc }) {
  if (dev || devOptional) return false;
  if (!optional) return true;
  const isOne = (names, name) => names !== undefined && [names].flat().includes(name);
  return libc === undefined && isOne(os, process.platform) && isOne(cpu, process.arch);
}

/** Without packages if the file is missing or npm has not finished it. */
function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages ?? {};
  } catch {
    return {};
  }
}

/** Without the root: a new version of Breezeway with the same packages needs no installation. */
function digestOfLockFile() {
  const { "": own, ...packages } = packagesIn(lockFile);
  return createHash("sha256").update(JSON.stringify(packages)).digest("hex");
}

/** The paths of packages that only tests and checks need. npm leaves optional ones out on other platforms. */
function developmentPackages() {
  const packages = packagesIn(lockFile);
  return Object.keys(packages).filter((path) => packages[path].dev && !packages[path].optional);
}

function isInstalled(path) {
  return existsSync(join(root, path));
}

/**
 * npm works in a folder of its own, and finished packages are moved from there: an installation that fails or is
 * interrupted leaves the packages of a running service as they are.
 */
function install(staging, which) {
  fs.mkdirSync(staging);
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) {
    if (existsSync(join(root, name))) fs.copyFileSync(join(root, name), join(staging, name));
  }
  npmCi(staging, which);
  const staged = join(staging, "node_modules");
  try {
    if (isOfThisLockFile()) addMissing(staged, modules);
    else replace(staged, join(staging, "replaced"));
  } catch (error) {
    // A folder can't be moved to another file system (node_modules is a mount), or while Windows has a file of it open.
    if (!["EXDEV", "EBUSY", "EPERM", "ENOTEMPTY"].includes(error.code)) throw error;
    rmSync(join(modules, stampName), { force: true });
    npmCi(root, which);
    writeFileSync(join(modules, stampName), digestOfLockFile());
  }
}

function replace(staged, replaced) {
  writeFileSync(join(staged, stampName), digestOfLockFile());
  if (existsSync(modules)) renameSync(modules, replaced);
  renameSync(staged, modules);
}

/** Leaves installed packages alone: a service that runs may load from them at any time. */
function addMissing(staged, target) {
  for (const name of fs.readdirSync(staged)) {
    const [from, to] = [join(staged, name), join(target, name)];
    if (!existsSync(to) || name === ".package-lock.json") renameSync(from, to);
    else if (name.startsWith("@") || name === ".bin") addMissing(from, to);
  }
}

/** Some versions of npm stop halfway and still exit with 0. The file that npm writes last shows whether it has finished. */
function npmCi(folder, which) {
  const writtenLast = join(folder, "node_modules", ".package-lock.json");
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  // Optional packages bring Node itself, also where npm is configured to leave them out.
  const args = [
    "ci",
    ...which,
    "--include=optional",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  rmSync(writtenLast, { force: true });
  for (let isSecond = false; ; isSecond = true) {
    const progress = showProgress(join(folder, "node_modules"));
    const done = spawnSync(npm, args, { cwd: folder, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
    endProgress(progress);
    if (done.error?.code === "ENOENT") fail("npm was not found. Breezeway installs its packages with it: install npm.");
    if (done.status !== 0) {
      const why = done.error?.message ?? (done.signal ? `ended by ${done.signal}` : `exit code ${done.status}`);
      fail(`npm ci failed (${why}). Run it by hand in ${root} to see why.`);
    }
    if (existsSync(writtenLast)) return;
    if (isSecond) fail(`npm stopped halfway twice. Run npm ci by hand in ${root} to see why.`);
    say("npm stopped halfway. Trying again …");
  }
}

/** A process that counts installed packages on the terminal: this one waits for npm. */
function showProgress(folder) {
  if (!process.stderr.isTTY || process.env.TERM === "dumb") return undefined;
  return spawn(process.execPath, [join(__dirname, "show-progress.js"), folder], { stdio: ["pipe", 2, 2] });
}

function endProgress(progress) {
  if (!progress) return;
  progress.kill("SIGKILL");
  process.stderr.write("\r\u001b[K");
}

/** Mutual exclusion of starts on a fresh clone: the second waits for the first. */
function withInstallLock(body) {
  const lock = join(root, ".breezeway-installing");
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let isWaiting = false; !isMade(lock); ) {
    if (isLeftBehind(lock)) {
      remove(lock);
      continue;
    }
    if (!isWaiting) say("another start is installing npm packages; waiting for it …");
    isWaiting = true;
    Atomics.wait(pause, 0, 0, 250);
  }
  const release = () => remove(lock);
  // Also when the installation fails.
  process.once("exit", release);
  writeFileSync(join(lock, "pid"), String(process.pid));
  body(lock);
  release();
  process.removeListener("exit", release);
}

function isMade(lock) {
  try {
    fs.mkdirSync(lock);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    return fail(
      `the npm packages in ${root} are missing or older than its package-lock.json, and this user can't install them there (${error.code}). Run ${join(root, "bin", "breezeway")} --version as the folder's owner.`,
    );
  }
}

/** A start that was killed while it installed leaves its lock behind. */
function isLeftBehind(lock) {
  const since = fs.statSync(lock, { throwIfNoEntry: false });
  // npm ci never takes this long, and the process id may have been given to another process since.
  if (since && Date.now() - since.mtimeMs > 600_000) return true;
  try {
    // Before the id is written, the installation has just begun.
    process.kill(Number(readFileSync(join(lock, "pid"), "utf8")) || process.pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

/** An npm whose start was killed may still write there. What it leaves goes with the next installation. */
function remove(folder) {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (error.code !== "ENOTEMPTY") throw error;
  }
}

function say(sentence) {
  process.stderr.write(`breezeway: ${sentence}\n`);
}

function fail(sentence) {
  say(sentence);
  process.exit(1);
}
