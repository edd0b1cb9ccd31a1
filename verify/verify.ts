import { byHandVisitor } from "./by-hand-visitor.ts";
import { Deployment } from "./deployment.ts";
import type { Given } from "./given.ts";
import { Failure } from "./outcome.ts";
import type { Report } from "./report.ts";
import { type RunOptions, runRows } from "./run.ts";
import { scriptedVisitor } from "./scripted-visitor.ts";
import { Verification, type VerificationParts } from "./verification.ts";

/** Nobody answers at the deployment's address. */
export class DeploymentUnreachable extends Error {}

export interface VerifyOptions extends RunOptions, Pick<VerificationParts, "signal" | "pause"> {
  /** Words for the person who started it. */
  readonly say: (words: string) => void;
}

/** Checks a deployment from outside, as a client, a browser and the ecosystem meet it, and reports on each row. */
export async function verify(given: Given, options: VerifyOptions): Promise<Report> {
  const { signal, say, pause } = options;
  const deployment = new Deployment(given.url, () => signal);
  await deployment.call("/livez").catch((error) => {
    if (!(error instanceof Failure)) throw error;
    throw new DeploymentUnreachable(
      `Nothing answers at ${given.url}. Start the service, or give its address with --url.`,
    );
  });
  const visitor = given.person
    ? scriptedVisitor(deployment, given.person)
    : given.client && given.signsInByHand
      ? byHandVisitor(given.client.redirectUri, say, signal)
      : undefined;
  return runRows(new Verification({ given, visitor, signal, ...(pause && { pause }) }), options);
}
