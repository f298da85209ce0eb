import * as z from 'zod'
import { parseDag } from '../../shared/dag/parse.ts'
import type { DagError } from '../../shared/dag/report.ts'
import { AskingLineSchema, answerEachLine, idOfLine } from './asking-line.ts'
import { knownProviders } from './check-files.ts'
import type { Session } from './session.ts'

/**
 * `sluice validate --ndjson`: a line {"id","yaml"} in, a line {"id","valid","errors","order"} out, in the same order
 * and at once, so that a tool may keep the process and ask as it goes. Every error has all six members, null where
 * there is no such place or hint. A line that cannot be read is answered with code malformed_line; the rest goes on.
 */
export async function validateLines(session: Session): Promise<void> {
  const providers = knownProviders()
  await answerEachLine(session, (value, number) => answer(value, number, providers))
}

const LineSchema = AskingLineSchema.extend({ yaml: z.string() })

function answer(value: unknown, number: number, providers: readonly string[]) {
  const asked = LineSchema.safeParse(value)
  if (!asked.success) {
    const message = `Cannot read line ${number} of stdin: one JSON object {"id": string or number, "yaml": string} is needed.`
    return {
      id: idOfLine(value),
      valid: false,
      errors: [whole({ code: 'malformed_line', path: '', message })],
      order: [],
    }
  }
  const { id, yaml } = asked.data
  const parsed = parseDag(yaml, { name: String(id), providers })
  if (parsed.ok) return { id, valid: true, errors: [], order: parsed.order }
  return { id, valid: false, errors: parsed.errors.map(whole), order: [] }
}

function whole({ code, path, line, column, message, hint }: DagError) {
  return { code, path, line: line ?? null, column: column ?? null, message, hint: hint ?? null }
}
