import { afterEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

const text = { text: { type: 'string' } }
const agent = (prompt: string) => ({ provider: 'probe', model: 'm', prompt })
const starts = (events: readonly RunEvent[], block: string) =>
  events.filter(({ type, block_id }) => type === 'block:started' && block_id === block).length

const silent = { info: () => undefined, error: () => undefined }

/** Answers at once, but for prompts listed in `hang`: those wait until they are aborted. */
function hanging(hang: Set<string>, calls: string[]) {
  return provider(({ prompt, signal }) => {
    calls.push(prompt)
    if (!hang.has(prompt)) return 'x'
    return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
}

describe('a place opened again', () => {
  test('goes on where it was: completed blocks are not dispatched again, a lost attempt is', async () => {
    const hang = new Set(['two'])
    const calls: string[] = []
    open = await openTestPlace({ providers: { probe: hanging(hang, calls) } })
    const id = await open.start({
      blocks: [
        { id: 'one', outputs: text, agent: agent('one') },
        { id: 'two', inputs: { text: { from: 'one.text' } }, outputs: text, agent: agent('two') },
        { id: 'three', inputs: { text: { from: 'two.text' } }, outputs: text, agent: agent('three') },
      ],
    })
    await open.until(id, ({ type, block_id }) => type === 'block:started' && block_id === 'two')
    await expect.poll(() => calls).toContain('two')
    hang.clear()
    await open.reopen()
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect([starts(events, 'one'), starts(events, 'two'), starts(events, 'three')]).toEqual([1, 2, 1])
    expect(events.find(({ type }) => type === 'block:retrying')).toMatchObject({ data: { code: 'ATTEMPT_LOST' } })
    expect(calls).toEqual(['one', 'two', 'two', 'three'])
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
  })

  test('keeps a pending approval: the decision taken there resumes the run', async () => {
    const calls: string[] = []
    const providers = { probe: hanging(new Set(), calls) }
    open = await openTestPlace({ providers })
    const id = await open.start({
      blocks: [
        { id: 'one', outputs: text, agent: agent('one') },
        { id: 'two', inputs: { text: { from: 'one.text' } }, outputs: text, agent: agent('two'), approval: true },
      ],
    })
    const request = await open.until(id, ({ type }) => type === 'approval:requested')
    await open.reopen()
    const digest = request.type === 'approval:requested' ? request.data.digest : ''
    expect((await open.call('decide-approval', id, { decision: 'approve', digest })).status).toBe(200)
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(calls).toEqual(['one', 'two'])
  })

  test('keeps the time a retry is due, and its feedback', { tags: ['thorough'] }, async () => {
    const feedback: (readonly string[])[] = []
    const probe = provider((request) => {
      feedback.push(request.feedback)
      return feedback.length === 1 ? 'no' : 'long enough'
    })
    open = await openTestPlace({ providers: { probe } })
    const gate = { name: 'long', check: { type: 'min_length', port: 'text', min: 5 } }
    const retry = { max_attempts: 2, backoff: 'none', delay_ms: 2_000, jitter: 'none' }
    const id = await open.start({ blocks: [{ id: 'a', outputs: text, agent: agent('a'), post_gates: [gate], retry }] })
    const retrying = await open.until(id, ({ type }) => type === 'block:retrying')
    await open.reopen()
    const events = await open.ended(id)
    const second = events.filter(({ type }) => type === 'block:started').at(-1)
    expect(Date.parse(second?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(retrying.at) + 2_000)
    expect(feedback[1]).toEqual(['long: must be at least 5 characters, has 2'])
  })

  test('fails a block for good when its last allowed attempt was lost', async () => {
    const calls: string[] = []
    const providers = { probe: hanging(new Set(['a']), calls) }
    open = await openTestPlace({ providers }, { safety: { max_attempts: 2 } })
    const id = await open.start({ blocks: [{ id: 'a', outputs: text, agent: agent('a') }] })
    for (const seen of [1, 2]) {
      await expect.poll(() => calls.length).toBe(seen)
      await open.reopen()
    }
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'ATTEMPT_LOST', block_id: 'a' } })
    expect(calls).toHaveLength(2)
  })

  test('keeps max_parallel: what a lost attempt held is free again', async () => {
    const hang = new Set(['b0', 'b1'])
    const calls: string[] = []
    open = await openTestPlace({ providers: { probe: hanging(hang, calls) } })
    const blocks = ['b0', 'b1', 'b2', 'b3'].map((id) => ({ id, outputs: text, agent: agent(id) }))
    const id = await open.start({ blocks }, { options: { max_parallel: 2 } })
    await expect.poll(() => calls.length).toBe(2)
    hang.clear()
    await open.reopen()
    const events = await open.ended(id)
    expect(events.filter(({ type }) => type === 'block:completed')).toHaveLength(4)
    expect((await open.place.world.runs.head({ tenant: 'main', run_id: id }))?.running).toEqual([])
  })
})

describe('a run whose execution dies', () => {
  test('fails in words, at once, when its document is gone', async () => {
    const hang = new Set(['a'])
    const calls: string[] = []
    open = await openTestPlace({ providers: { probe: hanging(hang, calls) }, log: silent })
    const id = await open.start({ blocks: [{ id: 'a', outputs: text, agent: agent('a') }] })
    await expect.poll(() => calls.length).toBe(1)
    await open.breakObjects(undefined)
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'execution_ended' } })
  })

  test('fails the block without showing internals when an adapter throws what nobody foresaw', async () => {
    const probe = provider(({ prompt }) => {
      if (prompt === 'a') return 'x'
      throw new Error('secret internals')
    })
    open = await openTestPlace({ providers: { probe }, log: silent })
    const id = await open.start({ blocks: ['a', 'b'].map((name) => ({ id: name, outputs: text, agent: agent(name) })) })
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'unexpected', block_id: 'b' } })
    expect(JSON.stringify(events)).not.toContain('secret internals')
  })
})

describe('reconcile', () => {
  test.each([['no JSON'], ['{"v":1}'], ['{"v":1,"tenant":"main","run_id":"run_00000000000000000000000000"}'], [null]])(
    'leaves an execution alone that is none of ours: %s',
    async (input) => {
      open = await openTestPlace()
      expect(await open.place.invoke('reconcile', { detail: { status: 'FAILED', input } })).toEqual({ looked: false })
    },
  )
})

describe('stop', () => {
  test('is written first, aborts the dispatch, which nothing else would end, and a late result changes nothing', async () => {
    let aborted = false
    const probe = provider(
      ({ signal }) =>
        new Promise<string>((resolve) =>
          signal.addEventListener('abort', () => {
            aborted = true
            resolve('too late')
          }),
        ),
    )
    open = await openTestPlace({ providers: { probe } })
    const id = await open.start({ blocks: [{ id: 'slow', outputs: text, agent: agent('slow') }] })
    await open.until(id, ({ type }) => type === 'block:started')
    expect((await open.call('stop-run', id, { reason: 'enough' })).status).toBe(200)
    await expect.poll(() => aborted).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await open.events(id)).at(-1)?.type).toBe('run:cancelled')
  })

  test('a deadline cancels the run, naming it', async () => {
    open = await openTestPlace({ providers: { probe: hanging(new Set(['slow']), []) } })
    const dag = { blocks: [{ id: 'slow', outputs: text, agent: agent('slow') }] }
    const id = await open.start(dag, { options: { deadline_sec: 1 } })
    const events = await open.ended(id)
    expect(events.at(-1)).toMatchObject({ type: 'run:cancelled', data: { code: 'max_run_duration_exceeded' } })
  })
})
