/** The first place at which a text is no JSON, as people find it in an editor: both counted from 1. */
export interface Place {
  line: number;
  column: number;
}

type Due = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end';

const BLANK = /[ \t\n\r]*/y;
const PLAIN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;

/**
 * Where `JSON.parse` failed: its own message names no place in a short text, and none at the end of a text. The place is the first character that
 * no JSON text could have there.
 */
export function jsonFault(text: string): Place {
  const fault = faultIn(text);
  const start = text.lastIndexOf('\n', fault - 1) + 1;
  return {
    line: text.slice(0, start).split('\n').length,
    column: [...text.slice(start, fault)].length + 1,
  };
}

function faultIn(text: string): number {
  const ends: ('}' | ']')[] = [];
  let due: Due = 'value';
  for (let at = after(BLANK, text, 0); at < text.length; at = after(BLANK, text, at)) {
    const one = text[at];
    if (due === ':') {
      if (one !== ':') return at;
      due = 'value';
      at++;
    } else if (due === ', or end') {
      const end = ends.at(-1);
      if (one === ',' && end) due = end === '}' ? 'name' : 'value';
      else if (one === end) ends.pop();
      else return at;
      at++;
    } else if ((one === '}' && due === 'name or }') || (one === ']' && due === 'value or ]')) {
      ends.pop();
      due = ', or end';
      at++;
    } else if (one === '"') {
      const end = endOfString(text, at + 1);
      if (text[end] !== '"') return end;
      due = due.startsWith('name') ? ':' : ', or end';
      at = end + 1;
    } else if (due.startsWith('name')) return at;
    else if (one === '{' || one === '[') {
      ends.push(one === '{' ? '}' : ']');
      due = one === '{' ? 'name or }' : 'value or ]';
      at++;
    } else {
      const end = after(PLAIN, text, at);
      if (end === at) return at;
      due = ', or end';
      at = end;
    }
  }
  return text.length;
}

/** The closing quote, or the first character that no string may hold. */
function endOfString(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"' && text.charCodeAt(at) >= 0x20) {
    const next = text[at] === '\\' ? after(ESCAPE, text, at) : at + 1;
    if (next === at) return at;
    at = next;
  }
  return at;
}

function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
