import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { openTestPlace, provider, type TestPlace } from '../test-place.ts'

/** What a real run hands to the gates that look beyond ports: tokens, how the answer ended, the clock, the objects. */
let place: TestPlace
beforeEach(async () => {
  place = await openTestPlace({ providers: { counted: provider(() => 'Draft.') } })
})
afterEach(() => place.close())

const PAST = '2020-01-01T00:00:00Z'
const FUTURE = '2999-01-01T00:00:00Z'

function dag(pre: readonly object[], post: readonly object[]) {
  const named = (side: string, checks: readonly object[]) =>
    checks.map((check, i) => ({ name: `${side}-${i}`, check, on_fail: 'warn' }))
  return {
    inputs: { time: { type: 'string' }, file: { type: 'string' } },
    blocks: [
      {
        id: 'write',
        inputs: { time: 'string', file: 'string' },
        agent: { provider: 'counted', model: 'm', prompt: 'Write.' },
        outputs: { plan: { type: 'string' } },
        pre_gates: named('pre', pre),
        post_gates: named('post', post),
      },
    ],
  }
}

async function statuses(document: object, inputs: object): Promise<readonly string[]> {
  const events = await place.ended(await place.start(document, { inputs }))
  return events.flatMap((event: RunEvent) =>
    event.type === 'block:gate' ? [`${event.data.type} ${event.data.status}`] : [],
  )
}

test('tokens and finish_reason see the attempt, and nothing before it', async () => {
  const checks = [
    { type: 'tokens', max: 100_000 },
    { type: 'tokens', max: 0 },
    { type: 'finish_reason', allowed: ['stop'] },
    { type: 'finish_reason', allowed: ['length'] },
  ]
  expect(await statuses(dag(checks.slice(0, 1), checks), { time: PAST, file: 'x' })).toEqual([
    'tokens failed',
    'tokens passed',
    'tokens failed',
    'finish_reason passed',
    'finish_reason failed',
  ])
})

test.each([
  [PAST, 'passed'],
  [FUTURE, 'failed'],
])('freshness of %s on both sides of a block: %s', async (time, status) => {
  const check = { type: 'freshness', port: 'time', max_age_sec: 10_000_000_000 }
  const old = { ...check, max_age_sec: 60 }
  expect(await statuses(dag([check, old], [check]), { time, file: 'x' })).toEqual([
    `freshness ${status}`,
    'freshness failed',
    `freshness ${status}`,
  ])
})

test('artifact_exists sees the objects of the place', async () => {
  const content = Buffer.from('a report')
  const { ref } = await place.place.world.objects.put('main', content)
  const check = { type: 'artifact_exists', port: 'file', sha256: sha256('a report'), min_bytes: 8 }
  const document = dag([check], [])
  expect(await statuses(document, { time: PAST, file: ref })).toEqual(['artifact_exists passed'])
  const missing = `objstore://main/${sha256('nothing')}`
  const other = `objstore://other/${sha256('a report')}`
  expect(await statuses(document, { time: PAST, file: missing })).toEqual(['artifact_exists failed'])
  expect(await statuses(document, { time: PAST, file: other })).toEqual(['artifact_exists failed'])
})
