// The AWS Lambda function of an Alexa skill: it forwards each directive to Breezeway, and its answer to Alexa.
// Environment: DIRECTIVES_URL, the address that `breezeway outlet add alexa` prints. It needs Node 18 or later.

/** Alexa gives up after 8 seconds. */
const waitMs = 7_500;

export async function handler(event) {
  const url = new URL(process.env.DIRECTIVES_URL);
  // The region selects the event gateway to which changes are reported later.
  url.searchParams.set("region", process.env.AWS_REGION ?? "");
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(event),
      redirect: "error",
      signal: AbortSignal.timeout(waitMs),
    });
    if (response.ok) return await response.json();
    // The body is not logged: it could repeat parts of the directive.
    console.error(`Breezeway answered ${response.status}`);
    return failed(event, response.status === 429 ? "RATE_LIMIT_EXCEEDED" : "INTERNAL_ERROR");
  } catch (error) {
    console.error(`Breezeway could not be reached: ${error.name}`);
    return failed(event, "BRIDGE_UNREACHABLE");
  }
}

/** Alexa wants an event also when there is no answer. */
function failed({ directive: { header, endpoint } = {} }, type) {
  const isGrant = header?.namespace === "Alexa.Authorization";
  return {
    event: {
      header: {
        namespace: isGrant ? "Alexa.Authorization" : "Alexa",
        name: "ErrorResponse",
        payloadVersion: "3",
        messageId: crypto.randomUUID(),
        ...(header?.correlationToken && { correlationToken: header.correlationToken }),
      },
      ...(endpoint?.endpointId && { endpoint: { endpointId: endpoint.endpointId } }),
      payload: { type: isGrant ? "ACCEPT_GRANT_FAILED" : type, message: "Breezeway did not answer. Try again later." },
    },
  };
}
