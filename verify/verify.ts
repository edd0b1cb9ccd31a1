import { Deployment } from "./client/deployment.ts";
import { Failure } from "./outcome.ts";
import type { Report } from "./report/report.ts";
import { RowContext, type RowContextParts } from "./row-context.ts";
import { type RunOptions, runRows } from "./run-rows.ts";
import type { VerifyInput } from "./verify-input.ts";
import { byHandVisitor } from "./visitor/by-hand-visitor.ts";
import { scriptedVisitor } from "./visitor/scripted-visitor.ts";

/** No answer from the deployment's address. */
export class DeploymentUnreachable extends Error {}

export interface VerifyOptions extends RunOptions, Pick<RowContextParts, "signal" | "pause"> {
  /** Shows a text to the person who started verify. */
  readonly say: (text: string) => void;
}

/** Checks a deployment from outside, as a client, a browser and the ecosystem, and reports on each row. */
export async function verify(input: VerifyInput, options: VerifyOptions): Promise<Report> {
  const { signal, say, pause } = options;
  const deployment = new Deployment(input.url, () => signal);
  await deployment.call("/livez").catch((error) => {
    if (!(error instanceof Failure)) throw error;
    throw new DeploymentUnreachable(
      `Nothing answers at ${input.url}. Start the service, or give its address with --url.`,
    );
  });
  const visitor = input.person
    ? scriptedVisitor(deployment, input.person)
    : input.client && input.signsInByHand
      ? byHandVisitor(input.client.redirectUri, say, signal)
      : undefined;
  return runRows(new RowContext({ input, visitor, signal, ...(pause && { pause }) }), options);
}
