import { Fault } from '../../shared/errors.ts'
import type { Json } from '../../shared/text/json.ts'
import { TRIGGER_LIMITS, type TriggerKey } from '../../shared/triggers/trigger.ts'
import type { World } from '../../shared/world.ts'

/** What a message says of itself that makes it the same as another one. Fault InvalidInput dedupe_failed (422). */
export async function dedupeOf(
  { isolate }: Pick<World, 'isolate'>,
  key: TriggerKey,
  program: string,
  input: Readonly<Record<string, Json>>,
): Promise<string> {
  const answer = await isolate.run('transform', { program, input }, undefined, key)
  if (!answer.ok) throw failed(key, `it could not be computed: ${answer.message.slice(0, 300)}`)
  const value = typeof answer.value === 'number' ? String(answer.value) : answer.value
  if (typeof value === 'string' && value !== '' && value.length <= TRIGGER_LIMITS.dedupe_characters) return value
  const seen = value === undefined || value === null ? 'nothing' : typeof value
  throw failed(
    key,
    `it gave ${seen}; allowed are a number and a text of 1 to ${TRIGGER_LIMITS.dedupe_characters} characters`,
  )
}

function failed({ document, trigger }: TriggerKey, why: string): Fault {
  const message = `Cannot fire trigger "${trigger}" of DAG "${document}": its dedupe tells no messages apart: ${why}.`
  return new Fault('InvalidInput', 'dedupe_failed', message, { status: 422 })
}
