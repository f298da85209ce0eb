import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

/**
 * A run waits for days, and its machine's text stays what it was when it was started: the functions of today must
 * understand what earlier compilers put into payloads. The texts are what those compilers wrote of one document, with a
 * join, a question, a retry and a bounce.
 */
const OLDER: {
  readonly document: object
  readonly machines: readonly { readonly what: string; readonly text: string }[]
} = JSON.parse(readFileSync(join(import.meta.dirname, '../machines/older-machines.json'), 'utf8'))

let open: TestPlace
afterEach(() => open.close())

test.each(OLDER.machines)('a run on a machine of an earlier compiler goes to its end: $what', async ({ text }) => {
  const asked: string[] = []
  const tries = new Map<string, number>()
  const mine = provider(({ model: block }) => {
    asked.push(block)
    const n = (tries.get(block) ?? 0) + 1
    tries.set(block, n)
    // d is refused once for what it is not, f is sent back once.
    if (block === 'd' && n === 1) return '{"other":"x"}'
    return block === 'f' && n === 1 ? '{"text":"no"}' : '{"text":"good"}'
  })
  open = await openTestPlace({ providers: { mine } }, { providers: { mine: { type: 'local' } } })
  const { machine } = open.place.world
  const { ensure } = machine
  Object.assign(machine, { ensure: (_text: string, hash: string) => ensure(text, hash) })
  const id = await open.start(OLDER.document)
  const question = await open.until(id, ({ type }) => type === 'approval:requested')
  for (const block of ['c', 'f']) {
    await open.until(id, ({ type, block_id }) => type === 'block:completed' && block_id === block)
  }
  await open.reopen()
  const { approval_id, digest } = question.data as { readonly approval_id: string; readonly digest: string }
  const decided = await open.call('decide-approval', id, { approval_id, digest, decision: 'approve' })
  expect(decided.status).toBe(200)
  const events = await open.ended(id)
  expect(events.at(-1)?.type).toBe('run:completed')
  expect(events.filter(({ type }) => type === 'block:rerouted')).toHaveLength(1)
  expect(asked.filter((block) => block === 'e')).toHaveLength(2)
})
