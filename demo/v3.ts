/** Calls of /v3 as a client makes them, with the demo's own token. */
export interface V3 {
  /** The answer's body; throws the service's own words when it refuses. */
  // biome-ignore lint/suspicious/noExplicitAny: what the service answers has come as JSON
  get(path: string): Promise<any>;
  put(path: string, body: object): Promise<void>;
}

export function v3At(baseUrl: string, accessToken: () => string): V3 {
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${baseUrl}/v3/${path}`, {
      redirect: "error",
      method,
      headers: {
        authorization: `Bearer ${accessToken()}`,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const result = (await answer.json()) as { error_description?: string };
    if (!answer.ok) {
      throw new V3Refusal(answer.status, result.error_description ?? `The service answered ${answer.status}.`);
    }
    return result;
  };
  return {
    get: (path) => call("GET", path),
    put: async (path, body) => void (await call("PUT", path, body)),
  };
}

/** The service has refused a call, in these words. */
export class V3Refusal extends Error {
  readonly httpStatus: number;

  constructor(httpStatus: number, message: string) {
    super(message);
    this.httpStatus = httpStatus;
  }
}
