import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Provider } from '../../shared/providers/provider.ts'
import { child, deployDocument } from './child-place.ts'
import { openTestPlace, type TestPlace } from './test-place.ts'

const CLI = resolve(import.meta.dirname, '../../clients/cli/sluice.mjs')
let place: TestPlace

/** Prompts that say so are answered without a price. */
const paid: Provider = {
  dispatch: async ({ prompt, model }) => {
    const price = prompt.includes('unpriced') ? {} : { usd: 0.0021 }
    return { text: 'done', tokens_in: 1_200, tokens_out: 50, ...price, model, finish_reason: 'stop' }
  },
}
const block = (id: string, prompt: string) => ({
  id,
  outputs: { text: 'string' },
  agent: { provider: 'paid', model: 'm-1', prompt },
})

beforeAll(async () => {
  place = await openTestPlace({ listen: true, providers: { paid } }, { port: 0 })
  deployDocument(place, 'mixed', [block('known', 'Go'), block('free', 'unpriced')])
})
afterAll(() => place.close())

async function get(path: string): Promise<never> {
  return (await fetch(`${place.place.url}${path}`)).json() as Promise<never>
}

async function listed(run_id: string) {
  const { runs }: { runs: readonly { run_id: string }[] } = await get('/api/dag/runs')
  return runs.find((run) => run.run_id === run_id)
}

async function cli(...args: readonly string[]): Promise<string> {
  const running = spawn(process.execPath, [CLI, ...args, '--url', place.place.url ?? ''])
  const [said] = await Promise.all([text(running.stdout), once(running, 'exit')])
  return said
}

test('a run tells what is known of its price, and how much of it nobody knows: API, list, CLI', async () => {
  const id = await place.start({ name: 'costs', blocks: [block('known', 'Go'), block('free', 'unpriced')] })
  await place.ended(id)
  const price = { tokens: 2_500, usd: 0.0021, unpriced_tokens: 1_250 }
  const answer: { run: object; blocks: object } = await get(`/api/dag/runs/${id}`)
  expect(answer.run).toMatchObject(price)
  expect(answer.blocks).toMatchObject({
    known: { tokens: 1_250, usd: 0.0021 },
    free: { tokens: 1_250, usd: null, unpriced_tokens: 1_250 },
  })
  expect(await listed(id)).toMatchObject(price)
  expect(await cli('run', 'status', id)).toContain('2500 tokens  $0.0021 + unknown')
  expect(await cli('run', 'list')).toMatch(new RegExp(`${id}.+  costs  \\d.+ s  2500 tokens  \\$0.0021 \\+ unknown\n`))
})

test('what a child knows of its price its parent knows', async () => {
  const id = await place.start({
    blocks: [child('whole', 'mixed', { outputs: { text: 'string' } }, { outputs: { text: 'known.text' } })],
  })
  const events = await place.ended(id)
  expect(events.at(-1)?.type).toBe('run:completed')
  const price = { tokens: 2_500, usd: 0.0021, unpriced_tokens: 1_250 }
  expect(((await get(`/api/dag/runs/${id}`)) as { run: object }).run).toMatchObject(price)
  expect(await listed(id)).toMatchObject(price)
})

test('the list says when a run ended and why; of a live one neither', async () => {
  const live = await place.start({ blocks: [{ ...block('a', 'Go'), approval: { prompt: 'Go on?' } }] })
  await place.until(live, ({ type }) => type === 'approval:requested')
  expect(await listed(live)).toMatchObject({ ended_at: null, tokens: 0, usd: 0 })
  expect(await listed(live)).not.toHaveProperty('reason')
  await place.call('stop-run', live, { reason: 'enough' })
  const { run }: { run: { ended_at: string; code: string; reason: string } } = await get(`/api/dag/runs/${live}`)
  const { ended_at, code, reason } = run
  expect(await listed(live)).toMatchObject({ ended_at, code, reason })
  expect(reason).toContain('enough')
})
