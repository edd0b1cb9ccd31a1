/** The integrations of Home Assistant that show devices of a Google account. */
const integrations: readonly string[] = ["nest", "google_home", "google_assistant_sdk", "google_assistant"];

/**
 * Whether the thing's device came from Google. A row of a version that did not store the integration may be such a
 * thing, until the next report tells it.
 */
export function showsGooglesDevice({ integration }: { readonly integration?: string | null }): boolean {
  return integration === undefined || (integration !== null && integrations.includes(integration));
}
