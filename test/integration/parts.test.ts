import { afterEach, expect, test } from 'vitest'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import { parseDag } from '../../shared/document/parse.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

/** A document that is too large for one machine, run by the local place: nobody sees that it is two. */
let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

/** A row; what each block might be tried again takes most of the budget of history events. */
const BLOCKS = 320
const row = {
  name: 'row',
  blocks: Array.from({ length: BLOCKS }, (_, v) => ({
    id: `b${v}`,
    ...(v === 0 ? {} : { inputs: { x: { from: `b${v - 1}.x` } } }),
    outputs: { x: { type: 'string' } },
    agent: { provider: 'probe', model: 'm', prompt: `block ${v}` },
    retry: { max_attempts: 10 },
  })),
}

const completed = (events: readonly { readonly type: string; readonly block_id?: string | undefined }[]) =>
  events.filter(({ type }) => type === 'block:completed').map(({ block_id }) => block_id)
const all = row.blocks.map(({ id }) => id)

/** Answers at once, but hangs at one block while `hang.on`. */
function hanging(at: string, hang: { on: boolean }) {
  return provider(({ prompt, signal }) => {
    if (!hang.on || prompt !== at) return Promise.resolve('{"x": "y"}')
    return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
}

test('it is two machines', () => {
  const parsed = parseDag(JSON.stringify(row), { name: 'row', providers: ['probe'] })
  expect(parsed.ok && compileDag(parsed.dag).parts.map(({ key }) => key)).toEqual(['Part1'])
})

test('killed inside the part, it goes on there; every block completes once', { tags: ['thorough'] }, async () => {
  const hang = { on: true }
  open = await openTestPlace({ providers: { probe: hanging('block 100', hang) } })
  const id = await open.start(row)
  await open.until(
    id,
    ({ type, ...event }) => type === 'block:started' && 'block_id' in event && event.block_id === 'b100',
  )
  hang.on = false
  await open.kill({ providers: { probe: hanging('', hang) } })
  const events = await open.ended(id)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(completed(events)).toEqual(all)
})

test('stopped inside the part, both executions end', async () => {
  open = await openTestPlace({ providers: { probe: hanging('block 50', { on: true }) } })
  const id = await open.start(row)
  await open.until(
    id,
    ({ type, ...event }) => type === 'block:started' && 'block_id' in event && event.block_id === 'b50',
  )
  expect((await open.call('stop-run', id)).status).toBeLessThan(300)
  expect((await open.ended(id)).at(-1)?.type).toBe('run:cancelled')
  const { world } = open.place
  const machine = (await world.runs.meta({ tenant: 'main', run_id: id }))?.machine ?? ''
  await expect.poll(async () => (await world.machine.describe(machine, id))?.status).toBe('ABORTED')
  await expect.poll(async () => (await world.machine.describe(`${machine}/Part1`, `${id}-1`))?.status).toBe('ABORTED')
})
