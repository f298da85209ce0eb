import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const types = (events: readonly RunEvent[]) =>
  events.map(({ type, block_id }) => (block_id === undefined ? type : `${type} ${block_id}`))
const agent = (prompt: string) => ({ provider: 'probe', model: 'm', prompt })
const text = { text: { type: 'string' } }

describe('a run', () => {
  test('of the canonical example completes with every event in order', async () => {
    open = await openTestPlace()
    const id = await open.start(readFileSync('dags/basic.yaml', 'utf8'), {
      inputs: { goal: 'Ship a release. Tell everybody.' },
    })
    const events = await open.ended(id)
    expect(types(events)).toEqual([
      'run:started',
      'block:ready plan',
      'block:started plan',
      'block:output plan',
      'block:completed plan',
      'block:ready implement',
      'block:started implement',
      'block:output implement',
      'block:completed implement',
      'run:completed',
    ])
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  })

  test('hands outputs on and retries with the gate verdicts as feedback', async () => {
    const prompts: string[] = []
    const probe = provider(({ prompt }) => {
      prompts.push(prompt)
      return prompts.length === 1 ? 'short' : `long enough: ${prompt.length}`
    })
    open = await openTestPlace({ providers: { probe } })
    const id = await open.start(
      {
        blocks: [
          {
            id: 'write',
            outputs: text,
            agent: agent('Write about {{inputs.topic}}'),
            post_gates: [{ name: 'long', check: { type: 'min_length', port: 'text', min: 12 }, error: 'Too short' }],
            retry: { max_attempts: 2, backoff: 'none', delay_ms: 5 },
          },
          {
            id: 'sum',
            inputs: { text: { from: 'write.text' } },
            outputs: text,
            agent: agent('Sum up: {{inputs.text}}'),
          },
        ],
      },
      { context: { topic: 'gates' } },
    )
    const events = await open.ended(id)
    expect(types(events).filter((line) => /retrying|gate|completed/.test(line))).toEqual([
      'block:gate write',
      'block:retrying write',
      'block:gate write',
      'block:completed write',
      'block:completed sum',
      'run:completed',
    ])
    expect(prompts[0]).toBe('Write about gates')
    expect(prompts[1]).toContain('long: Too short: must be at least 12 characters, has 5')
    expect(prompts[2]).toContain('Sum up: long enough')
  })

  test('repairs a broken output contract within the attempt, telling the model what was missing', async () => {
    const asked: (readonly string[])[] = []
    const probe = provider(({ feedback }) => {
      asked.push(feedback)
      return feedback.length === 0 ? '{"a": "only a"}' : '{"a": "a", "b": 2}'
    })
    open = await openTestPlace({ providers: { probe } })
    const outputs = { a: { type: 'string' }, b: { type: 'number' } }
    const id = await open.start({ blocks: [{ id: 'two', outputs, agent: agent('go'), strict_output: true }] })
    expect((await open.ended(id)).filter(({ type }) => type === 'block:started')).toHaveLength(1)
    expect(asked).toEqual([[], ['missing port b']])
  })

  test('says of an output without a value that the expression gave nothing for it', async () => {
    open = await openTestPlace()
    const deterministic = { handler: 'transform', config: { expression: '{"a": "x", "b": inputs.elsewhere}' } }
    const outputs = { a: 'string', b: 'string' }
    const id = await open.start({ blocks: [{ id: 'lost', mode: 'deterministic', outputs, deterministic }] })
    const end = (await open.ended(id)).at(-1)
    expect(end).toMatchObject({ data: { code: 'output_contract', block_id: 'lost' } })
    expect(JSON.stringify(end)).toContain('missing port b: its expression gave nothing for it')
  })

  test('fails naming its first failure, skips dependents, lets independent blocks finish', async () => {
    const probe = provider(({ prompt }) => (prompt.startsWith('bad') ? '' : 'fine'))
    open = await openTestPlace({ providers: { probe } })
    const id = await open.start({
      blocks: [
        { id: 'bad', outputs: text, agent: agent('bad') },
        { id: 'after', inputs: { text: { from: 'bad.text' } }, outputs: text, agent: agent('after') },
        { id: 'other', outputs: text, agent: agent('other') },
      ],
    })
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'output_contract', block_id: 'bad' } })
    expect(types(events)).toContain('block:skipped after')
    expect(types(events)).toContain('block:completed other')
    const view = await open.call('get-run', id)
    expect(view.json).toMatchObject({
      run: { state: 'failed' },
      blocks: { after: { state: 'skipped' } },
    })
  })

  test('with fail_fast ends at the first failure and aborts what is in flight', async () => {
    let aborted = false
    const probe = provider(({ prompt, signal }) => {
      if (prompt.startsWith('bad')) return ''
      return new Promise<string>((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true
          reject(signal.reason)
        })
      })
    })
    open = await openTestPlace({ providers: { probe } })
    const blocks = ['bad', 'slow'].map((id) => ({ id, outputs: text, agent: agent(id) }))
    const id = await open.start({ blocks }, { options: { fail_fast: true } })
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { block_id: 'bad' } })
    await expect.poll(() => aborted).toBe(true)
  })

  test('refuses a missing pre-condition without a dispatch', async () => {
    let calls = 0
    const probe = provider(() => {
      calls += 1
      return 'x'
    })
    open = await openTestPlace({ providers: { probe } })
    const id = await open.start(
      {
        blocks: [
          {
            id: 'build',
            inputs: { goal: 'string' },
            outputs: text,
            agent: agent('{{inputs.goal}}'),
            pre_gates: [{ name: 'has-goal', check: { type: 'min_length', port: 'goal', min: 10 } }],
          },
        ],
      },
      { inputs: { goal: 'short' } },
    )
    const events = await open.ended(id)
    expect(types(events)).toEqual([
      'run:started',
      'block:ready build',
      'block:started build',
      'block:gate build',
      'block:failed build',
      'run:failed',
    ])
    expect(calls).toBe(0)
  })

  test('aborts a dispatch at timeout_ms and counts it as a retryable try', async () => {
    let calls = 0
    const probe = provider(({ signal }) => {
      calls += 1
      if (calls === 2) return 'done'
      return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    open = await openTestPlace({ providers: { probe } })
    const retry = { max_attempts: 2, delay_ms: 0 }
    const id = await open.start({
      blocks: [{ id: 'slow', outputs: text, agent: agent('go'), timeout_ms: 1_000, retry }],
    })
    const events = await open.ended(id)
    expect(events.find(({ type }) => type === 'block:retrying')).toMatchObject({ data: { code: 'block_timeout' } })
    expect(events.at(-1)?.type).toBe('run:completed')
  })

  test('never runs more than max_parallel blocks at once, and loses none', async () => {
    let now = 0
    let most = 0
    const three = Promise.withResolvers<void>()
    const probe = provider(async () => {
      now += 1
      most = Math.max(most, now)
      if (now === 3) three.resolve()
      // The first ones stay until there are three.
      await three.promise
      await new Promise((resolve) => setTimeout(resolve, 5))
      now -= 1
      return 'x'
    })
    open = await openTestPlace({ providers: { probe } })
    const blocks = Array.from({ length: 40 }, (_, i) => ({ id: `b${i}`, outputs: text, agent: agent('x') }))
    const id = await open.start({ blocks }, { options: { max_parallel: 3 } })
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(events.filter(({ type }) => type === 'block:completed')).toHaveLength(40)
    expect(most).toBe(3)
  })

  test('starts once for one Idempotency-Key; another body under it is refused', async () => {
    open = await openTestPlace({ providers: { probe: provider(() => 'x') } })
    const dag = { blocks: [{ id: 'a', outputs: text, agent: agent('a') }] }
    const key = { 'idempotency-key': 'k-1' }
    const [one, two] = await Promise.all([open.start(dag, {}, key), open.start(dag, {}, key)])
    expect(two).toBe(one)
    await expect(open.start(dag, { context: { x: 1 } }, key)).rejects.toThrow('idempotency_key_reused')
    expect((await open.ended(one)).filter(({ type }) => type === 'run:started')).toHaveLength(1)
  })

  test('waits for joins exactly: a block of an N starts when its own upstreams are done', async () => {
    const done: string[] = []
    const withoutB = Promise.withResolvers<void>()
    const probe = provider(async ({ prompt }) => {
      // It ends after c has: that waits for a alone.
      if (prompt === 'b') await withoutB.promise
      done.push(prompt)
      if (prompt === 'c') withoutB.resolve()
      return 'x'
    })
    open = await openTestPlace({ providers: { probe } })
    const block = (id: string) => ({ id, outputs: text, agent: agent(id) })
    const edge = (from: string, to: string) => ({ from, to })
    const id = await open.start({
      blocks: ['a', 'b', 'c', 'd'].map(block),
      edges: [edge('a', 'c'), edge('a', 'd'), edge('b', 'd')],
    })
    expect((await open.ended(id)).at(-1)?.type).toBe('run:completed')
    expect(done).toEqual(['a', 'c', 'b', 'd'])
  })
})
