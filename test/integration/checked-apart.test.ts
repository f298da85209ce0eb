import { afterEach, describe, expect, test } from 'vitest'
import type { Isolate } from '../../shared/ports/isolate.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

/**
 * While a document is checked, others are answered. Proved by order: the job of the isolate is not let go before another
 * request has been answered, so a route that compiled on the event loop would never ask it.
 */
const SCHEMA = {
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`p${at}`, { type: 'string' }])),
}
const documentOf = (schema: object) => ({
  name: 'dear',
  blocks: [
    {
      id: 'a',
      mode: 'deterministic',
      deterministic: { handler: 'pass' },
      inputs: { data: { type: 'json', default: {} } },
      outputs: { data: 'json' },
      pre_gates: [],
      post_gates: Array.from({ length: 4 }, (_, at) => ({
        name: `g${at}`,
        check: { type: 'json_schema', port: 'data', schema: { ...schema, title: `t${at}` } },
        on_fail: 'warn',
      })),
    },
  ],
})
const DEAR = documentOf(SCHEMA)

let place: TestPlace
afterEach(() => place.close())

/** The place's own isolate, which begins no `compile` before `meanwhile` is over; answers the order of what happened. */
function heldBack(meanwhile: () => Promise<unknown>): string[] {
  const order: string[] = []
  const { world } = place.place
  const { isolate } = world
  const answered = { promise: undefined as Promise<unknown> | undefined }
  const run: Isolate['run'] = async (kind, ...job) => {
    if (kind !== 'compile') return isolate.run(kind, ...job)
    order.push('compile')
    answered.promise ??= meanwhile().then(() => order.push('other answered'))
    await answered.promise
    return isolate.run(kind, ...job)
  }
  Object.assign(world, { isolate: { ...isolate, run } })
  return order
}

for (const route of ['validate-dag', 'plan-dag', 'start-run']) {
  describe(route, { tags: route === 'plan-dag' ? ['thorough'] : [] }, () => {
    test('lets others be answered while its schemas are compiled', async () => {
      place = await openTestPlace()
      const order = heldBack(() => place.call('get-gates', ''))
      const { status } = await place.call(route, '', { dag: DEAR })
      order.push('checked')
      expect(status).toBe(route === 'start-run' ? 201 : 200)
      expect(order.filter((what) => what !== 'compile')).toEqual(['other answered', 'checked'])
      expect(order.filter((what) => what === 'compile')).toHaveLength(4)
    })
  })
}

test('a retry with another document does too', async () => {
  place = await openTestPlace()
  const run = await place.start({ ...DEAR, blocks: DEAR.blocks.map((block) => ({ ...block, post_gates: [] })) })
  await place.ended(run)
  const order = heldBack(() => place.call('get-gates', ''))
  const { status } = await place.call('retry-run', run, { dag: DEAR })
  order.push('checked')
  expect(status).toBe(201)
  expect(order.filter((what) => what !== 'compile')).toEqual(['other answered', 'checked'])
})

test('what is wrong is told with its place, as offline', async () => {
  place = await openTestPlace()
  const bad = { ...SCHEMA, propertys: {} }
  const { status, json } = await place.call('validate-dag', '', { dag: documentOf(bad) })
  expect(status).toBe(200)
  expect(json).toMatchObject({ valid: false })
  expect(json.errors).toHaveLength(4)
  expect(json.errors?.[0]).toMatchObject({
    code: 'invalid_value',
    path: 'blocks[0].post_gates[0].check.schema',
    message: expect.stringContaining('unknown keyword: "propertys"'),
  })
})
