import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import type { Command } from "commander";
import { describeProgram } from "../../src/cli/program.ts";
import { commandLineReference, programToDescribe } from "../../src/cli/reference.ts";
import { sampleOf } from "../set-up/sample.ts";
import { typed } from "./typed.ts";

/** All complete commands, with their words. */
function commandsOf(
  command: Command,
  path: readonly string[] = [],
): readonly (readonly [readonly string[], Command])[] {
  if (command.commands.length === 0) return [[path, command]];
  return command.commands.flatMap((one) => commandsOf(one, [...path, one.name()]));
}

const commands = commandsOf(programToDescribe(describeProgram));

describe("the help of every command", () => {
  it("has a description, an example and a description of each option", async () => {
    assert.ok(commands.length > 50);
    for (const [path, command] of commands) {
      const line = path.join(" ");
      assert.ok(command.description().length > 5, line);
      for (const { description, long } of command.options) assert.ok(description.length > 3, `${line} ${long}`);
      for (const { description } of command.registeredArguments) assert.ok(description.length > 3, line);
    }
    for (const [path] of sampleOf(commands, { everyNth: 5 })) {
      const { code, out, err } = await typed([...path, "--help"]);
      assert.deepEqual([code, err], [0, ""], path.join(" "));
      assert.match(out, /\nExamples:\n {2}.*breezeway /, path.join(" "));
    }
  });

  it("offers no flag for a secret, which others on the machine could read", () => {
    for (const [path, command] of commands) {
      for (const { long } of command.options) {
        // Durations and file names are not secrets.
        if (/^--(access|refresh)-token-(seconds|days)$|-file$/.test(long!)) continue;
        assert.doesNotMatch(long!, /password|secret|token/, `${path.join(" ")} ${long}`);
      }
    }
  });

  it("is the text of docs/command-line.md", () => {
    const kept = readFileSync(new URL("../../docs/command-line.md", import.meta.url), "utf8");
    const now = commandLineReference(programToDescribe(describeProgram));
    assert.equal(kept, now, "write it again with: bin/breezeway --run src/cli/write-reference.ts");
  });
});

describe("the command help", () => {
  it("prints the help of the command whose words follow", async () => {
    for (const [asked, words] of [
      [
        ["help", "device", "get"],
        ["device", "get"],
      ],
      [
        ["help", "devices", "get", "7"],
        ["device", "get"],
      ],
      [
        ["device", "help", "get"],
        ["device", "get"],
      ],
      [
        ["help", "operator", "token", "make"],
        ["operator", "token", "make"],
      ],
      [["help", "link"], ["link"]],
      [["help"], []],
    ] as const) {
      const [help, option] = [await typed(asked), await typed([...words, "--help"])];
      assert.deepEqual([help.code, help.err, help.out], [0, "", option.out], asked.join(" "));
    }
  });
});

describe("an unknown word", () => {
  it("is answered with the nearest known word, on standard error, with exit code 2", async () => {
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [
        ["devces", "list"],
        /unknown command 'devces'\n\(Did you mean one of device, devices\?\)|\(Did you mean devices?\?\)/,
      ],
      [["event", "wach"], /Did you mean watch\?\)\n\(breezeway event --help lists its commands\)/],
      [["serve", "--prot", "1"], /Did you mean --port\?\)\n\(breezeway serve --help lists its options\)/],
      [["device", "get", "2", "--wach"], /Did you mean --watch\?\)\n\(breezeway device get --help lists its options\)/],
      [["completion", "tcsh"], /Allowed choices are bash, zsh, fish/],
      [["user", "show"], /missing required argument 'user'\n\(breezeway user show --help/],
      [["device"], /^Usage: breezeway device\|devices/],
      [["link", "lst"], /unknown command 'lst'\n\(Did you mean list\?\)\n\(breezeway link --help lists its commands\)/],
      [["help", "nope"], /unknown command 'nope'\n/],
      [["help", "device", "gte"], /unknown command 'gte'\n\(Did you mean (one of )?(get|set)/],
      [["device", "help", "gte"], /unknown command 'gte'\n/],
      [["help", "link", "lst"], /unknown command 'lst'\n\(Did you mean list\?\)/],
    ];
    for (const [args, sentence] of wrong) {
      const { code, out, err } = await typed(args);
      assert.deepEqual([code, out], [2, ""], args.join(" "));
      assert.match(err, sentence);
    }
  });

  it("does not include the singular or plural of a known noun", async (t) => {
    const environment = { BREEZEWAY_DATA: t.name };
    for (const noun of [
      "tenants",
      "users",
      "clients",
      "devices",
      "things",
      "links",
      "alerts",
      "events",
      "webhooks",
      "profiles",
    ]) {
      assert.equal((await typed([noun, "--help"], { environment })).code, 0, noun);
    }
  });
});
