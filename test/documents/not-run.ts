import type { Block } from "./blocks.ts";

/** A block that the test does not run, by its first line (without one: the whole document), and the reason. */
export interface NotRun {
  readonly document: string;
  readonly firstLine?: string;
  readonly because: string;
}

export const notRun: readonly NotRun[] = [
  {
    document: "README.md",
    firstLine: "npm start",
    because: "it runs until it is stopped: the demo that all other blocks talk to was started as it does",
  },
  { document: "README.md", firstLine: "npm test", because: "these very tests are what it runs" },
  {
    document: "docs/own-service.md",
    firstLine: "breezeway serve",
    because: "it runs until it is stopped: the stories start it, each in a process of its own",
  },
  {
    document: "docs/command-line.md",
    because: "a reference, made from the commands themselves: test/cli runs them",
  },
  {
    document: "docs/first-steps.md",
    firstLine: "cd breezeway",
    because: "it goes on with npm start, which runs until it is stopped: all other blocks talk to a demo started so",
  },
  {
    document: "docs/verify.md",
    firstLine: 'breezeway verify --url "$DEPLOYMENT" --client-id "$CLIENT" --browser',
    because: "a person has to sign in with a browser: test/verify does that",
  },
  {
    document: "examples/device-cloud/README.md",
    firstLine: "npm start --prefix examples/device-cloud",
    because: "it runs until it is stopped: test/examples starts it and sends it commands",
  },
  {
    document: "examples/device-cloud/README.md",
    firstLine: `LAMP=$(breezeway thing list --tenant Demo --kind light --room Kitchen | grep -o 't_[A-Za-z0-9_-]*' | head -1)`,
    because: "it needs the device cloud of the block before it: test/examples sends such a command",
  },
  {
    document: "examples/rule-engine/README.md",
    firstLine: "npm start --prefix examples/rule-engine",
    because: "it runs until it is stopped, and a person has to sign in: test/examples does both",
  },
  {
    document: "examples/voice-assistant/README.md",
    firstLine: "npm start --prefix examples/voice-assistant",
    because: "it runs until it is stopped, and a person has to sign in: test/examples does both",
  },
  {
    document: "examples/voice-assistant/README.md",
    firstLine: "npm start --prefix examples/voice-assistant -- turn on the den fan",
    because: "it needs the sign-in of the block before it: test/examples says such sentences",
  },
  {
    document: "sdk/README.md",
    firstLine: 'export SDK="$PWD/sdk"',
    because: "docs/first-steps.md packs and installs it in the same way; test/sdk runs the examples below it",
  },
];

export function reasonFor({ document, text }: Block): NotRun | undefined {
  const firstLine = text.split("\n")[0];
  return notRun.find((one) => one.document === document && (one.firstLine ?? firstLine) === firstLine);
}
