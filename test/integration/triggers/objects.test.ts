import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDropWatch } from '../../../infra/local/drops.ts'
import { openTriggerPlace, type TriggerPlace } from './trigger-place.ts'

/** Files that are dropped into the inputs folder of a local place start runs. */
let place: TriggerPlace
let db: DatabaseSync
/** What the watch had told of before somebody killed the place. */
let told: object[]
beforeEach(async () => {
  place = await openTriggerPlace('2026-06-01T12:00:00Z')
  db = new DatabaseSync(':memory:')
  told = []
})
afterEach(async () => {
  db.close()
  await place.close()
})

const says = (object: string) => `
name: orders
inputs: { file: { type: file }, key: { type: string, default: '' } }
blocks:
  - { id: a, mode: deterministic, inputs: { file: file }, deterministic: { handler: read-input }, outputs: { text: string } }
triggers:
  - { name: dropped, object: ${object} }
`
const INBOX = '{ prefix: inbox/, suffix: .csv, map: { file: object.ref, key: object.key } }'

const drop = (key: string, text: string) => {
  const path = join(place.test.folder, key)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
const watchWith = (take: (payload: object) => Promise<unknown>) =>
  createDropWatch({ world: place.test.place.world, db, take, clock: place.time.clock, log: { error: () => undefined } })
const taking = async (payload: object) => {
  told.push(payload)
  return place.test.place.invoke('take-object', payload)
}
/** A place that goes on, looking each second for so long. */
const pass = async (seconds: number, watch = watchWith(taking)) => {
  for (let i = 0; i < seconds; i += 1) {
    place.time.set(place.time.now() + 1_000)
    await watch()
    await place.look()
  }
}
const keys = async () => (await place.runs()).map(({ context }) => (context as { key: string }).key).toSorted()
const firings = async () => {
  const { json } = await place.route('get-trigger', { document: 'orders', trigger: 'dropped' }, undefined, {
    httpMethod: 'GET',
  })
  return json.firings as readonly {
    readonly id: string
    readonly state: string
    readonly object?: { readonly key: string; readonly bytes: number }
    readonly reason?: { readonly code: string }
  }[]
}

test('each file of its keys starts one run with its body; one written anew is another', async () => {
  place.write('orders', says(INBOX))
  await pass(2)
  drop('inbox/a.csv', 'n\n1')
  drop('inbox/deep/b.csv', 'n\n2')
  for (const key of ['inbox/a.txt', 'outbox/a.csv', 'inbox/.hidden.csv', 'a.csv']) drop(key, 'n')
  await pass(6)
  expect(await keys()).toEqual(['inbox/a.csv', 'inbox/deep/b.csv'])
  expect((await place.runs()).every(({ starter }) => starter === 'trigger:dropped')).toBe(true)
  await place.ended()
  drop('inbox/a.csv', 'n\n1\n3')
  await pass(6)
  expect(await keys()).toEqual(['inbox/a.csv', 'inbox/a.csv', 'inbox/deep/b.csv'])
  expect((await firings()).map(({ object }) => object)).toContainEqual({ key: 'inbox/a.csv', bytes: 5 })
})

test('those that came while the place stood still are taken at its start, those from before the trigger are not', async () => {
  drop('inbox/before.csv', 'n')
  place.write('orders', says(INBOX))
  await pass(4)
  expect(await keys()).toEqual([])
  drop('inbox/meanwhile.csv', 'n')
  place.time.set(place.time.now() + 3 * 86_400_000)
  // Another process.
  await pass(5, watchWith(taking))
  expect(await keys()).toEqual(['inbox/meanwhile.csv'])
})

test('a half-written file waits until it is whole', async () => {
  place.write('orders', says(INBOX))
  await pass(2)
  for (let n = 1; n <= 6; n += 1) {
    drop('inbox/growing.csv', 'n\n'.repeat(n))
    await pass(1)
  }
  expect(await keys()).toEqual([])
  drop('inbox/.moved.csv', 'n')
  renameSync(join(place.test.folder, 'inbox/.moved.csv'), join(place.test.folder, 'inbox/moved.csv'))
  await pass(5)
  expect(await keys()).toEqual(['inbox/growing.csv', 'inbox/moved.csv'])
})

test('who dies after it was told and before that was noted tells again: it is the same firing', async () => {
  place.write('orders', says(INBOX))
  await pass(2)
  drop('inbox/a.csv', 'n')
  const dying = watchWith(async (payload) => {
    await taking(payload)
    throw new Error('killed')
  })
  await pass(4, dying)
  expect(told.length).toBeGreaterThan(1)
  await pass(4)
  await Promise.all([taking(told[0] ?? {}), taking(told[0] ?? {})])
  await place.look()
  expect(await keys()).toEqual(['inbox/a.csv'])
  expect(await firings()).toHaveLength(1)
})

test('what is too large, or gone, is a firing that has failed, once', async () => {
  place.write('orders', says('{ prefix: inbox/, max_bytes: 4, map: { file: object.ref } }'))
  await pass(2)
  drop('inbox/large', '12345')
  drop('inbox/small', '1234')
  await pass(5)
  const object = { key: 'inbox/never', version: '1-1', at: new Date(place.time.now()).toISOString() }
  for (let i = 0; i < 2; i += 1) await taking({ document: 'orders', trigger: 'dropped', object })
  const found = (await firings()).map(({ state, reason }) => reason?.code ?? state)
  expect(found.toSorted()).toEqual(['object_gone', 'object_too_large', 'started'])
})

test('paused it takes nothing; put back it begins then', async () => {
  place.write('orders', says(INBOX))
  await pass(2)
  const to = { document: 'orders', trigger: 'dropped' }
  await place.route('change-trigger', to, { paused: true })
  drop('inbox/paused.csv', 'n')
  await pass(5)
  await place.route('change-trigger', to, { paused: false })
  await pass(5)
  expect(await keys()).toEqual([])
  place.remove('orders')
  await pass(2)
  drop('inbox/away.csv', 'n')
  place.write('orders', says(INBOX))
  await pass(5)
  expect(await keys()).toEqual([])
  drop('inbox/again.csv', 'n')
  await pass(5)
  expect(await keys()).toEqual(['inbox/again.csv'])
  rmSync(join(place.test.folder, 'inbox'), { recursive: true })
  await pass(2)
})

test('tried with a key, fired by hand with a ref', async () => {
  place.write('orders', says(INBOX))
  const to = { document: 'orders', trigger: 'dropped' }
  expect(await place.route('try-trigger', to, { body: { key: 'outbox/a.csv' } })).toMatchObject({
    json: { ok: false, problems: [{ code: 'no_match' }] },
  })
  expect(await place.route('try-trigger', to, {})).toMatchObject({ json: { inputs: { key: 'inbox/sample.csv' } } })
  expect(await place.route('fire-trigger', to, {})).toMatchObject({ status: 400, json: { code: 'object_needed' } })
  const { ref } = await place.test.place.world.objects.put('main', Buffer.from('n\n1'))
  expect(await place.route('fire-trigger', to, { body: { ref, key: 'by hand' } })).toMatchObject({ status: 202 })
  await place.look()
  expect(await keys()).toEqual(['by hand'])
})
