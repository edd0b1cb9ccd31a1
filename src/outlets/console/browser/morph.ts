/**
 * Makes `from` equal to `to` and keeps every element that both have: the focus, the selection, the scroll position and
 * open details stay. Elements with an id are matched by it, others by their place and name.
 */
export function morph(from: Element, to: Element): void {
  morphAttributes(from, to);
  // What somebody types or has open belongs to them until they leave it.
  if (from === document.activeElement && from.matches("input, textarea, select")) return;
  morphChildren(from, to);
}

function morphAttributes(from: Element, to: Element): void {
  const kept = new Set(from.localName === "details" ? ["open"] : []);
  for (const { name } of [...from.attributes]) {
    if (!kept.has(name) && !to.hasAttribute(name)) from.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) {
    if (!kept.has(name) && from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
}

function morphChildren(from: Element, to: Element): void {
  let next = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const match = matchOf(from, next, wanted);
    if (match === undefined) {
      from.insertBefore(document.importNode(wanted, true), next);
      continue;
    }
    if (match !== next) from.insertBefore(match, next);
    if (match instanceof Element && wanted instanceof Element) morph(match, wanted);
    else if (match.nodeValue !== wanted.nodeValue) match.nodeValue = wanted.nodeValue;
    next = match.nextSibling;
  }
  while (next !== null) {
    const rest = next.nextSibling;
    next.remove();
    next = rest;
  }
}

/** The child of `from` that becomes `wanted`; undefined when there is none. */
function matchOf(from: Element, next: ChildNode | null, wanted: ChildNode): ChildNode | undefined {
  if (wanted instanceof Element && wanted.id !== "") {
    const same = document.getElementById(wanted.id);
    return same?.parentNode === from && same.localName === wanted.localName ? same : undefined;
  }
  const isAlike =
    next !== null &&
    next.nodeName === wanted.nodeName &&
    next.nodeType === wanted.nodeType &&
    !(next instanceof Element && next.id !== "");
  return isAlike ? next : undefined;
}
