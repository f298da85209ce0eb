import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { TestPlace } from './test-place.ts'

const text = { text: { type: 'string' } }
const agent = (prompt: string) => ({ provider: 'probe', model: 'm', prompt })
export const block = (id: string, more: object = {}) => ({ id, outputs: text, agent: agent(id), ...more })
/** A block whose work is a run of the deployed document `name`. */
export const child = (id: string, name: string, more: object = {}, dag: object = {}) => ({
  id,
  mode: 'dag',
  dag: { name, ...dag },
  outputs: text,
  ...more,
})
export const retry = (max_attempts: number) => ({ max_attempts, backoff: 'none', delay_ms: 0, jitter: 'none' })

/** Puts a document into the folder the place deploys from; JSON is YAML. */
export function deployDocument(place: TestPlace, name: string, blocks: readonly object[], more: object = {}): void {
  writeFileSync(join(place.folder, `${name}.yaml`), JSON.stringify({ name, blocks, ...more }))
}

export function startsOf(events: readonly RunEvent[], blockId: string): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'block:started' && event.block_id === blockId ? [event.data.child ?? ''] : [],
  )
}

/** The id of the child run a block opened first, once it is there: the block names it before it makes it. */
export async function childOf(place: TestPlace, runId: string, blockId: string): Promise<string> {
  const started = await place.until(runId, ({ type, block_id }) => type === 'block:started' && block_id === blockId)
  const child = started.type === 'block:started' ? (started.data.child ?? '') : ''
  await expect.poll(() => place.place.world.runs.meta({ tenant: 'main', run_id: child })).toBeDefined()
  return child
}

export async function headOf(place: TestPlace, runId: string): Promise<Head> {
  const head = await place.place.world.runs.head({ tenant: 'main', run_id: runId })
  if (head === undefined) throw new Error(`no run ${runId}`)
  return head
}

export async function lastOf(place: TestPlace, runId: string): Promise<RunEvent | undefined> {
  return (await place.ended(runId)).at(-1)
}
