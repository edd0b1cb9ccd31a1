import type { Command } from "commander";
import type { Config } from "../../config.ts";
import type { Administer } from "../../verify/throw-away.ts";

/** What the command needs of whoever runs it. */
export interface VerifySurroundings {
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly administer: Administer;
}

export interface VerifyTyped {
  readonly url?: string;
  readonly clientId?: string;
  readonly redirectUri: string;
  readonly user?: string;
  readonly browser?: true;
  readonly appId?: string;
  readonly device?: string;
  readonly simulator?: string;
  readonly ecosystem: string;
  readonly patient?: true;
  readonly report?: string;
  readonly json?: true;
}

export const verifyMeaning = "check a deployment end to end, as its clients meet it, and grade it";

/** The secrets that a verification may need are never flags. */
export function verifyOptions(command: Command): Command {
  return command
    .option("--url <address>", "the deployment's {base_url}; the service that runs here when left out")
    .option("--client-id <id>", "a registered client; its secret comes from BREEZEWAY_CLIENT_SECRET, a file or stdin")
    .option("--redirect-uri <uri>", "one of the client's redirect addresses", "http://127.0.0.1:8976/verify")
    .option("--user <name>", "a user who signs in; the password comes from BREEZEWAY_PASSWORD, a file or stdin")
    .option("--browser", "sign in yourself: verify prints the address and serves the redirect address meanwhile")
    .option("--app-id <number>", "the id of the user's tenant, for the platform's sign-in")
    .option("--device <id>", "an ordinary device of the user that may be written to")
    .option("--simulator <url>", "the simulator that the deployment's ecosystem points to")
    .option("--ecosystem <name>", "what the deployment calls that ecosystem", "nest")
    .option("--patient", "run what takes more than a minute as well")
    .option("--report <folder>", "write the report there, as verify.json and verify.html")
    .option("--json", "print one JSON object");
}

/** Loaded when it is run: no other command has to wait for it. */
export async function runVerify(typed: VerifyTyped, surroundings: VerifySurroundings): Promise<void> {
  return (await import("./verify-run.ts")).runVerify(typed, surroundings);
}
