const secrets = new Set([
  "token",
  "sealedToken",
  "accessToken",
  "refreshToken",
  "credential",
  "sealedCredential",
  "secToken",
  "password",
  "secret",
  "authorization",
]);
const redacted = "(secret)";

/** Whether the log redacts a field of this name. */
export function isSecretName(name: string): boolean {
  return secrets.has(name);
}

/** The fields as they may be logged: pino's own redaction needs the paths of secrets, ours finds them at any depth. */
export function safeFields(fields: Record<string, unknown>): Record<string, unknown> {
  // There is a line for each request, and most lines need no copy.
  let safe = fields;
  for (const name in fields) {
    const value = fields[name];
    const logged = safeValue(name, value);
    if (logged === value) continue;
    if (safe === fields) safe = { ...fields };
    safe[name] = logged;
  }
  return safe;
}

function safeValue(name: string, value: unknown): unknown {
  if (secrets.has(name)) return redacted;
  if (typeof value === "string" || typeof value === "number" || value === undefined) return value;
  return name === "error" ? describeError(value) : safeCopy(value);
}

function safeCopy(value: unknown): unknown {
  try {
    const json = JSON.stringify(value, (name, inner) => (secrets.has(name) ? redacted : inner));
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    // A circular object, for example. A log call must never throw.
    return "(can't be written)";
  }
}

/** Name, message, stack and cause of an error; never the values of its other fields. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { name: error.name, message: error.message, stack: error.stack?.split("\n").slice(1, 6).join("\n"), ...cause };
}
