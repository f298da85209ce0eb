import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RunEventSchema } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import {
  decided,
  ended,
  expired,
  logOf,
  output,
  ready,
  requested,
  rerouted,
  retrying,
  runEnded,
  runStarted,
  second,
  skipped,
  started,
  verdict,
} from './event-log.ts'
import { someLog } from './some-log.ts'

const ENDED = ['completed', 'failed', 'skipped', 'cancelled']

describe('laws', () => {
  test('the logs the laws are about are logs of events', () => {
    fc.assert(
      fc.property(someLog, (log) => log.forEach((event) => void RunEventSchema.parse(event))),
      { numRuns: 30 },
    )
  })

  test('folding in two parts, or event by event, is folding whole', () => {
    fc.assert(
      fc.property(someLog, fc.nat(60), (log, cut) => {
        const whole = foldRun(log)
        expect(foldRun(log.slice(cut), foldRun(log.slice(0, cut)))).toEqual(whole)
        expect(log.reduce((fold, event) => foldRun([event], fold), foldRun([]))).toEqual(whole)
      }),
    )
  })

  test('events delivered again change nothing, and a fold is never changed by the next one', () => {
    fc.assert(
      fc.property(someLog, fc.nat(60), (log, cut) => {
        const early = foldRun(log.slice(0, cut))
        const copy = structuredClone(early)
        const whole = foldRun(log)
        expect(foldRun([...log.slice(Math.floor(cut / 2)), ...log], early)).toEqual(whole)
        expect(early).toEqual(copy)
      }),
    )
  })

  test('steps are 1..n by started_seq, one an attempt that started, open only while the block works or its attempt is asked about', () => {
    fc.assert(
      fc.property(someLog, (log) => {
        const { steps, blocks, state } = foldRun(log)
        expect(steps.map(({ index }) => index)).toEqual(steps.map((_, i) => i + 1))
        const starts = log.filter(({ type }) => type === 'block:started')
        expect(steps.map(({ started_seq }) => started_seq)).toEqual(starts.map(({ seq }) => seq))
        const open = steps.filter((step) => step.state === 'running')
        expect(open).toEqual(steps.filter(({ ended_seq }) => ended_seq === undefined))
        const working = new Set(['running', 'paused_approval', 'ready'])
        expect(open.filter(({ block_id }) => !working.has(blocks[block_id]?.state ?? ''))).toEqual([])
        expect(steps.every(({ started_seq, ended_seq = log.length + 1 }) => ended_seq > started_seq)).toBe(true)
        expect(state === 'running' ? [] : open).toEqual([])
      }),
    )
  })

  test('after the end of the run every block it knows has ended and nothing waits for a person', () => {
    fc.assert(
      fc.property(someLog, (log) => {
        const fold = foldRun(log)
        fc.pre(fold.state !== 'running')
        for (const block of Object.values(fold.blocks)) {
          expect(ENDED).toContain(block.state)
          expect(block).toHaveProperty('ended_at')
          expect(block).not.toHaveProperty('due_at')
        }
        expect(Object.values(fold.approvals).filter(({ status }) => status === 'pending')).toEqual([])
        expect(fold.ended_at).toBe(log.at(-1)?.at)
      }),
    )
  })

  test('what it cost is the sum over every output, and over the blocks', () => {
    fc.assert(
      fc.property(someLog, (log) => {
        const fold = foldRun(log)
        const outputs = log.flatMap((event) => (event.type === 'block:output' ? [event.data] : []))
        const blocks = Object.values(fold.blocks)
        expect(fold.tokens).toBe(15 * outputs.length)
        expect(blocks.reduce((sum, block) => sum + block.tokens_in + block.tokens_out, 0)).toBe(fold.tokens)
        const priced = outputs.filter(({ usd_micros }) => usd_micros !== undefined).length
        expect(fold.usd_micros).toBe(priced === 0 ? undefined : 250 * priced)
      }),
    )
  })
})

describe('one block', () => {
  test('two tries: gates and error are of the newest, start of the first, cost of both', () => {
    const first = [runStarted, ready('build'), started('build', 1), output('build', 1), verdict('build', 1, 'failed')]
    const log = logOf([...first, retrying('build', 1), started('build', 2), output('build', 2)])
    expect(foldRun(log.slice(0, 6)).blocks.build).toMatchObject({
      state: 'retrying',
      attempt: 1,
      due_at: second(60),
      error: { code: 'gate_failed', reason: 'provider timeout' },
      gates: [{ gate: 'length', status: 'failed' }],
    })
    const { build } = foldRun(log.slice(0, 7)).blocks
    expect(build).toMatchObject({ state: 'running', attempt: 2, gates: [], started_at: second(3), tokens_in: 10 })
    for (const gone of ['error', 'due_at', 'outputs', 'ended_at']) expect(build).not.toHaveProperty(gone)
    const done = foldRun(logOf([...first, retrying('build', 1), started('build', 2), ended('build', 2, 'completed')]))
    expect(done.blocks.build).toMatchObject({ state: 'completed', ended_at: second(8), attempt: 2 })
    expect(done.steps).toEqual([
      {
        index: 1,
        block_id: 'build',
        epoch: 0,
        attempt: 1,
        state: 'failed',
        started_seq: 3,
        started_at: second(3),
        ended_seq: 6,
        ended_at: second(6),
        output_ref: 'objstore://main/build.also',
      },
      {
        index: 2,
        block_id: 'build',
        epoch: 0,
        attempt: 2,
        state: 'completed',
        started_seq: 7,
        started_at: second(7),
        ended_seq: 8,
        ended_at: second(8),
      },
    ])
  })

  test('an attempt that is said to have started twice is one step', () => {
    const { steps } = foldRun(logOf([runStarted, started('a', 1), started('a', 1), ended('a', 1, 'completed')]))
    expect(steps).toMatchObject([{ index: 1, started_seq: 2, ended_seq: 4 }])
  })

  test('a new epoch starts the block over; its cost stays', () => {
    const log = logOf([
      runStarted,
      started('a', 2),
      output('a', 2),
      ended('a', 2, 'completed'),
      started('a', 1, 1),
      ended('a', 1, 'failed', 1),
    ])
    const { a } = foldRun(log).blocks
    expect(a).toMatchObject({ epoch: 1, attempt: 1, state: 'failed', started_at: second(5), tokens_out: 5 })
    expect(a).not.toHaveProperty('outputs')
    expect(foldRun(log).steps.map(({ epoch, attempt, state }) => [epoch, attempt, state])).toEqual([
      [0, 2, 'completed'],
      [1, 1, 'failed'],
    ])
  })

  test('sent back it is pending in the new epoch, whatever it was; its cost and steps stay', () => {
    const log = logOf([
      runStarted,
      started('a', 1),
      output('a', 1),
      ended('a', 1, 'completed'),
      skipped('b', 'a'),
      rerouted(['a', 'b', 'c'], 1),
    ])
    const { blocks, steps } = foldRun(log)
    const begun = { state: 'pending', attempt: 0, epoch: 1, gates: [] }
    expect(blocks.a).toEqual({ ...begun, tokens_in: 10, tokens_out: 5, usd_micros: 250 })
    for (const id of ['b', 'c']) expect(blocks[id]).toEqual({ ...begun, tokens_in: 0, tokens_out: 0 })
    expect(steps).toMatchObject([{ block_id: 'a', epoch: 0, state: 'completed' }])
    // An event of several that say one bounce, or an older one, takes nothing back.
    const on = logOf([runStarted, rerouted(['a'], 2), started('a', 1, 2), rerouted(['a'], 2), rerouted(['a'], 1)])
    expect(foldRun(on).blocks.a).toMatchObject({ state: 'running', epoch: 2, attempt: 1 })
  })

  test('items of a foreach block have states and steps of their own, and cost what the block costs', () => {
    const item = (i: number, step: ReturnType<typeof started>) => ({ ...step, lane: `0.${i}` })
    const steps = [
      { ...started('each', 1), lane: '0' },
      item(0, started('each', 1)),
      item(1, started('each', 1)),
      item(0, output('each', 1)),
      item(0, ended('each', 1, 'completed')),
      item(1, retrying('each', 1)),
      item(1, started('each', 2)),
      item(1, ended('each', 2, 'failed')),
    ]
    const fold = foldRun(logOf([runStarted, ...steps]))
    expect(fold.blocks.each).toMatchObject({
      state: 'running',
      tokens_in: 10,
      items: {
        0: { state: 'completed', attempt: 1 },
        1: { state: 'failed', attempt: 2, error: { reason: 'too short' } },
      },
    })
    expect(fold.blocks.each).not.toHaveProperty('outputs')
    expect(fold.steps.map(({ item, attempt, state }) => [item, attempt, state])).toEqual([
      [undefined, 1, 'running'],
      [0, 1, 'completed'],
      [1, 1, 'failed'],
      [1, 2, 'failed'],
    ])
    const stopped = foldRun(logOf([runStarted, ...steps.slice(0, 4), runEnded('cancelled')]))
    expect(stopped.blocks.each).toMatchObject({ state: 'cancelled', items: { 0: { state: 'cancelled' } } })
  })

  test('skipped names what it waited for and has no step; a refusal fails without one', () => {
    const refused = { ...ended('b', 0, 'failed') }
    const fold = foldRun(logOf([runStarted, skipped('a', 'x'), requested('b'), decided('b', 'reject'), refused]))
    expect(fold.blocks.a).toMatchObject({ state: 'skipped', attempt: 0, because: ['x'], ended_at: second(2) })
    expect(fold.blocks.b).toMatchObject({ state: 'failed', attempt: 0 })
    expect(fold.steps).toEqual([])
  })
})

describe('approvals', () => {
  test('asked, then approved: the block pauses, then is ready', () => {
    const log = logOf([
      runStarted,
      ready('a'),
      requested('a'),
      decided('a', 'approve', { feedback_ref: 'objstore://f' }),
    ])
    const asked = foldRun(log.slice(0, 3))
    expect(asked.blocks.a?.state).toBe('paused_approval')
    const approval = {
      approval_id: 'apr_a',
      block_id: 'a',
      digest: 'g',
      requested_at: second(3),
      expires_at: second(1_800),
      approvers: ['user:bo'],
      quorum: 1,
    }
    expect(asked.approvals).toEqual({ apr_a: { ...approval, status: 'pending' } })
    const told = {
      decided_by: 'user:bo',
      decided_at: second(4),
      via: 'cli',
      waited_ms: 5_000,
      feedback_ref: 'objstore://f',
    }
    expect(foldRun(log).approvals).toEqual({ apr_a: { ...approval, status: 'approved', ...told } })
    expect(foldRun(log).blocks.a?.state).toBe('ready')
  })

  test('a vote short of the quorum leaves it pending; a rejection does not wait for one', () => {
    const votes = { have: 1, need: 2 }
    const half = foldRun(logOf([runStarted, requested('a'), decided('a', 'approve', votes)]))
    const first = { by: 'user:bo', via: 'cli', at: second(3) }
    expect(half.approvals.apr_a).toMatchObject({ status: 'pending', votes: [first] })
    expect(half.blocks.a?.state).toBe('paused_approval')
    const no = foldRun(logOf([runStarted, requested('a'), decided('a', 'reject', votes)]))
    expect(no.approvals.apr_a?.status).toBe('rejected')
  })

  test('expired and cancelled are told apart, and the first answer stays', () => {
    const late = foldRun(logOf([runStarted, requested('a'), expired('a'), decided('a', 'approve')]))
    expect(late.approvals.apr_a).toMatchObject({ status: 'expired', decided_at: second(3) })
    const stopped = foldRun(logOf([runStarted, requested('a'), runEnded('cancelled')]))
    expect(stopped.approvals.apr_a?.status).toBe('cancelled')
    expect(stopped.blocks.a).toMatchObject({ state: 'cancelled', ended_at: second(3) })
  })
})

describe('the run', () => {
  test('before any event it runs and has nothing', () => {
    expect(foldRun([])).toEqual({ seq: 0, state: 'running', blocks: {}, steps: [], approvals: {}, tokens: 0 })
  })

  test('its end tells state, code, reason and block, and cancels the attempts in flight', () => {
    const fold = foldRun(
      logOf([runStarted, started('a', 1), ended('a', 1, 'failed'), started('b', 1), runEnded('failed', 'a')]),
    )
    expect(fold).toMatchObject({ seq: 5, state: 'failed', code: 'run_failed', reason: 'because', block_id: 'a' })
    expect([fold.started_at, fold.ended_at]).toEqual([second(1), second(5)])
    expect(fold.steps.map(({ state, ended_seq }) => [state, ended_seq])).toEqual([
      ['failed', 3],
      ['cancelled', 5],
    ])
  })

  test('a gap in the events is an error, never a wrong view', () => {
    const log = logOf([runStarted, ready('a'), started('a', 1)])
    expect(() => foldRun(log.slice(1))).toThrow(expect.objectContaining({ name: 'Bug', code: 'event_gap' }))
    expect(() => foldRun(log.filter(({ seq }) => seq !== 2))).toThrow(/event 3 follows event 1/)
  })

  test('types this version does not know count as seen', () => {
    const log = logOf([runStarted, ready('a')])
    const strange = { ...log[1], seq: 3, type: 'weather:changed', data: { status: 'MET' } }
    const before = foldRun(log)
    expect(foldRun([strange as never], before)).toEqual({ ...before, seq: 3 })
  })
})
