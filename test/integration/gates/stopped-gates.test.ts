import { afterEach, expect, test } from 'vitest'
import type { IsolateCaller } from '../../../shared/ports/isolate.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

/** Ends with its time limit or its caller, and with nothing else. */
const FOREVER = '($f := function($n) { $f($n + 1) }; $f(0))'

const GATED = {
  blocks: [
    {
      id: 'a',
      mode: 'deterministic',
      outputs: { row: 'json' },
      deterministic: { handler: 'pass' },
      inputs: { row: { type: 'json', default: { id: 7 } } },
      post_gates: [{ name: 'shape', check: { type: 'json_schema', port: 'row', schema: { type: 'object' } } }],
    },
  ],
}

test('what a gate has an isolate compute ends with its run, and is no verdict', async () => {
  open = await openTestPlace()
  const { isolate } = open.place.world
  const run = isolate.run.bind(isolate)
  const callers: IsolateCaller[] = []
  const watched: typeof run = (kind, data, limit, caller) => {
    if (kind === 'json_schema' && caller !== undefined) callers.push(caller)
    return run(kind, data, limit, caller)
  }
  Object.assign(isolate, { run: watched })
  // Every child is at work: the gate's job waits in line.
  const busy = new AbortController()
  const limit = { ms: 600_000, mb: 64 }
  const endless = Array.from({ length: 4 }, () =>
    run('transform', { program: FOREVER, input: {} }, limit, { tenant: 'main', signal: busy.signal }),
  )
  const id = await open.start(GATED)
  await expect.poll(() => callers).toHaveLength(1)
  expect(callers[0]).toMatchObject({ tenant: 'main', signal: { aborted: false } })
  expect((await open.call('stop-run', id, {})).status).toBeLessThan(300)
  await expect.poll(() => callers[0]?.signal?.aborted).toBe(true)
  const events = await open.ended(id)
  expect(events.at(-1)?.type).toBe('run:cancelled')
  expect(events.filter(({ type }) => type === 'block:gate')).toEqual([])
  busy.abort()
  await Promise.all(endless)
})
