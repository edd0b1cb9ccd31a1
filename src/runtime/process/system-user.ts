import { userInfo } from "node:os";

/** Who runs a command on the machine: the process's user, and who called sudo. */
export interface SystemUser {
  readonly systemUser: string;
  readonly sudoUser?: string | undefined;
}

export function currentSystemUser(): SystemUser {
  const sudoUser = process.env.SUDO_USER || undefined;
  return readSystemUser({ systemUser: processUser(), sudoUser }) ?? { systemUser: "unknown" };
}

/** Undefined for a value that names no user: a command of an earlier version sends none. */
export function readSystemUser(value: unknown): SystemUser | undefined {
  const { systemUser, sudoUser } = (value ?? {}) as Record<string, unknown>;
  if (!isUserName(systemUser)) return undefined;
  return { systemUser, ...(isUserName(sudoUser) && sudoUser !== systemUser && { sudoUser }) };
}

/** A user without an entry in the machine's user database has a number only. */
function processUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}

function isUserName(value: unknown): value is string {
  return typeof value === "string" && /^[\p{L}\p{N}._@$\\ -]{1,64}$/u.test(value);
}
