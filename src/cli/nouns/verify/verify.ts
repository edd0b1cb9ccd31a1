import type { Command } from "commander";
import type { OwnCommand } from "../../command.ts";
import type { Noun } from "../../noun.ts";

const verify: OwnCommand = {
  name: "verify",
  meaning: "check a deployment end to end, over its public interface, and grade it",
  examples: ["verify", "verify --report ./report", "verify --url https://home.example --client-id c_1 --user ada"],
  options: withOptions,
  // Loaded on demand, so that other commands start faster.
  run: async (call) => (await import("./verify-run.ts")).runVerify(call),
};

/** Secrets are never flags. */
function withOptions(command: Command): Command {
  return command
    .option("--url <address>", "the deployment's base URL (default: the service on this data folder)")
    .option("--client-id <id>", "a registered client; its secret comes from BREEZEWAY_CLIENT_SECRET, a file or stdin")
    .option("--redirect-uri <uri>", "one of the client's redirect addresses", "http://127.0.0.1:8976/verify")
    .option("--user <name>", "a user who signs in; the password comes from BREEZEWAY_PASSWORD, a file or stdin")
    .option("--browser", "sign in yourself: verify prints the address and serves the redirect address meanwhile")
    .option("--app-id <number>", "the id of the user's tenant, for the platform's sign-in")
    .option("--device <id>", "an ordinary device of the user that may be written to")
    .option("--simulator <url>", "the simulator that the deployment uses as its ecosystem")
    .option(
      "--ecosystem <name>",
      "the deployment's name of that ecosystem; may be left out when only one is configured",
    )
    .option("--patient", "also run the checks that take more than a minute")
    .option("--report <folder>", "write the report there, as verify.json and verify.html");
}

export const verifyNoun: Noun = { name: "verify", meaning: verify.meaning, commands: [verify] };
