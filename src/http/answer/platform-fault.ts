/**
 * The fault of a platform call that never reached its operation. Operations make their faults in `outlets/platform`, in
 * the same format.
 */
export function platformFault(errorCode: number, sentence: string): string {
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n<ns1:requestFault xmlns:ns1="http://arrayent.com/zamapi/">' +
    `<errorCode>${errorCode}</errorCode><errorMsg>${escapeXml(sentence)}</errorMsg></ns1:requestFault>`
  );
}

/** Escapes text for XML. The sentences are constants without control characters. */
function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
