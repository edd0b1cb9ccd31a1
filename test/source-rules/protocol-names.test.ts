import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { protocols } from "../../src/ecosystems/registry.ts";

const root = new URL("../..", import.meta.url).pathname;

/** The registry, and examples of the interface that name an ecosystem as its documents do. */
const allowedFiles = new Map([
  ["src/ecosystems/registry.ts", "the list of protocols"],
  ["src/ecosystems/google-device-access/configuration.ts", "the host of Google's consent page"],
  ["src/ecosystems/google-device-access/thermostat-thing.ts", "the maker of Google's thermostats"],
  ["src/ecosystems/home-assistant/googles-integrations.ts", "the names of Home Assistant's integrations"],
  ["src/outlets/adaptor/adaptor-descriptions.ts", "an example value of anEcosystemName"],
  ["src/outlets/platform/device-operation-descriptions.ts", "the device name in an example answer"],
  ["src/outlets/v3/device-descriptions.ts", "the device name in example answers"],
  ["src/outlets/v3/link-session-descriptions.ts", "the ecosystem in an example of a link session"],
  ["src/outlets/v3/thing-descriptions.ts", "the maker and the source in an example of a thing"],
]);

describe("the protocols of ecosystems", () => {
  it("are named only in their own folders, in the registry, and in examples of the interface", () => {
    const files = globSync("src/**/*.ts", { cwd: root });
    assert.ok(files.length > 300, `only ${files.length} files were searched`);
    const naming = protocols.flatMap(({ protocol }) => {
      const others = files.filter((file) => !file.startsWith(`src/ecosystems/${protocol}/`));
      return others.flatMap((file) => linesNaming(protocol, readFileSync(join(root, file), "utf8"), file));
    });
    const unexpected = naming.filter((line) => !allowedFiles.has(line.split(":")[0]!));
    assert.deepEqual(unexpected, [], "ask src/ecosystems/registry.ts instead of naming a protocol");
    const stale = [...allowedFiles.keys()].filter((file) => !naming.some((line) => line.startsWith(`${file}:`)));
    assert.deepEqual(stale, [], "these files no longer name a protocol: remove them from the list");
  });

  it("each have a folder with the protocol's name", () => {
    const folders = globSync("src/ecosystems/*/protocol.ts", { cwd: root }).map((file) => file.split("/")[2]!);
    assert.deepEqual(folders.toSorted(), protocols.map(({ protocol }) => protocol).toSorted());
  });

  const spellings: readonly (readonly [protocol: string, text: string, isNamed: boolean])[] = [
    ["nest", `const name = "nest";`, true],
    ["nest", `import { nestConnector } from "./x.ts";`, true],
    ["nest", "class NestStream {}", true],
    ["nest", "const fromNest = 1;", true],
    ["nest", "const NEST_URL = 1;", true],
    ["nest", "a nested object, honest and nesting", false],
    ["home-assistant", "a Home Assistant instance", true],
    ["home-assistant", "const homeAssistantUrl = 1;", true],
    ["home-assistant", "home_assistant", true],
    ["home-assistant", "an assistant at home", false],
    ["google-device-access", "const googleDeviceAccess = 1;", true],
    ["google-device-access", "access to a device", false],
  ];
  for (const [protocol, text, isNamed] of spellings) {
    it(`${isNamed ? "are" : "are not"} seen in: ${text}`, () => {
      assert.equal(linesNaming(protocol, text, "file").length, isNamed ? 1 : 0);
    });
  }
});

/** The lines of a text that name the protocol, also inside a longer identifier. Comments count. */
function linesNaming(protocol: string, text: string, file: string): readonly string[] {
  const words = protocol
    .split("-")
    .map((word) => `${word}|${word[0]!.toUpperCase()}${word.slice(1)}|${word.toUpperCase()}`);
  // Not inside an English word: "honest", "nested", "nesting".
  const named = new RegExp(`(?<![a-z](?=[a-z]))(?:${words.join(")[-_ ]?(?:")})(?!ed\\b|ing\\b|s\\b)`);
  return text.split("\n").flatMap((line, i) => (named.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : []));
}
