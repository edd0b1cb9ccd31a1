import { typed } from "./typed.ts";

/** Runs a command line in this process: for set-up, and for tests that do not look at the process of the command. */
export async function runCommand(
  args: readonly string[],
  { environment = {}, input = "" }: { readonly environment?: Record<string, string>; readonly input?: string } = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const { code, out, err } = await typed(args, { environment, input });
  return { code, stdout: out, stderr: err };
}
