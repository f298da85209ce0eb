import { afterEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../shared/runs/event.ts'
import { block, child, childOf, deployDocument, lastOf, retry, startsOf } from './child-place.ts'
import { fastClock } from './fast-clock.ts'
import { openTestPlace, provider, type TestPlace } from './test-place.ts'

let open: TestPlace | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

/** Answers the prompt itself in capitals. */
const shout = provider(({ prompt }) => prompt.toUpperCase())
const says = (prompt: string) => ({ agent: { provider: 'probe', model: 'm', prompt } })
const outputOf = async (place: TestPlace, runId: string, id: string) => {
  const params = { pathParameters: { run_id: runId, block_id: id }, httpMethod: 'GET', path: '/', body: null }
  const answer = (await place.place.invoke('get-outputs', { ...params, headers: {}, queryStringParameters: null })) as {
    readonly body: string
  }
  return JSON.parse(answer.body).outputs
}
const failureOf = (events: readonly RunEvent[], id: string) =>
  events.find(({ type, block_id }) => type === 'block:failed' && block_id === id)?.data

describe('a block of mode dag', () => {
  test('runs a deployed document as a child, and takes what its last block made', async () => {
    open = await openTestPlace({ providers: { probe: shout } })
    deployDocument(open, 'inner', [block('say', { inputs: { topic: 'string' }, ...says('on {{inputs.topic}}') })])
    const id = await open.start({
      blocks: [
        block('first'),
        child('sub', 'inner', { inputs: { topic: { from: 'first.text' } } }),
        block('last', { inputs: { text: { from: 'sub.text' } }, ...says('then {{inputs.text}}') }),
      ],
    })
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await outputOf(open, id, 'last')).toMatchObject({ text: 'THEN ON FIRST' })
    const output = events.find(({ type, block_id }) => type === 'block:output' && block_id === 'sub')
    const childId = await childOf(open, id, 'sub')
    const spent = { tokens_in: 1, tokens_out: 1, usd_micros: 0 }
    expect(output?.data).toMatchObject({ provider: 'dag', model: 'inner', note: `child run ${childId}`, ...spent })
    const [started] = await open.events(childId)
    const parent = { run_id: id, block_id: 'sub', epoch: 0, attempt: 1 }
    expect(started).toMatchObject({ type: 'run:started', data: { dag_name: 'inner', parent } })
  })

  test('fills the inputs of the child from templates, and its outputs from named ones', async () => {
    open = await openTestPlace({ providers: { probe: shout } })
    const inputs = { rows: { type: 'json' }, title: { type: 'string' }, note: { type: 'string', required: false } }
    const many = { inputs: { rows: 'json' }, ...says('{{inputs.rows.1}} of {{inputs.title}}') }
    deployDocument(open, 'inner', [block('inside', many), block('end', { inputs: { x: { from: 'inside.text' } } })], {
      inputs,
    })
    const dag = {
      inputs: { rows: '{{inputs.list}}', title: 'The {{inputs.word}}', note: '{{inputs.none}}' },
      outputs: { text: 'inside.text' },
    }
    const ports = { list: 'json', word: 'string', none: { type: 'string', required: false } }
    const values = { list: ['a', 'b'], word: 'letters' }
    const id = await open.start({ blocks: [child('sub', 'inner', { inputs: ports }, dag)] }, { inputs: values })
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    expect(await outputOf(open, id, 'sub')).toEqual({ text: 'B OF THE LETTERS' })
  })

  test.each([
    ['no such document', 'nobody', {}, 'unknown_dag', 'nobody'],
    ['a document with errors', 'broken', {}, 'invalid_dag', 'nowhere'],
    ['an input the child does not read', 'inner', { inputs: { zzz: 1 } }, 'invalid_inputs', 'zzz'],
    ['a template without a value', 'inner', { inputs: { topic: 'on {{inputs.none}}' } }, 'missing_input', 'none'],
    ['an output the child does not have', 'inner', { outputs: { text: 'say.zzz' } }, 'unknown_child_output', 'say.zzz'],
  ])('fails before anything is spent: %s', async (_why, name, dag, code, word) => {
    open = await openTestPlace({ providers: { probe: shout } })
    deployDocument(open, 'inner', [block('say', { inputs: { topic: { type: 'string', required: false } } })])
    deployDocument(open, 'broken', [block('say', { inputs: { text: { from: 'nowhere.text' } } })])
    const inputs = { none: { type: 'string', required: false } }
    const id = await open.start({ blocks: [child('sub', name, { inputs }, dag)] })
    const events = await open.ended(id)
    expect(failureOf(events, 'sub')).toMatchObject({ code, reason: expect.stringContaining(word) })
    expect((await open.call('list-runs', '')).json.runs).toHaveLength(1)
  })

  test('is skipped, asked about, judged like any other block', async () => {
    open = await openTestPlace({ providers: { probe: shout } })
    deployDocument(open, 'inner', [block('say')])
    const gate = { name: 'long', check: { type: 'min_length', port: 'text', min: 99 } }
    const id = await open.start({
      blocks: [
        child('judged', 'inner', { post_gates: [gate] }),
        child('skipped', 'inner', { inputs: { text: { from: 'judged.text' } } }),
        child('never', 'inner', { when: 'inputs.kind == "x"', inputs: { kind: { type: 'string', required: false } } }),
        child('asked', 'inner', { approval: true }),
      ],
    })
    await open.until(id, ({ type }) => type === 'approval:requested')
    expect((await open.call('decide-approval', id, { block_id: 'asked', decision: 'reject' })).status).toBe(200)
    const events = await open.ended(id)
    expect(failureOf(events, 'judged')).toMatchObject({ code: 'post_gate_failed' })
    expect(failureOf(events, 'asked')).toMatchObject({ code: 'approval_rejected' })
    const skips = events.flatMap((event) =>
      event.type === 'block:skipped' ? [[event.block_id, event.data.condition]] : [],
    )
    expect(skips.toSorted()).toEqual([
      ['never', 'when'],
      ['skipped', undefined],
    ])
    expect(startsOf(events, 'asked')).toEqual([])
  })
})

describe('a child that does not complete', () => {
  const fails = provider(({ prompt }) => {
    if (prompt === 'bad') throw new Error('no')
    return prompt
  })

  test('fails its block in words that name it, and what it spent is counted', async () => {
    open = await openTestPlace({ providers: { probe: fails }, log: { info: () => undefined, error: () => undefined } })
    deployDocument(open, 'inner', [block('good'), block('bad', { inputs: { text: { from: 'good.text' } } })])
    const id = await open.start({ blocks: [child('sub', 'inner')] })
    const events = await open.ended(id)
    const childId = await childOf(open, id, 'sub')
    const reason = expect.stringMatching(new RegExp(`^child run ${childId} of DAG "inner" failed: Block "bad" failed`))
    expect(events.at(-1)).toMatchObject({ type: 'run:failed', data: { code: 'child_failed', block_id: 'sub' } })
    expect(failureOf(events, 'sub')).toMatchObject({ code: 'child_failed', reason })
    expect((await open.call('get-run', id)).json.run).toMatchObject({ tokens: 2 })
  })

  test('is followed by another, as retry allows', async () => {
    let calls = 0
    const probe = provider(() => {
      calls += 1
      if (calls === 1) throw new Error('no')
      return 'x'
    })
    open = await openTestPlace({ providers: { probe }, log: { info: () => undefined, error: () => undefined } })
    deployDocument(open, 'inner', [block('say')])
    const id = await open.start({ blocks: [child('sub', 'inner', { retry: retry(3) })] })
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    const children = startsOf(events, 'sub')
    expect(new Set(children).size).toBe(2)
    const ends = await Promise.all(children.map(async (run) => open && (await lastOf(open, run))?.type))
    expect(ends).toEqual(['run:failed', 'run:completed'])
  })

  test('ends with the block when its outputs fall short of the contract', async () => {
    open = await openTestPlace({ providers: { probe: provider(() => 'x') } })
    deployDocument(open, 'inner', [
      block('say', { when: 'inputs.go == true', inputs: { go: { type: 'boolean', required: false } } }),
    ])
    const id = await open.start({ blocks: [child('sub', 'inner')] })
    const events = await open.ended(id)
    expect(failureOf(events, 'sub')).toMatchObject({ code: 'output_contract', reason: expect.stringContaining('text') })
  })
})

describe('depth', () => {
  test('a DAG that starts itself ends, named, without a run for every retry', async () => {
    open = await openTestPlace({ providers: { probe: shout } })
    deployDocument(open, 'again', [child('self', 'again', { retry: retry(3) })])
    const id = await open.start({ blocks: [child('top', 'again')] })
    const last = await lastOf(open, id)
    expect(last).toMatchObject({ type: 'run:failed', data: { code: 'child_too_deep' } })
    const runs: readonly unknown[] = (await open.call('list-runs', '')).json.runs ?? []
    expect(runs).toHaveLength(6)
  })
})

describe('many children', () => {
  test('two at once meet in a join, and fifty end', async () => {
    open = await openTestPlace({ providers: { probe: shout } })
    deployDocument(open, 'inner', [block('say', { inputs: { word: 'string' }, ...says('{{inputs.word}}') })])
    const many = Array.from({ length: 50 }, (_, i) => child(`c${i}`, 'inner', {}, { inputs: { word: `w${i}` } }))
    const from = (id: string) => ({ from: `${id}.text` })
    const id = await open.start({
      blocks: [
        ...many,
        block('n1', { inputs: { a: from('c0') } }),
        block('n2', { inputs: { a: from('c0'), b: from('c1') } }),
        block('both', { inputs: { a: from('n1'), b: from('c1'), c: from('c2') }, ...says('{{inputs.b}}{{inputs.c}}') }),
      ],
    })
    const events = await open.ended(id)
    expect(events.at(-1)?.type).toBe('run:completed')
    expect(await outputOf(open, id, 'both')).toEqual({ text: 'W1W2' })
    const children = new Set(many.flatMap((one) => startsOf(events, one.id)))
    expect(children.size).toBe(50)
  }, 60_000)

  test.each([
    ['woken when one has ended', true],
    ['asking again where nobody wakes them', false],
  ])('no more at once than max_parallel allows, %s', async (_how, wakes) => {
    let now = 0
    let most = 0
    const two = Promise.withResolvers<void>()
    const probe = provider(async () => {
      now += 1
      most = Math.max(most, now)
      if (now === 2) two.resolve()
      await two.promise
      await new Promise((resolve) => setTimeout(resolve, 20))
      now -= 1
      return 'x'
    })
    open = await openTestPlace({ providers: { probe }, clock: fastClock(50) })
    if (!wakes) Object.assign(open.place.world.waker, { slot: async () => false })
    deployDocument(open, 'inner', [block('say')])
    const blocks = Array.from({ length: 6 }, (_, i) => child(`c${i}`, 'inner'))
    const id = await open.start({ blocks }, { options: { max_parallel: 2 } })
    expect((await lastOf(open, id))?.type).toBe('run:completed')
    expect(most).toBe(2)
  })
})
