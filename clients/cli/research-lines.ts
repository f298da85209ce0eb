import * as z from 'zod'
import { PAYLOAD_CHECKS } from '../../shared/research/payload-checks.ts'
import type { PayloadError } from '../../shared/research/payload-error.ts'
import { splitLines } from '../../shared/split-lines.ts'
import { jsonText } from './json-text.ts'
import type { Session } from './session.ts'

/**
 * `sluice research validate --ndjson`: a line {"id","type","input"} in, a line {"id","accepted","errors"} out, in the
 * same order and at once. A line that cannot be read is answered with code malformed_line; the rest goes on.
 */
export async function researchLines(session: Session): Promise<void> {
  let number = 0
  for await (const line of splitLines(process.stdin.setEncoding('utf8'))) {
    number += 1
    if (line.trim() === '') continue
    const { id, errors } = answer(line, number)
    await session.write(`${jsonText({ id, accepted: errors.length === 0, errors })}\n`)
  }
}

const IdSchema = z.looseObject({ id: z.union([z.string(), z.number()]) })
const LineSchema = IdSchema.extend({ type: z.string(), input: z.unknown() })

function answer(
  line: string,
  number: number,
): { readonly id: string | number | null; readonly errors: readonly PayloadError[] } {
  const value = readJson(line)
  const asked = LineSchema.safeParse(value)
  if (!asked.success) {
    const message = `Cannot read line ${number} of stdin: one JSON object {"id": string or number, "type": string, "input": any JSON} is needed.`
    return { id: IdSchema.safeParse(value).data?.id ?? null, errors: [{ code: 'malformed_line', path: '', message }] }
  }
  const { id, type, input } = asked.data
  const check = Object.hasOwn(PAYLOAD_CHECKS, type) ? PAYLOAD_CHECKS[type] : undefined
  return { id, errors: check === undefined ? [unknownType(type)] : check(input) }
}

function unknownType(type: string): PayloadError {
  const known = Object.keys(PAYLOAD_CHECKS).join(', ')
  const message = `There is no type ${JSON.stringify(type.slice(0, 100))} to check; known are ${known}.`
  return { code: 'unknown_payload_type', path: 'type', message }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
