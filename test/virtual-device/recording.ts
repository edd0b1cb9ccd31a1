/** Digests of what the virtual device showed when its attributes were fixed. */
export const recordingUrl = new URL("recorded-mirror.json", import.meta.url);
