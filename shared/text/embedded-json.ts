import type { Json } from './json.ts'

/** Lengths of the text walked in all: every place where a value may begin costs a walk to its end. */
const MAX_WALKS = 30

/** The first JSON object or list inside a text; undefined = none, or none before 30 lengths of it were walked. */
export function firstJson(text: string): Json | undefined {
  return search(text).found
}

/** Whether every place where a value may begin was tried, so that none found is none there. */
export function isSearchedWhole(text: string): boolean {
  return search(text).whole
}

/** An opening bracket with what JSON has behind it: links, check boxes and code cost nothing. */
const START = /\{(?=[ \t\r\n]*["}])|\[(?=[ \t\r\n]*(?:[\]{["\d-]|true|false|null))/g

function search(text: string): { readonly found?: Json; readonly whole: boolean } {
  let left = MAX_WALKS * text.length
  for (const { index } of text.matchAll(START)) {
    if (left <= 0) return { whole: false }
    const end = endOf(text, index)
    left -= (end ?? text.length) - index
    const found = end === undefined ? undefined : parsed(text.slice(index, end))
    if (found !== undefined) return { found, whole: true }
  }
  return { whole: true }
}

/** Behind the bracket that closes the one at `start`; brackets in JSON strings do not count. One pass, character by character. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const mark = text[at]
    if (mark === '"') at = endOfString(text, at)
    else if (mark === '{' || mark === '[') depth += 1
    else if (mark === '}' || mark === ']') depth -= 1
    if (depth === 0) return at + 1
  }
  return undefined
}

/** The quote that closes the one at `start`; the text's length when none does. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at
    if (text[at] === '\\') at += 1
  }
  return text.length
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
