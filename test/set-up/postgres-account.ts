import { readFileSync } from "node:fs";

/** The user that the server runs as, when that isn't ours. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root: then it runs as Debian's postgres, or as nobody where there is none. */
export function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = new Map(
    readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => [line.split(":")[0], line.split(":")]),
  );
  const fields = accounts.get("postgres") ?? accounts.get("nobody");
  if (!fields) throw new Error("PostgreSQL can't run as root, and this machine has no user postgres to run it as.");
  return { uid: Number(fields[2]), gid: Number(fields[3]) };
}
