import * as z from 'zod'
import { PAYLOAD_CHECKS } from '../../../shared/research/payload-checks.ts'
import type { PayloadError } from '../../../shared/research/payloads/codec.ts'
import { isEnvelope, readEnvelope } from '../../../shared/research/payloads/envelope.ts'
import { answerEachLine, lineId, NdjsonLineSchema } from '../terminal/answer-ndjson-lines.ts'
import type { Session } from '../terminal/session.ts'

/**
 * `sluice research validate --ndjson`: a line {"id","type","input"} in, a line {"id","accepted","errors"} out, in the
 * same order and at once. A line may also be a message envelope {"id","type":{..},"payload","meta"}. A line that cannot be read is answered with code malformed_line; the rest goes on.
 */
export async function validatePayloadLines(session: Session): Promise<void> {
  await answerEachLine(session, (value, number) => {
    const { id, errors } = answer(value, number)
    return { id, accepted: errors.length === 0, errors }
  })
}

const LineSchema = NdjsonLineSchema.extend({ type: z.string(), input: z.unknown() })

function answer(
  value: unknown,
  number: number,
): { readonly id: string | number | null; readonly errors: readonly PayloadError[] } {
  if (isEnvelope(value)) return { id: lineId(value), errors: envelopeErrors(value) }
  const asked = LineSchema.safeParse(value)
  if (!asked.success) {
    const message = `Cannot read line ${number} of stdin: one JSON object {"id": string or number, "type": string, "input": any JSON} is needed, or a message envelope {"id", "type": {"domain", "category", "version"}, "payload"}.`
    return { id: lineId(value), errors: [{ code: 'malformed_line', path: '', message }] }
  }
  const { id, type, input } = asked.data
  const check = Object.hasOwn(PAYLOAD_CHECKS, type) ? PAYLOAD_CHECKS[type] : undefined
  return { id, errors: check === undefined ? [unknownType(type)] : check(input) }
}

function envelopeErrors(value: unknown): readonly PayloadError[] {
  const read = readEnvelope(value)
  return read.ok ? [] : read.errors
}

function unknownType(type: string): PayloadError {
  const known = Object.keys(PAYLOAD_CHECKS).join(', ')
  const message = `There is no type ${JSON.stringify(type.slice(0, 100))} to check; known are ${known}.`
  return { code: 'unknown_payload_type', path: 'type', message }
}
