import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { planDag } from '../../shared/plan/plan-dag.ts'
import { BOUNCING, dagOf, FANNED_OUT } from '../unit/plan/documents.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/** History events of the run's execution, as the interpreter counted them. The place is closed: it holds the database. */
async function countedEvents(place: TestPlace, runId: string): Promise<number> {
  await place.place.close()
  const [file = ''] = readdirSync(place.folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('sluice.db'),
  )
  const db = new DatabaseSync(join(place.folder, file), { readOnly: true })
  const row = db.prepare('SELECT events FROM machine_executions WHERE name = ? AND end IS NOT NULL').get(runId)
  db.close()
  return Number(row?.events)
}

async function executionOf({ place }: TestPlace, runId: string): Promise<string | undefined> {
  const run = { tenant: 'main', run_id: runId }
  const machine = (await place.world.runs.meta(run))?.machine ?? ''
  return (await place.world.machine.describe(machine, runId))?.status
}

const TEXT = (id: string, from?: string) => ({
  id,
  mode: 'deterministic',
  deterministic: { handler: 'transform', config: { expression: '"x"' } },
  inputs:
    from === undefined
      ? {}
      : Object.fromEntries(from.split(' ').map((source) => [`in_${source}`, { from: `${source}.text` }])),
  outputs: { text: 'string' },
})
const N = JSON.stringify({
  name: 'n',
  blocks: [TEXT('a'), TEXT('b'), TEXT('c', 'a'), TEXT('d', 'a b'), TEXT('e', 'c d')],
})

/** Plans against whole runs with the real handlers. */
describe('a run in the local place', () => {
  test.each<[string, string, object, Record<string, number>]>([
    ['with a join', N, {}, {}],
    ['over a list', FANNED_OUT, { inputs: { list: ['p', 'q', 'r'] } }, { each: 3 }],
    ['that may go back and does not', BOUNCING, { context: { text: 'x' } }, {}],
  ])('%s has the history its plan predicts', async (_, text, more, items) => {
    const plan = planDag(dagOf(text), { durations: {}, default_duration: 1, items, max_parallel: 50 })
    const place = await openTestPlace()
    try {
      const runId = await place.start(text, { ...more })
      const events = await place.ended(runId)
      expect(events.at(-1)?.type).toBe('run:completed')
      await expect.poll(() => executionOf(place, runId)).toBe('SUCCEEDED')
      expect(await countedEvents(place, runId)).toBe(plan.events)
    } finally {
      await place.close()
    }
  })
})
