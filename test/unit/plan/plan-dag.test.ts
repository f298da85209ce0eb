import { describe, expect, test } from 'vitest'
import { functionSize } from '../../../infra/aws/function-sizes.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { PRICES } from '../../../shared/plan/aws-prices.ts'
import { FUNCTION_MB } from '../../../shared/plan/cost.ts'
import { planDag } from '../../../shared/plan/plan-dag.ts'
import { PlanSchema } from '../../../shared/plan/plan-schema.ts'
import { WHOLE } from '../../how-much.ts'
import { randomDags } from '../../machines/random-dags.ts'
import { readText } from '../docs/markdown.ts'
import { BOUNCING, CHILD, dagOf, FANNED_OUT } from './documents.ts'

const TOLD = { durations: {}, default_duration: 1, items: {}, max_parallel: 50 }
const plan = (text: string, told = {}) => planDag(dagOf(text), { ...TOLD, ...told })

/** a, b -> c, d where d waits for both and c for a alone: the smallest order that needs a join. */
const N = `
name: n
blocks:
  - { id: a, mode: deterministic, deterministic: { handler: pass }, inputs: { t: string }, outputs: { t: string } }
  - { id: b, mode: deterministic, deterministic: { handler: pass }, inputs: { t: string }, outputs: { t: string } }
  - { id: c, mode: deterministic, deterministic: { handler: pass }, inputs: { t: { from: a.t } }, outputs: { t: string } }
  - { id: d, mode: deterministic, deterministic: { handler: pass }, inputs: { t: { from: a.t }, u: { from: b.t } }, outputs: { t: string, u: string } }
`

/** A module with two ends, x and y: what waits for it and for `a` is let go by both. */
const block = (id: string, inputs: string, more = '') =>
  `  - { id: ${id}, outputs: { t: string }, inputs: { ${inputs} }, agent: { provider: local, model: m, prompt: p }${more} }`
const GATE = 'post_gates: [{ name: g, check: { type: not_empty, port: t }, on_fail: route }]'
const back = (to: string) => `, ${GATE}, on_gate_fail: [{ when_gate: g, route_to: ${to}, max_bounces: 1 }]`
const from = (...ids: readonly string[]) => ids.map((id, i) => `i${i}: { from: ${id}.t }`).join(', ')
const TWO_ENDS = [
  ...['name: ends', 'blocks:', block('a', ''), block('m', '')],
  ...[block('x', from('m'), back('m')), block('y', from('m'), back('m'))],
  ...[block('c', from('m'), back('c')), block('d', from('a', 'm'))],
].join('\n')

describe('planDag()', () => {
  test('follows a machine whose bounce module has several ends', () => {
    expect(plan(TWO_ENDS)).toMatchObject({ makespan: { seconds: 3 } })
  })

  test('names the critical path, the time with and without a limit, and the width', () => {
    const planned = plan(N, { durations: { a: 2, c: 5, d: 1.5 }, max_parallel: 1 })
    expect(planned).toMatchObject({
      critical_path: { blocks: ['a', 'c'], seconds: 7 },
      makespan: { seconds: 7, max_parallel: 1, limited_seconds: 9.5 },
      width: { at_once: 2, possible: 2, exceeds_max_parallel: true },
    })
    expect(plan(N, { max_parallel: 2 }).width.exceeds_max_parallel).toBe(false)
    expect(plan(N, { max_parallel: 0 }).width.exceeds_max_parallel).toBe(false)
  })

  test('says of each join in words why it is there', () => {
    const [join] = plan(N).joins
    expect(join).toEqual({
      state: expect.stringMatching(/^_wait_[cd]$/),
      before: expect.stringMatching(/^[cd]$/),
      waits_for: [expect.stringMatching(/^[ab]$/)],
      reason: expect.stringMatching(
        /^[cd] waits for [ab] because [ab] -> [cd] crosses from one branch of _parallel_1 into another, from the one of [ab] into the one of [ab]\.$/,
      ),
    })
  })

  test('counts a plain run of two blocks as the machine does', () => {
    expect(plan(readText('dags/basic.yaml'))).toMatchObject({
      transitions: 5,
      // Two of the execution, three Tasks, a Choice, a Succeed.
      events: 2 + 3 * 5 + 2 + 2,
      // A run that is judged by nothing but its blocks never enters _decide_completion.
      states: 9,
      machines: [{ name: 'main', transitions: 5, events: 21 }],
      joins: [],
      over_ordered: [],
    })
  })

  test('counts the decision about a run with a goal: _settle and its Choice twice, _decide_completion once', () => {
    const judged = `completion: {}\n${readText('dags/basic.yaml').replace(/^name:.*/m, '')}`
    const [plain, more] = [plan(readText('dags/basic.yaml')), plan(judged)]
    expect([more.transitions - plain.transitions, more.events - plain.events]).toEqual([3, 12])
    expect(more.event_budget - plain.event_budget).toBe(12)
    expect(more.cost.orchestration_usd_per_1000_runs).toBeGreaterThan(plain.cost.orchestration_usd_per_1000_runs)
  })

  test('budgets every try, bounce and item', () => {
    const ending = 2 + 5 + 2 + 2
    const retried = N.replace('handler: pass }', 'handler: pass }, retry: { max_attempts: 3 }')
    expect(plan(retried).event_budget - plan(N).event_budget).toBe(2 * 7)
    // plan and publish once, (write, review, exit with its Choice) four times.
    expect(plan(BOUNCING).event_budget).toBe(ending + 2 * 5 + 4 * (5 + 5 + 5 + 2))
    // The blocks beside it, items and close, the Map, a thousand items.
    expect(plan(FANNED_OUT).event_budget).toBe(ending + 2 * 5 + 2 * 5 + 4 + 1_000 * 7)
    expect(plan(CHILD).event_budget).toBe(ending + 6 + 5 + 5)
  })

  test('tells what bounce modules order beyond the document', () => {
    const beside = BOUNCING.replace(
      'outputs: { text: string }, inputs: { text: { from: review.text } }',
      'outputs: { text: string }, inputs: { text: { from: write.text } }',
    )
    expect(plan(beside).over_ordered).toEqual([
      { before: 'review', after: 'publish', module: 0, reason: expect.stringMatching(/module 0/) },
    ])
  })

  test('takes items as told, one where nothing is said, and says so', () => {
    expect(plan(FANNED_OUT, { items: { each: 8 } })).toMatchObject({
      makespan: { seconds: 4 },
      critical_path: { seconds: 4 },
      width: { at_once: 4 },
    })
    expect(plan(FANNED_OUT).assumptions.join('\n')).toMatch(/comes from the run: one item is counted: each/)
    expect(plan(FANNED_OUT, { items: { each: 8 } }).assumptions.join('\n')).not.toMatch(/one item/)
    expect(plan(CHILD).assumptions.join('\n')).toMatch(/child run.*: ask/)
  })

  test.each([
    [{ durations: { plam: 1 } }, /durations names "plam".*did you mean "plan"/],
    [{ items: { nobody: 1 } }, /items names "nobody"/],
    [{ durations: { constructor: 1 } }, /names "constructor"/],
  ])('refuses %j', (told, words) => {
    expect(() => plan(BOUNCING, told)).toThrow(words)
  })

  test('names the limit that binds next', () => {
    expect(plan(FANNED_OUT).next_limit.name).toBe('history_events')
    expect(plan(FANNED_OUT, { items: { each: 900 } }).next_limit).toEqual({
      name: 'foreach_items',
      used: 900,
      limit: 1_000,
      share: 0.9,
    })
    const many = {
      blocks: Array.from({ length: 800 }, (_, i) => ({ id: `b${i}`, mode: 'approval', approval: { prompt: 'Go?' } })),
    }
    expect(plan(JSON.stringify(many)).next_limit).toMatchObject({ name: 'blocks', used: 800, limit: 1_000 })
  })

  test('is deterministic, fits its schema, and never predicts more events than it budgets', () => {
    for (const { upstream } of randomDags('build and test').slice(WHOLE ? 60 : 105)) {
      const blocks = upstream.map((sources, v) => ({
        id: `b${v}`,
        mode: 'deterministic',
        deterministic: { handler: 'pass' },
        inputs: Object.fromEntries(sources.map((u) => [`i${u}`, { from: `b${u}.t` }])),
        outputs: { t: { type: 'string', required: false } },
      }))
      const text = JSON.stringify({ blocks })
      const planned = plan(text)
      expect(plan(text)).toEqual(planned)
      expect(PlanSchema.parse(planned)).toEqual(planned)
      for (const { events, event_budget } of planned.machines) expect(events).toBeLessThanOrEqual(event_budget)
    }
  })
})

describe('the price table', () => {
  test('has the memory the functions are deployed with', () => {
    const named = FUNCTIONS.filter(({ placeholder }) => placeholder !== undefined).map(({ name }) => name)
    const expected = [...named, 'start-run', 'send-outbox'].map((name) => [name, functionSize(name).memoryMb])
    expect(FUNCTION_MB).toEqual(Object.fromEntries(expected))
  })

  test('costs a run of the example as docs/deploy.md reckons it, but for the five looks at it', () => {
    const { cost } = plan(readText('dags/basic.yaml'))
    expect(cost.lines.find(({ what }) => what === 'state transitions')).toEqual({
      what: 'state transitions',
      quantity: 5_000,
      usd: 0.125,
    })
    expect(cost.orchestration_usd_per_1000_runs + 5 * 1_000 * PRICES.api_request).toBeCloseTo(0.23, 1)
    expect(cost.work_usd_per_1000_runs).toBeCloseTo(0.027, 3)
    const sum = cost.lines.reduce((total, { usd }) => total + usd, 0)
    expect(cost.orchestration_usd_per_1000_runs).toBeCloseTo(sum, 4)
  })

  test('says the same prices as docs/deploy.md and docs/plan.md, and when they were read', () => {
    const documents = [readText('docs/deploy.md'), readText('docs/plan.md')]
    for (const price of ['$0.025', '$0.0000133', '$0.20', '$0.625 / $0.125', '$0.005 / $0.0004', '$3.50', '$0.50']) {
      for (const text of documents) expect(text).toContain(price)
    }
    expect(documents[1]).toContain(PRICES.as_of)
  })
})
