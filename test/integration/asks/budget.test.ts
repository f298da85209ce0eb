import { afterEach, describe, expect, test } from 'vitest'
import type { DispatchAnswer, Provider } from '../../../shared/providers/provider.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { openTestPlace, type TestPlace } from '../test-place.ts'
import { all, asked, decide, expectVerified } from './ask-place.ts'

/** `budget.on_exceed: ask` on the local place: a call that does not fit asks a person to raise the run's cap. */
const places: TestPlace[] = []
afterEach(async () => {
  for (const place of places.splice(0)) await place.close()
})

const PRICED = { paid: { type: 'openai-compatible', url: 'https://api.openai.com/v1' } }

/** 150 tokens a call, 300 estimated (400 characters and max_tokens 200). */
function paying(make: (prompt: string) => Partial<DispatchAnswer> = () => ({})) {
  const prompts: string[] = []
  const paid: Provider = {
    dispatch: async ({ prompt, model }) => {
      prompts.push(prompt.trim())
      return { text: 'done', tokens_in: 100, tokens_out: 50, model, finish_reason: 'stop', ...make(prompt) }
    },
  }
  return { paid, prompts }
}

async function open(paid: Provider, safety: object = {}): Promise<TestPlace> {
  const place = await openTestPlace({ providers: { paid } }, { providers: PRICED, safety })
  places.push(place)
  return place
}

const agent = (prompt: string) => ({
  provider: 'paid',
  model: 'gpt-4o',
  prompt: prompt.padEnd(400),
  model_params: { max_tokens: 200 },
})
const block = (id: string, from: readonly string[] = [], more: object = {}) => ({
  id,
  inputs: Object.fromEntries(from.map((other) => [other, { from: `${other}.text` }])),
  outputs: { text: 'string' },
  agent: agent(id),
  ...more,
})
const ASK = { tokens: 400, on_exceed: 'ask' }
const ledgerOf = async (place: TestPlace, run_id: string) =>
  (await place.place.world.runs.head({ tenant: 'main', run_id }))?.budget

/** At rest nothing is committed but what was spent, and that is the fold's. */
async function balanced(place: TestPlace, run: string) {
  const events = await place.ended(run)
  const { tokens } = foldRun(events)
  expect(await ledgerOf(place, run)).toMatchObject({ committed_tokens: tokens, spent_tokens: tokens })
  await expectVerified(place, run)
  return events
}

describe('a call that does not fit under the cap of the run', () => {
  test('in the middle of an attempt: what is called after the yes has keys of its own', async () => {
    const keys: string[] = []
    const paid: Provider = {
      dispatch: async ({ idempotency_key, model }) => {
        keys.push(idempotency_key)
        const text = keys.length === 1 ? 'no number' : '7'
        return { text, tokens_in: 100, tokens_out: 50, model, finish_reason: 'stop' }
      },
    }
    const place = await open(paid)
    const counting = { ...block('a'), outputs: { text: 'number' }, contract_repair_attempts: 1 }
    const run = await place.start({ budget: ASK, blocks: [counting] })
    const question = await asked(place, run, 'a')
    expect((await decide(place, run, question, 'approve')).status).toBe(200)
    expect((await balanced(place, run)).at(-1)?.type).toBe('run:completed')
    expect(keys).toEqual([`${run}/0/0/1/0`, `${run}/0/0/1.1/0`])
  })

  test('asks; a yes raises the cap by what the document gives, and the same attempt goes on', async () => {
    const { paid, prompts } = paying()
    const place = await open(paid)
    const run = await place.start({ budget: ASK, blocks: [block('a'), block('b', ['a'])] })
    const question = await asked(place, run, 'b')
    expect(question.about).toBe('budget')
    const { json } = await place.call('get-run', run)
    expect(json).toMatchObject({
      run: { state: 'paused_approval', budget: { cap_tokens: 400, committed_tokens: 150 } },
      approvals: [{ prompt: expect.stringMatching(/A yes raises the cap of the run to 800 tokens/) }],
    })
    expect((await decide(place, run, question, 'approve')).status).toBe(200)
    const events = await balanced(place, run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await ledgerOf(place, run)).toMatchObject({ cap_tokens: 800, spent_tokens: 300 })
    expect(prompts).toEqual(['a', 'b'])
    expect(all(events, 'budget:exceeded')).toMatchObject([{ data: { of: 'run_tokens', cap: 400, wanted: 300 } }])
    expect(all(events, 'block:resumed')).toMatchObject([{ block_id: 'b', attempt: 1 }])
    expect(all(events, 'block:started').map(({ block_id, attempt }) => `${block_id} ${attempt}`)).toEqual([
      'a 1',
      'b 1',
    ])
  })

  test('a no fails the block as the cap would have, in the words of who said it', async () => {
    const { paid, prompts } = paying()
    const place = await open(paid)
    const run = await place.start({ budget: ASK, blocks: [block('a'), block('b', ['a'])] })
    await decide(place, run, await asked(place, run, 'b'), 'reject', 'too dear')
    const events = await balanced(place, run)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'ask_rejected' } })
    expect(all(events, 'block:failed')[0]?.data.reason).toContain('too dear')
    expect(await ledgerOf(place, run)).toMatchObject({ cap_tokens: 400 })
    expect(prompts).toEqual(['a'])
  })

  test('is not asked about past the cap of the operator: it fails as ever, and a raise stops there', async () => {
    const { paid } = paying()
    const place = await open(paid, { max_run_tokens: 500 })
    const run = await place.start({ budget: ASK, blocks: [block('a'), block('b', ['a']), block('c', ['b'])] })
    await decide(place, run, await asked(place, run, 'b'), 'approve')
    const events = await balanced(place, run)
    expect(await ledgerOf(place, run)).toMatchObject({ cap_tokens: 500 })
    // 300 are spent, the third call wants 300 more: nobody may go past 500.
    expect(all(events, 'block:failed')).toMatchObject([{ block_id: 'c', data: { code: 'budget_exceeded' } }])
    expect(all(events, 'block:asked')).toHaveLength(1)
  })

  test('of a block with a cap of its own asks nobody', async () => {
    const { paid } = paying()
    const place = await open(paid)
    const run = await place.start({
      budget: { tokens: 5_000, on_exceed: 'ask' },
      blocks: [block('a', [], { budget: { tokens: 100 } })],
    })
    const events = await balanced(place, run)
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'budget_exceeded' } })
    expect(all(events, 'block:asked')).toEqual([])
  })
})

describe('a judge that does not fit', () => {
  const judged = (on: 'pre_gates' | 'post_gates', more: object = {}) => {
    const port = on === 'pre_gates' ? 'topic' : 'text'
    const check = { type: 'llm_review', port, criteria: 'Is it fair?', provider: 'paid', model: 'gpt-5', samples: 1 }
    const inputs = { topic: { type: 'string', default: 'locks' } }
    return block('a', [], { inputs, [on]: [{ name: 'fair', on_fail: 'fail', check }], ...more })
  }
  const yes = (prompt: string) =>
    prompt.includes('Is it fair?') ? { text: '{"pass": true, "rationale": "It is."}' } : {}

  test.each(['pre_gates', 'post_gates'] as const)('in %s asks, and goes on where it stood', async (on) => {
    const { paid, prompts } = paying(yes)
    const place = await open(paid)
    const run = await place.start({ budget: { tokens: 310, on_exceed: 'ask' }, blocks: [judged(on)] })
    for (let n = 1; ; n += 1) {
      const question = await Promise.race([asked(place, run, 'a', n), place.ended(run).then(() => undefined)])
      if (question === undefined) break
      await decide(place, run, question, 'approve')
    }
    const events = await balanced(place, run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(all(events, 'block:asked').length).toBeGreaterThanOrEqual(1)
    expect(prompts.filter((prompt) => prompt === 'a')).toHaveLength(1)
    expect([all(events, 'block:output').length, all(events, 'block:gate').length]).toEqual([1, 1])
  })

  test('before a person is asked about the dispatch: first the budget, then the block', async () => {
    const { paid, prompts } = paying(yes)
    const place = await open(paid)
    const blocks = [judged('pre_gates', { approval: true })]
    const run = await place.start({ budget: { tokens: 1_000, on_exceed: 'ask' }, blocks })
    await decide(place, run, await asked(place, run, 'a'), 'approve')
    const dispatch = await place.until(
      run,
      ({ type, data }) => type === 'approval:requested' && data.about === undefined,
    )
    expect(prompts.filter((prompt) => prompt === 'a')).toHaveLength(0)
    await decide(place, run, dispatch.data as never, 'approve')
    const events = await place.ended(run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(prompts.filter((prompt) => prompt === 'a')).toHaveLength(1)
    await expectVerified(place, run)
  })
})

describe('blocks side by side that do not fit', () => {
  test('each ask; the second yes raises only what is still needed', async () => {
    const { paid, prompts } = paying()
    const place = await open(paid)
    const run = await place.start({ budget: { tokens: 200, on_exceed: 'ask' }, blocks: [block('a'), block('b')] })
    const [left, right] = [await asked(place, run, 'a'), await asked(place, run, 'b')]
    await decide(place, run, left, 'approve')
    await place.until(run, ({ type, block_id }) => type === 'block:completed' && block_id === 'a')
    expect(await ledgerOf(place, run)).toMatchObject({ cap_tokens: 400 })
    await decide(place, run, right, 'approve')
    // 150 are spent and 300 wanted: the old figures were 200 -> 400, so a further question follows.
    await decide(place, run, await asked(place, run, 'b', 2), 'approve')
    const events = await balanced(place, run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await ledgerOf(place, run)).toMatchObject({ cap_tokens: 600 })
    expect(prompts.toSorted()).toEqual(['a', 'b'])
  })
})

describe('items of a list that do not fit', () => {
  test('wait for one answer together, and all go on with it', async () => {
    const { paid, prompts } = paying()
    const place = await open(paid)
    const each = {
      id: 'each',
      inputs: { files: 'json' },
      outputs: { text: 'string' },
      agent: agent('{{inputs.file}}'),
      foreach: { items: '{{inputs.files}}', as: 'file', max_concurrency: 4 },
    }
    const files = ['f0', 'f1', 'f2', 'f3']
    const run = await place.start({ budget: { tokens: 650, on_exceed: 'ask' }, blocks: [each] }, { context: { files } })
    let n = 1
    for (;;) {
      const question = await Promise.race([asked(place, run, 'each', n), place.ended(run).then(() => undefined)])
      if (question === undefined) break
      await decide(place, run, question, 'approve')
      n += 1
    }
    const events = await balanced(place, run)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(prompts.toSorted()).toEqual(files)
    const waiting = all(events, 'block:asked')
    expect(waiting.length).toBeGreaterThanOrEqual(2)
    expect(all(events, 'approval:requested').length).toBeLessThan(waiting.length)
    expect(new Set(waiting.map(({ data }) => data.approval_id)).size).toBe(all(events, 'approval:requested').length)
  })

  test('join the question that is open', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const { paid, prompts } = paying()
    const slow: Provider = {
      dispatch: async (request) => {
        if (request.prompt.startsWith('f0')) await promise
        return paid.dispatch(request)
      },
    }
    const place = await open(slow)
    const foreach = { items: ['f0', 'f1', 'f2'], as: 'file', max_concurrency: 2 }
    const each = { id: 'each', outputs: { text: 'string' }, agent: agent('{{inputs.file}}'), foreach }
    const run = await place.start({ budget: { tokens: 350, on_exceed: 'ask' }, blocks: [each] })
    const question = await asked(place, run, 'each')
    release()
    // The first item is done, the third begins and does not fit either.
    await expect.poll(async () => all(await place.events(run), 'block:asked').length).toBe(2)
    expect(all(await place.events(run), 'block:asked').map(({ data }) => data.approval_id)).toEqual([
      question.approval_id,
      question.approval_id,
    ])
    expect((await place.call('get-run', run)).json).toMatchObject({ run: { state: 'paused_approval' } })
    await decide(place, run, question, 'approve')
    for (let n = 2; ; n += 1) {
      const next = await Promise.race([asked(place, run, 'each', n), place.ended(run).then(() => undefined)])
      if (next === undefined) break
      await decide(place, run, next, 'approve')
    }
    expect((await balanced(place, run)).at(-1)?.type).toBe('run:completed')
    expect(prompts.toSorted()).toEqual(['f0', 'f1', 'f2'])
  })
})
