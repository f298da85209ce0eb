import { afterEach, expect, test } from 'vitest'
import { signMessage } from '../../../shared/triggers/verify-message.ts'
import { openTriggerPlace, type TriggerPlace } from './trigger-place.ts'

/** Debounce and rate of triggers, in a local place. */
let place: TriggerPlace
afterEach(() => place.close())

const START = Date.parse('2026-06-01T12:00:00.000Z')
const SECRET = 'a shared secret'
const KEYS = new Map([['HOOK', SECRET]])
const HMAC = { algorithm: 'sha256', encoding: 'hex', prefix: '' } as const
const on = { document: 'tickets', trigger: 'hook' }

const says = (pace: string) => `
name: tickets
inputs: { n: { type: json } }
blocks:
  - { id: a, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }
triggers:
  - { name: hook, webhook: { verify: { hmac: { header: x-signature, secret: hook } }, map: { n: body.n } }, ${pace} }
`

async function open(pace: string): Promise<void> {
  const settings = { triggers: { secrets: { hook: { env: 'HOOK' } } } }
  place = await openTriggerPlace(new Date(START).toISOString(), settings, { keys: KEYS })
  place.write('tickets', says(pace))
}

async function post(n: number, second: number) {
  place.time.set(START + second * 1_000)
  const body = JSON.stringify({ n })
  const headers = { 'content-type': 'application/json', 'x-signature': signMessage(HMAC, SECRET, Buffer.from(body)) }
  return place.route('take-webhook', on, body, { headers })
}

async function lookAt(second: number): Promise<readonly number[]> {
  place.time.set(START + second * 1_000)
  await Promise.all([place.look(), place.look()])
  return (await place.runs()).map(({ context }) => (context as { n: number }).n).toSorted((a, b) => a - b)
}

async function firings() {
  const { json } = await place.route('get-trigger', on, undefined, { httpMethod: 'GET' })
  const { firings: found } = json as { firings: readonly { state: string; reason?: { code: string } }[] }
  return found.map(({ state, reason }) => reason?.code ?? state).toReversed()
}

test('debounce: the last of those shortly one after the other starts a run, and the others say which it is', async () => {
  await open('debounce: { for: 30s }')
  expect(await post(1, 0)).toMatchObject({ status: 202, json: { status: 'taken' } })
  expect((await post(2, 20)).json).not.toHaveProperty('run_id')
  await post(3, 49)
  expect(await lookAt(78)).toEqual([])
  expect(await lookAt(79)).toEqual([3])
  expect(await firings()).toEqual(['trigger_joined', 'trigger_joined', 'started'])
  await post(4, 100)
  expect(await lookAt(129)).toEqual([3])
  expect(await lookAt(131)).toEqual([3, 4])
  expect(await post(1, 132)).toMatchObject({ json: { status: 'known' } })
  expect(await lookAt(200)).toEqual([3, 4])
})

test('debounce: however many come, it waits at most so long from the first; a late look finds the same groups', async () => {
  await open('debounce: { for: 30s, at_most: 1m }')
  for (let n = 0; n < 10; n += 1) await post(n, n * 20)
  // 0..59 s, 60..119 s, 120..179 s, and what came at 180 s.
  expect(await lookAt(3_600)).toEqual([2, 5, 8, 9])
  expect((await firings()).filter((one) => one === 'trigger_joined')).toHaveLength(6)
})

test('debounce: a look that dies anywhere changes nothing of it', async () => {
  await open('debounce: { for: 30s }')
  await post(1, 0)
  await post(2, 10)
  place.time.set(START + 60_000)
  const { triggers } = place.test.place.world
  // As it stands where the look died behind the decision.
  const [first, last] = await triggers.owed('main', 10)
  const key = { tenant: 'main', ...on }
  if (first === undefined || last === undefined) throw new Error('two firings are owed')
  const { id, run_id, kept_at: until } = last
  await triggers.putState({ ...key, version: 1, since: until, joined: { id, run_id, from: first.kept_at, until } })
  await post(3, 61)
  expect(await lookAt(62)).toEqual([2])
  expect(await firings()).toEqual(['trigger_joined', 'started', 'owed'])
  expect(await lookAt(92)).toEqual([2, 3])
})

test('rate: in no stretch of that length more start, and what was left out says so', async () => {
  await open('rate: { limit: 2, per: 1m }')
  for (let n = 0; n < 8; n += 1) await post(n, n * 20)
  expect(await lookAt(400)).toEqual([0, 1, 3, 4, 6, 7])
  expect(await firings()).toEqual([
    'started',
    'started',
    'trigger_rate',
    'started',
    'started',
    'trigger_rate',
    'started',
    'started',
  ])
})

test('both: one that stands for others is counted once; by hand nobody waits', async () => {
  await open('debounce: { for: 10s }, rate: { limit: 1, per: 1h }')
  await post(1, 0)
  await post(2, 5)
  await post(3, 60)
  await place.route('fire-trigger', on, { inputs: { n: 9 } })
  expect(await lookAt(61)).toEqual([2, 9])
  expect(await lookAt(120)).toEqual([2, 9])
  expect(await firings()).toEqual(expect.arrayContaining(['trigger_joined', 'started', 'trigger_rate', 'started']))
})

test('a clock that was ahead and is set right makes no firing an old one', async () => {
  await open('debounce: { for: 30s }')
  await post(1, 86_400)
  expect(await lookAt(86_500)).toEqual([1])
  await post(2, 0)
  expect(await lookAt(31)).toEqual([1, 2])
})
