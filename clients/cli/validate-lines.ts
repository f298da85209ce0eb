import * as z from 'zod'
import { parseDag } from '../../shared/dag/parse.ts'
import type { DagError } from '../../shared/dag/report.ts'
import { splitLines } from '../../shared/split-lines.ts'
import { knownProviders } from './check-files.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'

/**
 * `sluice validate --ndjson`: a line {"id","yaml"} in, a line {"id","valid","errors","order"} out, in the same order
 * and at once, so that a tool may keep the process and ask as it goes. Every error has all six members, null where
 * there is no such place or hint. A line that cannot be read is answered with code malformed_line; the rest goes on.
 */
export async function validateLines(session: Session): Promise<void> {
  const providers = knownProviders()
  let number = 0
  for await (const line of splitLines(process.stdin.setEncoding('utf8'))) {
    number += 1
    if (line.trim() === '') continue
    await session.write(`${jsonText(answer(line, number, providers))}\n`)
  }
}

const LineSchema = z.looseObject({ id: z.union([z.string(), z.number()]), yaml: z.string() })

function answer(line: string, number: number, providers: readonly string[]) {
  const value = readJson(line)
  const asked = LineSchema.safeParse(value)
  if (!asked.success) {
    const message = `Cannot read line ${number} of stdin: one JSON object {"id": string or number, "yaml": string} is needed.`
    return { id: idOf(value), valid: false, errors: [whole({ code: 'malformed_line', path: '', message })], order: [] }
  }
  const { id, yaml } = asked.data
  const parsed = parseDag(yaml, { name: String(id), providers })
  if (parsed.ok) return { id, valid: true, errors: [], order: parsed.order }
  return { id, valid: false, errors: parsed.errors.map(whole), order: [] }
}

function whole({ code, path, line, column, message, hint }: DagError) {
  return { code, path, line: line ?? null, column: column ?? null, message, hint: hint ?? null }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** So that a tool can still tell which of its lines was wrong. */
function idOf(value: unknown): string | number | null {
  const read = z.looseObject({ id: z.union([z.string(), z.number()]) }).safeParse(value)
  return read.success ? read.data.id : null
}
