import type { Isolated } from '../isolate.ts'

/** What the Isolate answers for kind `json_schema`: at most five short sentences `/path message` when invalid. */
export type SchemaAnswer = { readonly valid: boolean; readonly errors: readonly string[] }

/** Reads it back on this side of the port; anything else than an answer is not valid. */
export function readSchemaAnswer(
  isolated: Isolated,
): ({ readonly ok: true } & SchemaAnswer) | { readonly ok: false; readonly message: string } {
  if (!isolated.ok) return { ok: false, message: isolated.message }
  const answer = isolated.value
  if (typeof answer !== 'object' || answer === null || !('valid' in answer)) {
    return { ok: false, message: 'the isolate gave no verdict' }
  }
  const errors = 'errors' in answer && Array.isArray(answer.errors) ? answer.errors : []
  return { ok: true, valid: answer.valid === true, errors: errors.filter((error) => typeof error === 'string') }
}
