import { afterEach, expect, test, vi } from 'vitest'
import { TRIGGER_LIMITS } from '../../../shared/triggers/trigger.ts'
import { openTriggerPlace, type TriggerPlace } from './trigger-place.ts'

/** Runs that start when runs of another document end, in a local place. */
let place: TriggerPlace
afterEach(() => place.close())

const NOW = '2026-06-01T12:00:00.000Z'
const IMPORT = `
name: import-rows
inputs: { n: { type: json } }
blocks:
  - { id: save, mode: deterministic, deterministic: { handler: transform, config: { expression: 'inputs.n * 10' } }, inputs: { n: json }, outputs: { rows: number } }
`
const FAILING = IMPORT.replace("'inputs.n * 10'", `'$error("no")'`)
const after = (run: string, more = '') => `
name: after
inputs: { rows: { type: json }, by: { type: json, default: nobody } }
blocks:
  - { id: a, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }
triggers:
  - { name: after-import, run: ${run}${more} }
`
const MAP = 'map: { rows: outputs.save.rows, by: run.state }'

async function start(name: string, inputs: object, dag?: string, owes = 0): Promise<string> {
  const { json } = await place.route('start-run', null, { ...(dag === undefined ? { name } : { dag }), inputs })
  const { run_id } = json as { readonly run_id: string }
  await place.test.ended(run_id)
  await told(run_id, owes)
  return run_id
}
/** Until nothing is owed but what cannot be done now. */
async function told(run_id: string, owes = 0): Promise<void> {
  const { runs } = place.test.place.world
  const run = { tenant: 'main', run_id }
  await vi.waitUntil(async () => (await runs.head(run, []))?.outbox.length === owes, { timeout: 30_000, interval: 20 })
}
const started = async () => {
  await place.look()
  const runs = await place.runs()
  return runs.filter(({ starter }) => starter === 'trigger:after-import').map(({ context }) => context)
}

async function open(text: string, imported = IMPORT): Promise<void> {
  place = await openTriggerPlace(NOW)
  place.write('import', imported)
  place.write('after', text)
}

test('each end of a run of its document starts one run, with what its map reads of the outputs', async () => {
  await open(after(`{ dag: import, ${MAP} }`))
  const first = await start('import', { n: 1 })
  await start('import', { n: 2 })
  await place.test.place.invoke('fire-triggers', { ended: { tenant: 'main', run_id: first } })
  await place.test.place.invoke('send-outbox', { tenant: 'main', run_id: first })
  expect(await started()).toEqual(
    expect.arrayContaining([
      { rows: 10, by: 'completed' },
      { rows: 20, by: 'completed' },
    ]),
  )
  expect(await started()).toHaveLength(2)
  const shown = await place.route('get-trigger', { document: 'after', trigger: 'after-import' }, undefined, {
    httpMethod: 'GET',
  })
  expect(shown.json).toMatchObject({
    trigger: { kind: 'run', says: 'the end of runs of import (completed)' },
    firings: expect.arrayContaining([expect.objectContaining({ id: `run:${first}`, state: 'started' })]),
  })
  const head = await place.test.place.world.runs.head({ tenant: 'main', run_id: first }, [])
  expect(head?.outbox).toEqual([])
})

test('an end of another kind, and one of a document that is not the deployed one, start none', async () => {
  await open(after('{ dag: import, ends: [failed, cancelled], map: { rows: run.code } }'), FAILING)
  await start('import', { n: 1 })
  expect(await started()).toEqual([{ rows: 'transform_failed', by: 'nobody' }])
  await start('import', { n: 1 }, FAILING.replace('save', 'keep'))
  place.write('import', IMPORT)
  await start('import', { n: 1 })
  expect(await started()).toHaveLength(1)
})

test('while it is paused an end starts none, before the pause it does, and after it', async () => {
  await open(after(`{ dag: import, ${MAP} }`))
  const on = { document: 'after', trigger: 'after-import' }
  await place.route('change-trigger', on, { paused: true })
  place.time.set('2026-06-01T12:01:00Z')
  await start('import', { n: 1 })
  expect(await started()).toEqual([])
  place.time.set('2026-06-01T12:02:00Z')
  await place.route('change-trigger', on, { paused: false })
  place.time.set('2026-06-01T12:03:00Z')
  await start('import', { n: 2 })
  expect(await started()).toEqual([{ rows: 20, by: 'completed' }])
})

test('an end waits for a document that is being written, also when the place dies meanwhile', async () => {
  await open(after(`{ dag: import, ${MAP} }`))
  await place.look()
  place.write('after', 'triggers: [')
  const run_id = await start('import', { n: 1 }, undefined, 1)
  expect(await started()).toEqual([])
  await place.test.kill({ sweep_ms: 0, clock: place.time.clock })
  place.time.set('2026-06-01T12:05:00Z')
  place.write('after', after(`{ dag: import, ${MAP} }`))
  await place.test.place.invoke('sweep', {})
  await told(run_id)
  await place.test.place.invoke('fire-triggers', { ended: { tenant: 'main', run_id } })
  expect(await started()).toEqual([{ rows: 10, by: 'completed' }])
})

test('outputs that are too large are refused and seen', async () => {
  const large = IMPORT.replace("'inputs.n * 10'", `'$join([1..2000].("${'x'.repeat(600)}"))'`).replace(
    'rows: number',
    'rows: string',
  )
  await open(after(`{ dag: import, ${MAP} }`), large)
  await start('import', { n: 1 })
  const on = { document: 'after', trigger: 'after-import' }
  const shown = await place.route('get-trigger', on, undefined, { httpMethod: 'GET' })
  expect(shown.json).toMatchObject({
    trigger: { failures: 1, last: { state: 'failed', reason: { code: 'trigger_outputs_too_large' } } },
  })
  expect(await started()).toEqual([])
})

test('documents that start each other stop after so many in a row, and by events too', async () => {
  await open(after('{ dag: import, map: { rows: "1" } }'))
  const send = `deterministic: { handler: send-event, config: { name: again } }`
  place.write(
    'after',
    after('{ dag: import, map: { rows: "1" } }').replace(
      /deterministic: \{ handler.*outputs: \{ n: number \}/,
      `${send}`,
    ),
  )
  place.write('import', `${IMPORT}triggers:\n  - { name: again, event: { name: again }, inputs: { n: 1 } }\n`)
  await place.look()
  place.time.set('2026-06-01T12:10:00Z')
  await start('import', { n: 1 })
  for (let i = 0; i < 3 * TRIGGER_LIMITS.depth; i += 1) {
    await place.look()
    await place.ended()
    for (const { run_id } of await place.runs()) await told(run_id)
  }
  const runs = await place.runs()
  expect(runs).toHaveLength(1 + TRIGGER_LIMITS.depth)
  const on = { document: 'after', trigger: 'after-import' }
  const shown = await place.route('get-trigger', on, undefined, { httpMethod: 'GET' })
  const metas = await Promise.all(
    runs.map(({ run_id }) => place.test.place.world.runs.meta({ tenant: 'main', run_id })),
  )
  expect(metas.map((meta) => meta?.follows?.depth ?? 0).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 1 + TRIGGER_LIMITS.depth }, (_, i) => i),
  )
  const { firings } = shown.json as { firings: readonly { reason?: { code: string } }[] }
  expect(firings.filter(({ reason }) => reason?.code === 'trigger_too_deep')).toHaveLength(1)
})

test('it is tried with sample outputs, and fired by hand with them', async () => {
  await open(after(`{ dag: import, ${MAP} }`))
  const on = { document: 'after', trigger: 'after-import' }
  expect(await place.route('try-trigger', on, { body: { save: { rows: 3 } } })).toMatchObject({
    json: { ok: true, inputs: { rows: 3, by: 'completed' } },
  })
  expect(await place.route('fire-trigger', on, { body: { save: { rows: 4 } } })).toMatchObject({ status: 202 })
  expect(await started()).toEqual([{ rows: 4, by: 'completed' }])
})
