import { describe, expect, test } from 'vitest'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import { parseDag } from '../../../shared/document/parse.ts'

const AGENT = 'agent: { provider: local, model: m }'
const BLOCKS = `blocks:
  - { id: work, ${AGENT}, outputs: { text: string, rows: json } }
  - { id: verify, ${AGENT}, inputs: { text: { from: work.text } }, outputs: { score: number, words: string } }`
const CONTRACT = `goal_contract:
  goal_text: Good
  acceptance_criteria:
    - { id: A, kind: metric_threshold, metric: acc, op: ">=", target: 0.9 }`

const read = (text: string) => {
  const result = parseDag(text)
  if (!result.ok) throw new Error(result.errors.map(({ message }) => message).join('\n'))
  return result
}

/** `code path line:column message` of each error; `▶` stands before the place of the first. */
const refused = (marked: string) => {
  const before = marked.slice(0, marked.indexOf('▶')).split('\n')
  const result = parseDag(marked.replace('▶', ''))
  const errors = result.ok ? [] : result.errors
  if (marked.includes('▶')) {
    expect([errors[0]?.line, errors[0]?.column]).toEqual([before.length, (before.at(-1) ?? '').length + 1])
  }
  return errors.map(({ code, path, message }) => `${code} ${path} ${message}`)
}

describe('completion', () => {
  test('has its defaults, and one verifier is a list of one', () => {
    expect(read(`completion: {}\n${BLOCKS}`).dag.completion).toEqual({
      quality: 'standard',
      pivot: 'manual',
      contract: 'optional',
    })
    const whole = `completion: { trust: { from: verify.score }, quality: ml, pivot: auto, contract: required, claim: work.text, blockers: work.rows }`
    expect(read(`${whole}\n${BLOCKS}`).dag.completion).toEqual({
      trust: { from: ['verify.score'] },
      quality: 'ml',
      pivot: 'auto',
      contract: 'required',
      claim: 'work.text',
      blockers: 'work.rows',
    })
  })

  test('is part of the identity of a document, but nothing of its machine', () => {
    const plain = read(BLOCKS)
    const judged = read(`completion: {}\n${BLOCKS}`)
    const wanted = read(`${CONTRACT}\n${BLOCKS}`)
    expect(new Set([plain, judged, wanted].map(({ dag_hash }) => dag_hash)).size).toBe(3)
    expect(read(`completion: { pivot: manual, quality: standard }\n${BLOCKS}`).dag_hash).toBe(judged.dag_hash)
    expect(compileDag(judged.dag).text).toBe(compileDag(plain.dag).text)
    expect(compileDag(wanted.dag).text).toBe(compileDag(plain.dag).text)
    expect(Object.keys(plain.dag)).not.toContain('completion')
  })

  test.each([
    ['completion: { ▶trst: { from: verify.score } }', 'unknown_key completion.trst', 'Did you mean "trust"?'],
    ['completion: { trust: ▶verify.score }', 'wrong_type completion.trust', 'must be a mapping'],
    ['completion: { trust: { from: ▶verfy.score } }', 'unknown_block completion.trust.from', '"verify.score"?'],
    ['completion: { trust: { from: [verify.score, ▶verify.scor] } }', 'unknown_output', 'Did you mean "verify.score"?'],
    ['completion: { trust: { from: ▶verify } }', 'malformed_from', 'allowed is BLOCK.OUTPUT'],
    ['completion: { trust: { from: ▶[] } }', 'invalid_value', 'it must be at least 1'],
    ['completion: { trust: { from: ▶3 } }', 'invalid_value', 'a list of 1 to 20 of them'],
    ['completion: { trust: { from: ▶verify.words } }', 'type_mismatch', 'whose type is string'],
    ['completion: { claim: ▶verify.score }', 'type_mismatch', 'allowed are string and json'],
    ['completion: { blockers: ▶nobody.says }', 'unknown_block completion.blockers', 'there is no block "nobody"'],
    ['completion: { quality: ▶strict }', 'invalid_value completion.quality', '"standard", "ml"'],
    ['▶completion:', 'wrong_type completion', 'must be a mapping'],
  ])('is refused at its place: %s', (line, start, words) => {
    const [first = '', ...more] = refused(`${line}\n${BLOCKS}`)
    expect(first).toContain(start)
    expect(first).toContain(words)
    expect(more).toEqual([])
  })
})

describe('goal_contract', () => {
  test('is taken with its defaults; its targets may be run inputs', () => {
    expect(read(`${CONTRACT}\n${BLOCKS}`).dag.goal_contract).toEqual({
      version: 1,
      goal_text: 'Good',
      max_goal_attempts: 3,
      acceptance_criteria: [{ id: 'A', kind: 'metric_threshold', metric: 'acc', op: '>=', target: 0.9, tolerance: 0 }],
    })
    const open = `inputs: { wanted: number }\n${CONTRACT.replace('0.9', '{ input: wanted }')}\n${BLOCKS}`
    expect(read(open).dag.goal_contract?.acceptance_criteria[0]?.target).toEqual({ input: 'wanted' })
  })

  test.each([
    ['goal_contract: ▶{}', ['goal_text', 'acceptance_criteria']],
    ['goal_contract: ▶null', ['must be a mapping']],
    ['goal_contract: ▶[]', ['must be a mapping']],
    [CONTRACT.replace('0.9', '▶.nan'), ['target']],
    [CONTRACT.replace('0.9', '▶{ input: wanted }'), ['is the run input "wanted", which is not declared']],
    [CONTRACT.replace('metric_threshold', '▶metric_treshold'), ['Did you mean "metric_threshold"?']],
  ])('that is malformed is never none: %s', (text, words) => {
    const found = refused(`${text}\n${BLOCKS}`)
    expect(found.length).toBeGreaterThan(0)
    for (const word of words) expect(found.join('\n')).toContain(word)
  })

  test('and completion are told what is wrong together with everything else', () => {
    const found = refused(
      `completion: { trust: { from: a.b } }\ngoal_contract: { goal_text: " " }\nblocks: [{ id: x, mode: magic }]`,
    )
    expect(found.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'unknown_block completion.trust.from',
      'missing_key goal_contract.acceptance_criteria',
      'invalid_value goal_contract.goal_text',
      'unknown_mode blocks[0].mode',
    ])
  })
})
