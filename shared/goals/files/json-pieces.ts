/** A value of a JSON text and where it stands: `end` is the offset behind it. */
export interface JsonPiece {
  readonly start: number
  readonly end: number
}

/**
 * The members of the object that begins at `at`, of a text JSON.parse() accepts. Of a key that is there twice the last,
 * as JSON.parse() has it. Goes through values without recursion: outputs of a notebook nest as they like.
 */
export function membersOf(text: string, at: number): ReadonlyMap<string, JsonPiece> {
  const members = new Map<string, JsonPiece>()
  for (let cursor = gap(text, at + 1); text[cursor] === '"'; cursor = gap(text, cursor)) {
    const named = endOf(text, cursor)
    const key: unknown = JSON.parse(text.slice(cursor, named))
    const start = gap(text, named)
    cursor = endOf(text, start)
    members.set(String(key), { start, end: cursor })
  }
  return members
}

/** The items of the list that begins at `at`. */
export function itemsOf(text: string, at: number): readonly JsonPiece[] {
  const items: JsonPiece[] = []
  for (let cursor = gap(text, at + 1); cursor < text.length && text[cursor] !== ']'; cursor = gap(text, cursor)) {
    const start = cursor
    cursor = endOf(text, start)
    items.push({ start, end: cursor })
  }
  return items
}

/** Where white space, commas and colons end. */
function gap(text: string, at: number): number {
  return skip(text, /[\s,:]*/y, at)
}

function skip(text: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  pattern.test(text)
  return pattern.lastIndex
}

/** Where the value that begins at `at` ends. */
function endOf(text: string, at: number): number {
  if (text[at] === '"') return endOfString(text, at)
  if (text[at] !== '{' && text[at] !== '[') return skip(text, /[^\s,\]}]*/y, at)
  const marks = /["[\]{}]/g
  marks.lastIndex = at
  let depth = 0
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') marks.lastIndex = endOfString(text, mark.index)
    else depth += mark[0] === '{' || mark[0] === '[' ? 1 : -1
    if (depth === 0) return mark.index + 1
  }
  return text.length
}

function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0
    while (text[quote - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return quote + 1
  }
  return text.length
}
