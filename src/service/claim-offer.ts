import type { Readable } from "node:stream";
import { linkLifetime } from "../operators/one-time-links.ts";
import type { Operators } from "../operators/operators.ts";

export interface OfferedTo {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: { readonly isTTY?: boolean; write(text: string): unknown };
}

/**
 * While there is no operator: prints the claim link on a terminal, and another one at Enter. Elsewhere it prints one line
 * without a link, because a journal keeps what is printed. Returns a function that ends the offer.
 */
export async function offerClaim(
  {
    operators,
    baseUrl,
    say,
  }: {
    readonly operators: Pick<Operators, "hasOperators" | "claimLink">;
    readonly baseUrl: string;
    readonly say: (sentence: string) => void;
  },
  { input, output }: OfferedTo,
): Promise<() => void> {
  if (await operators.hasOperators()) return () => undefined;
  if (!input.isTTY || !output.isTTY) {
    say("There is no operator yet. To open the console, get a link with: breezeway operator claim");
    return () => undefined;
  }
  const minutes = linkLifetime.claimMs / 60_000;
  const print = async () => {
    const link = `${baseUrl}/console/claim/${await operators.claimLink()}`;
    output.write(
      `\nThere is no operator yet. Open this link within ${minutes} minutes; it works once. Enter prints another.\n\n  ${link}\n\n`,
    );
  };
  const onEnter = async () => {
    if (!(await operators.hasOperators())) return print();
    output.write(`There is an operator now. Sign in at ${baseUrl}/console\n`);
    end();
  };
  const listen = () => {
    onEnter().catch((error: unknown) => output.write(`No link could be made: ${(error as Error).message}\n`));
  };
  const end = () => {
    input.off("data", listen);
    input.pause();
  };
  await print();
  input.on("data", listen);
  return end;
}
