/**
 * Texts that would do harm in a page that does not escape them, by the context that they aim at. An element or attribute
 * that one of them creates has the name `data-hurt`, and an address that one of them loads is on `hurt.example`.
 */
export const hostileTexts: Readonly<Record<string, string>> = {
  element: "<b data-hurt>bold</b>",
  "element that loads": '<img data-hurt src="//hurt.example/1">',
  "element with a handler": "<img data-hurt src=x onerror=alert(1)>",
  "self-closing handler": "<svg data-hurt/onload=alert(1)>",
  "unclosed element": "<iframe data-hurt src=//hurt.example",
  "double-quoted attribute": '" data-hurt="1',
  "single-quoted attribute": "' data-hurt='1",
  "bare attribute": "x data-hurt onmouseover=alert(1)",
  "handler that takes the focus": '" data-hurt autofocus onfocus="alert(1)',
  "end of a tag": '"><a data-hurt href=//hurt.example>x</a>',
  script: "<script data-hurt>alert(1)</script>",
  "end of a script": "</script><b data-hurt>x",
  "string in a script": "';alert(1);//",
  "template literal": `$${"{alert(1)}"}\`+alert(1)+\``,
  "address of a script": "javascript:alert(1)//data-hurt",
  "address with a tab": "java&Tab;script:alert(1)",
  "address of data": "data:text/html,<b data-hurt>x",
  "address without a scheme": "//hurt.example/2",
  "end of a style": "</style><b data-hurt>x",
  "value in a style": "red;background:url(//hurt.example/3)",
  "end of a title": "</title><b data-hurt>x",
  "end of a text field": "</textarea><b data-hurt>x",
  "end of a dialog": "</dialog></form><form data-hurt action=//hurt.example>",
  comment: "--><b data-hurt>x<!--",
  "character references": "&lt;b data-hurt&gt;&#60;b data-hurt&#62;",
  "template of a framework": "{{constructor.constructor('alert(1)')()}}",
  "template of a server": "<%= 7*7 %>#{7*7}",
  "base address": "<base data-hurt href=//hurt.example/>",
  refresh: "<meta data-hurt http-equiv=refresh content=0;url=//h>",
  "right to left": "\u202egnp.evil\u2066 data",
  "zero width": "ad\u200ba\u2060\ufeffmin",
  "stacked marks": `Z${"\u0301".repeat(50)}`,
  "widest characters": "﷽".repeat(20),
  "one long word": "W".repeat(60),
  "formula of a spreadsheet": '=HYPERLINK("//hurt.example",1)',
  "another formula": "@SUM(1+1)*cmd|' /C calc'!A0",
  "path that climbs": "../../console/do?act=key+rotate",
  "statement of a database": "Robert'); DROP TABLE users;--",
  "line of a log": 'ok\\n{"level":"error"}',
  "half a surrogate pair": "half \ud83d",
  "NUL and other controls": "a\u0000b\u001b[31m\r\nSet-Cookie: a=b",
};

/** Whether the service stores the text at all: it refuses control characters and half surrogate pairs. */
export function isStored(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text);
}
