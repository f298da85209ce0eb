import { describe, expect, test } from 'vitest'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { dagGraph } from '../../../shared/plan/dag-graph.ts'

const parse = (research: unknown, more: object = {}) =>
  parseDag({ name: 'x', blocks: [{ id: 'ask', mode: 'research', research, ...more }] })

function blockOf(research: unknown, more: object = {}) {
  const parsed = parse(research, more)
  if (!parsed.ok) throw new Error(parsed.errors.map(({ message }) => message).join('\n'))
  return { dag: parsed.dag, block: parsed.dag.blocks[0] }
}
const errorsOf = (research: unknown, more: object = {}) => {
  const parsed = parse(research, more)
  return parsed.ok ? [] : parsed.errors.map(({ code, path, message }) => [code, path, message] as const)
}

describe('a block of mode research', () => {
  test('says nothing and has the bounds of an Intent, and its result for outputs', () => {
    const { block } = blockOf({ topic: 'where is Oslo' })
    expect(block).toMatchObject({
      mode: 'research',
      research: { topic: 'where is Oslo', hints: {}, budget_tokens: 4000, max_iterations: 5 },
      outputs: {
        result: { type: 'json', required: true },
        synthesis: { type: 'string', required: true },
        evidence: { type: 'json', required: true },
      },
    })
  })

  test('is the same document with its defaults written out, and another with other bounds', () => {
    const hash = (research: unknown) => blockOf(research).block?.hash
    const silent = hash({ topic: 't' })
    expect(hash({ topic: 't', hints: {}, budget_tokens: 0, max_iterations: 0 })).toBe(silent)
    expect(hash({ topic: 't', budget_tokens: 4000, max_iterations: 5 })).toBe(silent)
    expect(hash({ topic: 't', budget_tokens: 4001 })).not.toBe(silent)
    expect(hash({ topic: 't', hints: { domain: 'geo' } })).not.toBe(silent)
  })

  test('may keep what is unsupported; that it does not is the same as silence', () => {
    expect(blockOf({ topic: 't', keep_unsupported: true }).block).toMatchObject({
      research: { keep_unsupported: true },
    })
    const hash = (research: unknown) => blockOf(research).block?.hash
    expect(hash({ topic: 't', keep_unsupported: false })).toBe(hash({ topic: 't' }))
    expect(hash({ topic: 't', keep_unsupported: true })).not.toBe(hash({ topic: 't' }))
    expect(errorsOf({ topic: 't', keep_unsupported: 'yes' })[0]?.slice(0, 2)).toEqual([
      'wrong_type',
      'blocks[0].research.keep_unsupported',
    ])
  })

  test('reads its question from inputs: undeclared ones are run inputs', () => {
    const research = { topic: 'on {{inputs.country}}', hints: { entity_kind: '{{inputs.kind}}' } }
    const { dag } = blockOf(research, { inputs: { country: 'string' } })
    expect(Object.keys(dag.inputs)).toEqual(['kind'])
  })

  test('has the declared outputs and no others', () => {
    const { block } = blockOf({ topic: 't' }, { outputs: { tokens_used: 'number' } })
    expect(Object.keys(block?.outputs ?? {})).toEqual(['tokens_used'])
    const wired = { blocks: [{ id: 'r', mode: 'research', research: { topic: 't' }, outputs: { result: 'json' } }] }
    const reader = { id: 'b', mode: 'deterministic', deterministic: { handler: 'pass' }, outputs: { v: 'string' } }
    const dag = { blocks: [...wired.blocks, { ...reader, inputs: { v: { from: 'r.synthesis' } } }] }
    const parsed = parseDag(dag)
    expect(parsed.ok ? [] : parsed.errors.map(({ code }) => code)).toEqual(['unknown_output'])
  })

  test('is compiled like a child run: it waits for one, then closes it', () => {
    const { dag } = blockOf({ topic: 't' })
    const { States } = compileDag(dag).definition
    expect(States.ask).toMatchObject({
      Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
      Next: '_close_ask',
    })
    const child = parseDag({ blocks: [{ id: 'ask', mode: 'dag', dag: { name: 'y' }, outputs: { o: 'json' } }] })
    expect(child.ok && compileDag(child.dag).text).toBe(compileDag(dag).text)
  })

  test('is drawn as what it is', () => {
    expect(dagGraph(blockOf({ topic: 't' }).dag, () => 1).nodes[0]).toMatchObject({ id: 'ask', mode: 'research' })
  })
})

describe('what is wrong with a block of mode research is said', () => {
  const OF = 'Cannot compile DAG "x": '
  test.each<[string, unknown, object, string, string, string]>([
    ['no section', undefined, {}, 'missing_section', 'blocks[0]', 'Add research: { topic: .. }.'],
    ['no mapping', 'why', {}, 'wrong_type', 'blocks[0].research', 'must be a mapping, got "why"'],
    ['no topic', {}, {}, 'missing_key', 'blocks[0].research.topic', 'is missing. Add "topic".'],
    [
      'a blank topic',
      { topic: ' ' },
      {},
      'invalid_value',
      'blocks[0].research.topic',
      '(" ") is not allowed: it is blank',
    ],
    ['an unknown key', { topic: 't', hint: {} }, {}, 'unknown_key', 'blocks[0].research.hint', 'Did you mean "hints"?'],
    [
      'a hint that is no text',
      { topic: 't', hints: { n: 5 } },
      {},
      'wrong_type',
      'blocks[0].research.hints.n',
      'got 5',
    ],
    ['a blank hint', { topic: 't', hints: { n: '' } }, {}, 'invalid_value', 'blocks[0].research.hints.n', 'is blank'],
    [
      'a hint without a name',
      { topic: 't', hints: { '': 'x' } },
      {},
      'illegal_name',
      'blocks[0].research.hints[""]',
      'no name',
    ],
    ['hints that are a list', { topic: 't', hints: ['x'] }, {}, 'wrong_type', 'blocks[0].research.hints', 'a mapping'],
    [
      'too many hints',
      { topic: 't', hints: many(51) },
      {},
      'limit_exceeded',
      'blocks[0].research.hints',
      'the limit is 50',
    ],
    [
      'a long hint',
      { topic: 't', hints: { n: 'x'.repeat(1001) } },
      {},
      'limit_exceeded',
      'blocks[0].research.hints.n',
      'is 1000',
    ],
    [
      'a long topic',
      { topic: 'x'.repeat(4001) },
      {},
      'limit_exceeded',
      'blocks[0].research.topic',
      'the limit is 4000',
    ],
    [
      'a negative budget',
      { topic: 't', budget_tokens: -1 },
      {},
      'invalid_value',
      'blocks[0].research.budget_tokens',
      'at least 0',
    ],
    [
      'half a round',
      { topic: 't', max_iterations: 0.5 },
      {},
      'wrong_type',
      'blocks[0].research.max_iterations',
      'a whole number',
    ],
    [
      'a broken template',
      { topic: '{{goal}}' },
      {},
      'malformed_template',
      'blocks[0].research.topic',
      'Did you mean "{{inputs.goal}}"?',
    ],
    [
      'an unknown output',
      { topic: 't' },
      { outputs: { sythesis: 'string' } },
      'unknown_output',
      'blocks[0].outputs.sythesis',
      'Did you mean "synthesis"?',
    ],
    [
      'an output of another type',
      { topic: 't' },
      { outputs: { evidence: 'string' } },
      'type_mismatch',
      'blocks[0].outputs.evidence',
      'is json',
    ],
    [
      'a fan-out',
      { topic: 't' },
      { foreach: { items: [1] } },
      'mode_mismatch',
      'blocks[0].foreach',
      'does not go with mode "research"',
    ],
    [
      'a cache',
      { topic: 't' },
      { cache: { max_age_sec: 9 } },
      'mode_mismatch',
      'blocks[0].cache',
      'does not go with mode "research"',
    ],
    ['another mode', { topic: 't' }, { mode: 'reserch' }, 'unknown_mode', 'blocks[0].mode', 'Did you mean "research"?'],
    [
      'the section of another mode',
      { topic: 't' },
      { dag: { name: 'y' } },
      'mode_mismatch',
      'blocks[0].dag',
      'Add mode: dag',
    ],
  ])('%s', (_what, research, more, code, path, words) => {
    const found = errorsOf(research, more).find(([, at]) => at === path)
    expect(found?.[0]).toBe(code)
    expect(found?.[2].startsWith(OF)).toBe(true)
    expect(found?.[2]).toContain(words)
  })
})

function many(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']))
}
