/**
 * The fault of a platform call that never reached its operation. The faults of operations come from the platform part;
 * both have one form.
 */
export function platformFault(errorCode: number, sentence: string): string {
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n<ns1:requestFault xmlns:ns1="http://arrayent.com/zamapi/">' +
    `<errorCode>${errorCode}</errorCode><errorMsg>${escaped(sentence)}</errorMsg></ns1:requestFault>`
  );
}

/** The sentences are our own and hold no control characters. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
