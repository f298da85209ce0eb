import type { Json } from './json.ts'

/** Keys and indexes from the root of the document. */
export type Path = readonly (string | number)[]

/** Where a value and its parts stand: `at` is an offset into the text, or a running number without one. */
export interface Spot {
  readonly at: number
  readonly keys?: ReadonlyMap<string, { readonly at: number; readonly value: Spot }>
  readonly items?: readonly Spot[]
}

/** A document that could be read: its value and its places. `text` is absent when it came as an object. */
export interface Source {
  readonly value: Json
  readonly spot: Spot
  readonly text?: string
}

/** The offset of a value, or of its key; of the nearest enclosing value when the path does not exist. */
export function locate(root: Spot, path: Path, on: 'key' | 'value'): number {
  let spot = root
  let key = root.at
  for (const part of path) {
    const entry = typeof part === 'string' ? spot.keys?.get(part) : undefined
    const next = typeof part === 'string' ? entry?.value : spot.items?.[part]
    if (next === undefined) return spot.at
    key = entry?.at ?? next.at
    spot = next
  }
  return on === 'key' ? key : spot.at
}

/** `blocks[1].inputs.plan.from`; keys that are no plain words are quoted in brackets. */
export function pathText(path: Path): string {
  return path.map((part, index) => partText(part, index === 0)).join('')
}

/** 1-based line and column (UTF-16 units) of an offset; line breaks as in YAML: \n, \r\n, \r. */
export function lineFinder(text: string): (at: number) => { readonly line: number; readonly column: number } {
  const starts = [0]
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length)
  return (at) => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: at - (starts[low] ?? 0) + 1 }
  }
}

function partText(part: string | number, first: boolean): string {
  if (typeof part === 'number') return `[${part}]`
  if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(part)) return first ? part : `.${part}`
  return `[${JSON.stringify(part.slice(0, 80))}]`
}
