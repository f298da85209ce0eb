import type { Isolate } from '../ports/isolate.ts'
import { parseCsv } from '../table/tabular-data.ts'
import { safeOneLine } from '../text/redact.ts'

/** What a gate wants to know of a text: whether it is JSON; its first line and the number of others as CSV. */
export type TextFormat = 'json' | 'csv'
export type ParsedText = { readonly problem: string } | { readonly header: readonly string[]; readonly rows: number }

/** Bytes parsed on the event loop, about 0.1 s at worst; more goes to the Isolate. */
const MOST_HERE = 1_048_576
/** A text of 10 MiB may hold five million values. */
const LIMIT = { ms: 5_000, mb: 512 }

/** Parses a text, a large one outside the event loop; `error` = it could not be done, so nobody knows. */
export async function parseText(
  format: TextFormat,
  text: string,
  isolate: Isolate,
): Promise<ParsedText | { readonly error: string }> {
  if (text.length <= MOST_HERE && Buffer.byteLength(text) <= MOST_HERE) return parseTextInProcess(format, text)
  const answer = await isolate.run('parse', { program: format, input: text }, LIMIT)
  if (!answer.ok) return { error: answer.message }
  // What the engine of that kind answers.
  return answer.value as unknown as ParsedText
}

export function parseTextInProcess(format: TextFormat, text: string): ParsedText {
  return format === 'csv' ? parsedCsv(text) : parsedJson(text)
}

function parsedCsv(text: string): ParsedText {
  const csv = parseCsv(text)
  if ('problem' in csv) return csv
  const [header = [], ...rows] = csv.records
  return { header, rows: rows.length }
}

function parsedJson(text: string): ParsedText {
  try {
    JSON.parse(text)
    return { header: [], rows: 0 }
  } catch (cause) {
    return { problem: cause instanceof SyntaxError ? safeOneLine(cause.message, 160) : 'it cannot be read' }
  }
}
