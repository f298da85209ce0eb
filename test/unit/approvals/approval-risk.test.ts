import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { approvalCost } from '../../../shared/approvals/cost.ts'
import {
  approvalRisk,
  blocksToCome,
  type Question,
  RISK_LEVELS,
  type RiskLevel,
} from '../../../shared/approvals/risk.ts'
import type { Dag } from '../../../shared/dag/dag.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import type { RunBudget } from '../../../shared/runs/budget.ts'
import { ASKED_ABOUT } from '../../../shared/runs/head.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

const PLACE = SettingsSchema.parse({
  providers: {
    paid: { type: 'openai-compatible', url: 'https://api.openai.com/v1' },
    own: { type: 'openai-compatible', url: 'https://models.example.com/v1' },
  },
})
const text = { text: 'string' }
const pass = (id: string, from?: string, more: object = {}) => ({
  id,
  mode: 'deterministic',
  outputs: text,
  deterministic: { handler: 'transform', config: { expression: '"x"' } },
  ...(from === undefined ? {} : { inputs: { text: { from: `${from}.text` } } }),
  ...more,
})
const ai = (id: string, from: string, provider: string, more: object = {}) => ({
  ...pass(id, from, more),
  mode: 'ai',
  deterministic: undefined,
  agent: { provider, model: 'gpt-4o', prompt: 'p', model_params: { max_tokens: 1_000 } },
})
const QUESTION: Question = { block_id: 'ask', on_timeout: 'reject' }
type Spent = Pick<RunBudget, 'spent_tokens' | 'spent_usd_micros' | 'unpriced_tokens'>
const NONE: Spent = { spent_tokens: 0, spent_usd_micros: 0 }

function dagOf(given: readonly object[] | string): Dag {
  const parsed = parseDag(typeof given === 'string' ? given : { blocks: given }, {
    providers: ['paid', 'own', 'local'],
  })
  if (!parsed.ok) throw new Error(parsed.errors.map(({ message }) => message).join('\n'))
  return parsed.dag
}

function weigh(blocks: readonly object[], question: Partial<Question> = {}, budget = NONE, begun: string[] = []) {
  const dag = dagOf(blocks)
  const asked = { ...QUESTION, ...question }
  const coming = blocksToCome(dag, asked, () => false)
  const cost = approvalCost({ dag, coming, begun: new Set(begun), budget, routing: PLACE })
  return { cost, risk: approvalRisk({ question: asked, coming, cost }) }
}

describe('the blocks a yes lets begin', () => {
  const dag = dagOf([pass('a'), pass('ask', 'a'), pass('b', 'ask'), pass('c', 'b'), pass('aside', 'a')])
  const ids = (question: Pick<Question, 'block_id' | 'about'>, ended: string[] = []) =>
    blocksToCome(dag, question, (id) => ended.includes(id)).map(({ id }) => id)

  test('are the block and what comes after it, but what is over', () => {
    expect(ids({ block_id: 'ask' })).toEqual(['ask', 'b', 'c'])
    expect(ids({ block_id: 'ask' }, ['b', 'c'])).toEqual(['ask'])
    expect(ids({ block_id: 'ask', about: 'pre_gates' })).toEqual(['ask', 'b', 'c'])
  })

  test('without the block itself where its work is done and only its gates are asked about', () => {
    expect(ids({ block_id: 'ask', about: 'post_gates' })).toEqual(['b', 'c'])
  })
})

describe('risk', () => {
  test('is low, with its reason, where what follows only computes', () => {
    expect(weigh([pass('ask'), pass('b', 'ask')]).risk).toEqual({
      level: 'low',
      because: ['2 blocks to run after a yes'],
    })
    expect(weigh([pass('ask')], { about: 'post_gates', gates: [] }).risk.because).toContain(
      'no block to run after a yes',
    )
  })

  test.each<[string, readonly object[], Partial<Question>, RiskLevel, string]>([
    [
      'a waiver',
      [pass('ask')],
      { about: 'pre_gates', gates: [{ name: 'tone', reason: 'rude' }] },
      'high',
      'a yes waives 1 failed gate: tone',
    ],
    [
      'a budget raise',
      [pass('ask')],
      { about: 'budget', raise: { tokens: 2_000, usd_micros: 1_500_000 } },
      'medium',
      'a yes raises the budget of the run to 2000 tokens and $1.5',
    ],
    [
      'a yes by time-out',
      [pass('ask')],
      { on_timeout: 'approve' },
      'medium',
      'it is approved by itself if nobody decides in time',
    ],
    ['edits', [pass('ask')], { edit: ['text'] }, 'low', 'who approves may change text'],
    [
      'an artifact',
      [
        {
          ...pass('ask'),
          inputs: { body: { type: 'string', default: 'x' } },
          outputs: { note: 'artifact' },
          deterministic: { handler: 'write-artifact', config: { name: 'note.md' } },
        },
      ],
      {},
      'low',
      'block ask writes artifact note.md',
    ],
    [
      'a table',
      [
        {
          ...pass('ask'),
          inputs: { rows: { type: 'json', default: [] } },
          outputs: { note: 'artifact' },
          deterministic: { handler: 'write-table', config: { name: 'note.csv' } },
        },
      ],
      {},
      'low',
      'block ask writes artifact note.csv',
    ],
    [
      'a command, deep inside a composed gate',
      [
        pass('ask'),
        pass('b', 'ask', {
          post_gates: [
            {
              name: 'tests',
              check: {
                any_of: [
                  { type: 'shell', command: 'npm test' },
                  { type: 'not_empty', port: 'text' },
                ],
              },
              error: 'no',
            },
          ],
        }),
      ],
      {},
      'high',
      'block b runs a command (gate tests)',
    ],
    [
      'a request outside',
      [
        pass('ask', undefined, {
          pre_gates: [{ name: 'up', check: { type: 'http', url: 'https://example.com' }, error: 'no' }],
        }),
      ],
      {},
      'medium',
      'block ask calls an address outside (gate up)',
    ],
    [
      'a child run',
      [{ id: 'ask', mode: 'dag', inputs: {}, outputs: {}, dag: { name: 'deploy' } }],
      {},
      'medium',
      'block ask starts child run deploy',
    ],
  ])('%s', (_, blocks, question, level, words) => {
    const { risk } = weigh(blocks, question)
    expect(risk.because).toContain(words)
    expect(risk.level).toBe(level)
  })

  test('many blocks, much money, and a price nobody knows are medium or more', () => {
    const chain = Array.from({ length: 20 }, (_, i) =>
      pass(i === 0 ? 'ask' : `b${i}`, i === 0 ? undefined : i === 1 ? 'ask' : `b${i - 1}`),
    )
    expect(weigh(chain).risk).toEqual({ level: 'medium', because: ['20 blocks to run after a yes'] })
    const unknown = weigh([pass('ask'), ai('b', 'ask', 'own')])
    expect(unknown.risk).toMatchObject({
      level: 'medium',
      because: ['what models cost is unknown in b', '2 blocks to run after a yes'],
    })
    expect(unknown.cost.to_come).toMatchObject({ usd: null, unpriced: ['b'], children: [] })
    const dear = {
      foreach: { items: Array.from({ length: 1_000 }, () => 'x'), as: 'item' },
      retry: { max_attempts: 5 },
    }
    const { risk, cost } = weigh([pass('ask'), ai('b', 'ask', 'paid', dear)])
    expect(cost.to_come.usd?.high).toBeGreaterThan(10)
    expect(risk).toMatchObject({ level: 'high' })
    expect(risk.because[0]).toBe(`models of the blocks to come cost $${cost.to_come.usd?.high} at the most`)
  })

  test('money that is spent is told, and unknown where no price is known', () => {
    const blocks = [ai('a', 'ask', 'own'), pass('ask')]
    const told = { spent_tokens: 10, spent_usd_micros: 0 }
    const { cost, risk } = weigh(blocks, {}, told, ['a', 'ask'])
    expect(cost.spent).toEqual({ tokens: 10, usd: null, unpriced: ['a'] })
    expect(risk.because).toContain('10 tokens spent so far, at an unknown price')
    const some = weigh(blocks, {}, { spent_tokens: 10, spent_usd_micros: 30_000 }, ['a'])
    expect(some.cost.spent).toEqual({ tokens: 10, usd: 0.03, unpriced: ['a'] })
    expect(some.risk.because).toContain('10 tokens spent so far, $0.03 and the unknown price of a')
    expect(weigh([pass('ask')], {}, { spent_tokens: 5, spent_usd_micros: 0 }).cost.spent.usd).toBe(0)
    const itself = weigh(blocks, {}, { spent_tokens: 10, spent_usd_micros: 30_000, unpriced_tokens: 0 }, ['a'])
    expect(itself.cost.spent).toEqual({ tokens: 10, usd: 0.03, unpriced: [] })
  })

  test('a block that may be sent back is reckoned with all its rounds, though what it is sent back to is over', () => {
    const rule = { when_gate: 'good', route_to: 'draft', max_bounces: 2 }
    const gate = { name: 'good', check: { type: 'not_empty', port: 'text' }, error: 'no', on_fail: 'route' }
    const blocks = [
      ai('draft', 'ask', 'paid'),
      ai('check', 'draft', 'paid', { post_gates: [gate], on_gate_fail: [rule] }),
      pass('ask'),
    ]
    const dag = dagOf(blocks)
    const question = { ...QUESTION, block_id: 'check' }
    const coming = blocksToCome(dag, question, () => true)
    const cost = approvalCost({ dag, coming, begun: new Set(['ask', 'draft']), budget: NONE, routing: PLACE })
    const once = approvalCost({
      dag: dagOf([pass('ask'), ai('check', 'ask', 'paid')]),
      coming,
      begun: new Set(),
      budget: NONE,
      routing: PLACE,
    })
    expect(cost.to_come.usd?.high).toBeCloseTo(3 * (once.to_come.usd?.high ?? 0), 5)
  })

  test.each(['basic', 'coding', 'coding-gates', 'dataset-brief'])('weighs every question of %s', (name) => {
    const dag = dagOf(readFileSync(join(import.meta.dirname, `../../../dags/${name}.yaml`), 'utf8'))
    for (const { id } of dag.blocks) {
      for (const about of ASKED_ABOUT) {
        const asked = { ...QUESTION, block_id: id, about }
        const coming = blocksToCome(dag, asked, (other) => other < id)
        const cost = approvalCost({ dag, coming, begun: new Set([id]), budget: NONE, routing: PLACE })
        expect(approvalRisk({ question: asked, coming, cost }).because.length).toBeGreaterThan(0)
      }
    }
  })

  test('is the same for the same facts, never without a reason, and no fact taken away makes it greater', () => {
    const blocks = [
      pass('ask', undefined, {
        pre_gates: [{ name: 'up', check: { type: 'http', url: 'https://example.com' }, error: 'no' }],
      }),
      ai('b', 'ask', 'own'),
      ai('c', 'ask', 'paid'),
    ]
    const dag = dagOf(blocks)
    const place = (level: RiskLevel) => RISK_LEVELS.indexOf(level)
    const question = fc.record<Question>({
      block_id: fc.constant('ask'),
      about: fc.constantFrom('dispatch', 'pre_gates', 'post_gates', 'budget'),
      on_timeout: fc.constantFrom('reject', 'fail', 'approve'),
      edit: fc.subarray(['text', 'goal']),
      gates: fc.array(fc.record({ name: fc.string(), reason: fc.string() }), { maxLength: 8 }),
    })
    const risk = (asked: Question, ended: readonly string[]) => {
      const coming = blocksToCome(dag, asked, (id) => ended.includes(id))
      return approvalRisk({
        question: asked,
        coming,
        cost: approvalCost({ dag, coming, begun: new Set(), budget: NONE, routing: PLACE }),
      })
    }
    fc.assert(
      fc.property(question, fc.subarray(['b', 'c']), (asked, ended) => {
        const seen = risk(asked, ended)
        expect(seen).toEqual(risk(asked, ended))
        expect(seen.because.length).toBeGreaterThan(0)
        const calm = risk({ ...asked, about: 'dispatch', on_timeout: 'reject', edit: [] }, [...ended, 'b', 'c'])
        const base = risk({ ...asked, about: 'dispatch' }, ended)
        expect(place(calm.level)).toBeLessThanOrEqual(place(base.level))
        if (asked.about !== 'post_gates') expect(place(base.level)).toBeLessThanOrEqual(place(seen.level))
      }),
    )
  })
})
