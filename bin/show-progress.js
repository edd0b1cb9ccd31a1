// Shows once a second for how long npm has been working, and how many packages it has put into a folder.
const { readdirSync } = require("node:fs");
const { join } = require("node:path");

const [folder] = process.argv.slice(2);
const startedMs = Date.now();
setInterval(() => {
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  process.stderr.write(`\r\u001b[K${seconds} s, ${countPackages()} packages `);
}, 1000);
// The launcher was killed.
process.stdin.on("end", () => process.exit(0)).resume();

function countPackages() {
  return namesIn(folder).reduce(
    (sum, name) => sum + (name.startsWith("@") ? namesIn(join(folder, name)).length : 1),
    0,
  );
}

function namesIn(path) {
  try {
    return readdirSync(path).filter((name) => !name.startsWith("."));
  } catch {
    return [];
  }
}
