import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Block, Dag } from '../../../shared/dag/dag.ts'
import { evaluateExpression, OUTCOMES, parseDepends } from '../../../shared/dag/expression.ts'
import { placeholderValue } from '../../../shared/dag/template.ts'
import { parseDag } from '../../../shared/document/parse.ts'

const AGENT = { provider: 'local', model: 'm' }

function dagOf(document: object): Dag {
  const result = parseDag(document)
  if (!result.ok) throw new Error(result.errors.map(({ message }) => message).join('\n'))
  return result.dag
}

function blockOf(block: object, others: readonly object[] = [], more: object = {}): Block {
  const found = dagOf({ blocks: [...others, { id: 'x', agent: AGENT, ...block }], ...more }).blocks.at(-1)
  if (found === undefined) throw new Error('there is no block')
  return found
}

const A = { id: 'a', agent: AGENT, outputs: { text: 'string', rows: 'json', n: 'number' } }
const B = { id: 'b-2', agent: AGENT, depends: 'a.done' }

describe('a normalised block', () => {
  test('has none of the optional keys that are not written', () => {
    const keys = ['when', 'depends', 'foreach', 'cache', 'on_gate_fail', 'approval']
    expect(Object.keys(blockOf({})).filter((key) => keys.includes(key))).toEqual([])
    expect(blockOf({ on_gate_fail: [] })).not.toHaveProperty('on_gate_fail')
  })

  test('waits for the blocks its depends names, in document order and once, wired or not', () => {
    const wired = { inputs: { text: { from: 'a.text' } }, depends: 'b-2.skipped || a.succeeded || a.failed' }
    expect(blockOf(wired, [A, B])).toMatchObject({ upstream: ['a', 'b-2'], depends: wired.depends })
    expect(blockOf({ depends: 'true' }, [A]).upstream).toEqual([])
  })

  test('has the defaults of foreach, of its gates and of a rule', () => {
    const gate = { name: 'g', check: { type: 'not_empty', port: 'o' } }
    const block = blockOf({
      outputs: { o: 'string' },
      foreach: { items: [1, { a: 2 }], item_gates: [gate] },
      post_gates: [{ ...gate, name: 'all', on_fail: 'route' }],
      on_gate_fail: [{ when_gate: 'all', route_to: 'x' }],
    })
    expect(block.foreach).toEqual({
      items: [1, { a: 2 }],
      as: 'item',
      max_concurrency: 10,
      tolerate: 0,
      fail_fast: true,
      item_gates: [{ ...gate, on_fail: 'retry' }],
    })
    expect(block.on_gate_fail).toEqual([
      { when_gate: 'all', route_to: 'x', reset_blocks: [], max_bounces: 1, feedback_from: 'gate_verdicts' },
    ])
    expect(block.post_gates[0]?.on_fail).toBe('route')
    expect(blockOf({ cache: { max_age_sec: 5 } }).cache).toEqual({ key: 'inputs', max_age_sec: 5 })
  })

  test('reads lists from a foreach, and whatever an edge makes of a value', () => {
    const each = { id: 'each', agent: AGENT, outputs: { o: 'string' }, foreach: { items: [1] } }
    expect(blockOf({ inputs: { list: { from: 'each.o' } } }, [each]).inputs.list?.type).toBe('json')
    const edges = [{ from: 'a', output: 'text', to: 'x', input: 'n', transform: 'value.length' }]
    const block = blockOf({ inputs: { n: 'number' } }, [A], { edges })
    expect(block.inputs.n).toMatchObject({
      type: 'number',
      from: { block: 'a', output: 'text', transform: 'value.length' },
    })
    expect(blockOf({ inputs: { n: {} } }, [A], { edges }).inputs.n?.type).toBe('json')
  })

  test('of mode dag keeps what its child is given and gives', () => {
    const dag = { name: 'c', inputs: { goal: '{{inputs.g}}', n: 3 }, outputs: { o: 'last.out' } }
    const child = { id: 'x', mode: 'dag', inputs: { g: 'string' }, outputs: { o: 'string' } }
    expect(dagOf({ blocks: [{ ...child, dag }] }).blocks[0]).toMatchObject({ mode: 'dag', dag })
    expect(dagOf({ blocks: [{ ...child, dag: { name: 'c' } }] }).blocks[0]).toMatchObject({
      dag: { name: 'c', inputs: {}, outputs: {} },
    })
  })

  test.each<[string, object, object]>([
    ['names both', { provider: 'p', model: 'm', role: 'worker' }, { provider: 'p', model: 'm', model_params: {} }],
    [
      'names one',
      { model: 'm', capability: 'c' },
      { provider: '', model: 'm', route: { capability: 'c' }, model_params: {} },
    ],
    [
      'names nobody',
      { role: 'reviewer', specific: 's' },
      { provider: '', model: '', route: { role: 'reviewer', specific: 's' }, model_params: {} },
    ],
  ])('has the route of an agent that %s', (_, agent, expected) => {
    expect(dagOf({ blocks: [{ id: 'x', agent }] }).blocks[0]).toMatchObject({ agent: expected })
    expect(dagOf({ blocks: [{ id: 'x', agent }] }).blocks[0]).toHaveProperty('agent', expected)
  })

  test('makes a run input of what its list and its child read, and none of its items', () => {
    const each = {
      foreach: { items: '{{inputs.files}}', as: 'file' },
      agent: { ...AGENT, prompt: '{{inputs.file}}{{inputs.tone}}' },
    }
    expect(Object.keys(dagOf({ blocks: [{ id: 'x', ...each }] }).inputs)).toEqual(['tone', 'files'])
    const child = { id: 'x', mode: 'dag', dag: { name: 'c', inputs: { a: '{{inputs.goal}}' } } }
    expect(dagOf({ blocks: [child] }).inputs).toEqual({ goal: { required: true, declared: false } })
  })

  test('may ask in when for every declared run input, and where none is declared for those a template reads', () => {
    const other = { id: 'a', agent: { ...AGENT, prompt: '{{inputs.tone}}' } }
    const when = "inputs.kind == 'a' && inputs.tone.length > 1"
    expect(blockOf({ when }, [other], { inputs: { kind: 'string', tone: 'string' } }).when).toBe(when)
    const untold = 'inputs.tone.length > 1'
    expect(blockOf({ when: untold }, [other]).when).toBe(untold)
  })
})

/** Outcomes of a block: exactly one of the ends, and what follows from it. */
const END = fc.constantFrom('succeeded', 'failed', 'skipped', 'cancelled')
const outcomesOf = (end: string) =>
  Object.fromEntries(
    OUTCOMES.map((outcome) => [
      outcome,
      outcome === 'done' || (outcome === 'completed' ? 'succeeded' : outcome) === end,
    ]),
  )

describe('parseDepends()', () => {
  test('takes dashes into ids, and nowhere else', () => {
    const read = parseDepends('a-b.succeeded && !(c.failed||d-1-e.done) && a-b.done')
    expect(read).toMatchObject({ ok: true, blocks: ['a-b', 'c', 'd-1-e'] })
    expect(parseDepends('a.done == b.done')).toMatchObject({ ok: true, blocks: ['a', 'b'] })
    expect(parseDepends('a.done - b.done')).toMatchObject({ ok: true, blocks: ['a', 'b'] })
    expect(parseDepends('a$b.done')).toMatchObject({ ok: false })
    expect(parseDepends("a.done && 'x-y' == 'x-y'")).toMatchObject({ ok: true, blocks: ['a'] })
  })

  test('is the boolean its author wrote, for any outcomes and names', () => {
    const name = fc.constantFrom('a', 'a-b', 'a-b-c', 'b', 'x_1', 'x-1')
    fc.assert(
      fc.property(
        name,
        name,
        fc.constantFrom(...OUTCOMES),
        fc.constantFrom(...OUTCOMES),
        END,
        END,
        (a, b, x, y, one, two) => {
          const roots = { [b]: outcomesOf(two), [a]: outcomesOf(one) }
          const read = parseDepends(`${a}.${x} && !${b}.${y} || ${b}.failed`)
          const is = (id: string, outcome: string) => roots[id]?.[outcome] === true
          const expected = (is(a, x) && !is(b, y)) || is(b, 'failed')
          expect(read.ok && evaluateExpression(read.expression, roots)).toBe(expected)
        },
      ),
    )
  })
})

describe('placeholderValue()', () => {
  test.each<[string, unknown]>([
    ['{{inputs.list}}', [1, 2]],
    [' {{ inputs.o.list }} ', [3]],
    ['{{inputs.none}}', undefined],
    ['{{inputs.list}} ', [1, 2]],
    ['x {{inputs.list}}', undefined],
    ['{{list}}', undefined],
    ['{{inputs.list}}{{inputs.list}}', undefined],
  ])('of %j is %j', (text, value) => {
    expect(placeholderValue(text, { list: [1, 2], o: { list: [3] } })).toEqual(value)
  })
})
