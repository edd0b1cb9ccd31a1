import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const source = new URL("../../src/", import.meta.url).pathname;

/** What parses text without bounds, or hands it to something that does. */
const parses = /\bJSON\s*\.\s*parse\b|\.\s*json\s*\(\s*\)|\bfetch\s*\(/;

/** Folders without a connection to outside clouds. What they parse is Breezeway's own, or an operator's. */
const ownText: Readonly<Record<string, string>> = {
  "cli config": "settings, and answers of this service to its own command line",
  "devices events home idempotency identity metrics oauth own-things provisioning store virtual-device":
    "rows of the store",
  "quotas requests service": "answers of other nodes",
  "link-sessions outlets": "sealed sessions, cursors, and pages' own data",
};

/** Files of the other folders, which do speak to outside clouds. */
const ownFiles: Readonly<Record<string, string>> = {
  "runtime/json/untrusted-json.ts": "the reader itself",
  "runtime/process/version.ts": "package.json",
  "runtime/safe-fields.ts": "a copy of log fields",
  "http/request/incoming.ts": "bodies of requests, with bounds of their own (jsonParts)",
  "operators/openid/openid-sign-in.ts": "a sealed cookie",
  "federation/credential.ts": "a sealed credential",
  "federation/thing-marks.ts": "rows of the store",
  "federation/notices.ts": "rows of the store",
  "assistants/google-home/settings.ts": "an operator's key file",
  "assistants/reporter/changes.ts": "rows of the store",
  "assistants/reporter/sending.ts": "a sealed credential",
  "assistants/alexa/reports.ts": "rows of the store",
  "assistants/last-directives.ts": "answers of other nodes",
  "assistants/outlets.ts": "sealed settings",
};

const isOwn = (file: string) =>
  file in ownFiles ||
  Object.keys(ownText)
    .flatMap((folders) => folders.split(" "))
    .includes(file.split("/")[0] ?? "");

describe("text of outside clouds", () => {
  const found = globSync("**/*.ts", { cwd: source })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => parses.test(readFileSync(join(source, file), "utf8")));

  it("is parsed by parseUntrusted alone, which checks its bounds first", () => {
    assert.deepEqual(
      found.filter((file) => !isOwn(file)),
      [],
    );
    for (const wrong of ["JSON.parse(text)", "map(JSON.parse)", "await answer.json()", "await fetch(url)"]) {
      assert.match(wrong, parses);
    }
    for (const right of ["parseUntrusted(text)", "JSON.stringify(value)", "jsonBody", "prefetch"]) {
      assert.doesNotMatch(right, parses);
    }
  });

  it("is not in the files that are excepted, and each exception is needed", () => {
    assert.deepEqual(
      Object.keys(ownFiles).filter((file) => !found.includes(file)),
      [],
    );
    const folders = Object.keys(ownText).flatMap((names) => names.split(" "));
    assert.deepEqual(
      folders.filter((folder) => !found.some((file) => file.startsWith(`${folder}/`))),
      [],
    );
  });
});
