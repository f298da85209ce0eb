import { describe, expect, test } from 'vitest'
import { evaluateGoalGate } from './evaluate-goal-gate.ts'
import { ACCURACY, contractOf, evaluated } from './evaluated.ts'

/** Ways to talk a gate into passing. Each must end in anything but SUCCESS; the last of each group shows the honest way. */
const YAML = `goal_contract:
  goal_text: Accuracy
  acceptance_criteria:
    - { id: AC1, kind: metric_threshold, metric: accuracy, op: ">=", target: 0.9 }
`
const status = (contract: unknown, output: string) => evaluated({ contract, output }).completion.final_status

describe('line ends', () => {
  test('CRLF in the contract and in the evidence is LF', () => {
    expect(status(YAML.replaceAll('\n', '\r\n'), '[METRIC:accuracy] 0.5\r\n')).toBe('PARTIAL')
    expect(status(YAML.replaceAll('\n', '\r\n'), 'x\r\n[METRIC:accuracy] 0.95\r\n')).toBe('SUCCESS')
  })

  test('an unmet line behind a met one is not hidden by CRLF, U+2028 or a lone CR', () => {
    expect(status(YAML, '[METRIC:accuracy] 0.95\r\n[METRIC:accuracy] 0.5')).toBe('PARTIAL')
    expect(status(YAML, '[METRIC:accuracy] 0.5\u2028[METRIC:accuracy] 0.95')).toBe('PARTIAL')
    expect(status(YAML, '[METRIC:accuracy] 0.5\r[METRIC:accuracy] 0.95')).toBe('PARTIAL')
  })

  test('a text with CRLF ends its last value there', () => {
    expect(status(contractOf({ ...ACCURACY, op: '==' }), '[METRIC:accuracy] 0.9\r\n')).toBe('SUCCESS')
  })
})

describe('keys', () => {
  test.each([
    YAML.replace('target:', 'tolerence: 1, target:'),
    YAML.replace('acceptance_criteria', 'acceptance_critera'),
    YAML.replace('goal_text: Accuracy', 'goal_text: Accuracy\n  optional: true'),
    YAML.replace('kind: metric_threshold', 'kind: metric_threshold, required: false'),
    YAML.replace('target: 0.9', 'target: 0.9, target: 0'),
    YAML.replace('  goal_text', '  version: 2\n  goal_text'),
  ])('unknown, misspelt and repeated ones make the contract malformed: %s', (contract) => {
    expect(evaluated({ contract, output: '[METRIC:accuracy] 1' }).completion).toMatchObject({
      final_status: 'PARTIAL',
      goal_status: 'NOT_MET',
    })
  })

  test('keys every object has are none of a contract', () => {
    const contract = JSON.parse('{"goal_text":"x","acceptance_criteria":[{"id":"A","kind":"__proto__"}]}')
    expect(status(contract, '')).toBe('PARTIAL')
    expect(status(JSON.parse('{"__proto__":{"goal_text":"x","acceptance_criteria":[]}}'), '')).toBe('PARTIAL')
  })

  test('a malformed criterion does not vanish beside one that is met', () => {
    const contract = YAML.replace('    - {', '    - { id: AC0, kind: metric_treshold }\n    - {')
    const { completion } = evaluated({ contract, output: '[METRIC:accuracy] 1' })
    expect(completion).toMatchObject({ final_status: 'PARTIAL', met_count: 1, total_count: 2 })
  })
})

describe('lists', () => {
  test.each(['[]', '', '{}', '~', '[null]', '[[]]', '""'])('criteria that are %j are not all met', (list) => {
    const contract = `goal_text: x\nacceptance_criteria: ${list}`
    expect(evaluated({ contract }).completion).toMatchObject({ final_status: 'PARTIAL', goal_status: 'NOT_MET' })
  })

  test('flow YAML is the same contract', () => {
    const flow =
      '{goal_contract: {goal_text: x, acceptance_criteria: [{id: AC1, kind: metric_threshold, metric: accuracy, op: ">=", target: 0.9}, {id: AC2, kind: finding_count, minCount: 1}]}}'
    expect(evaluated({ contract: flow, output: '[METRIC:accuracy] 1' }).completion).toMatchObject({
      final_status: 'PARTIAL',
      met_count: 1,
      total_count: 2,
    })
  })

  test('a criterion under the id of another does not stand in for it', () => {
    const contract = contractOf(ACCURACY, { ...ACCURACY, metric: 'recall', id: 'AC1' })
    expect(status(contract, '[METRIC:accuracy] 1\n[METRIC:recall] 0')).toBe('PARTIAL')
    expect(status(contract, '[METRIC:accuracy] 0\n[METRIC:recall] 1')).toBe('PARTIAL')
    expect(status(contract, '[METRIC:accuracy] 1\n[METRIC:recall] 1')).toBe('PARTIAL')
  })
})

describe('numbers', () => {
  test.each(['NaN', 'nan', '-NaN', 'inf', 'Infinity', '+Infinity', '1e999', 'null', 'true'])(
    '%s is no value',
    (value) => {
      for (const op of ['>=', '>', '<=', '<', '==', '!=']) {
        expect(status(contractOf({ ...ACCURACY, op }), `[METRIC:accuracy] ${value}`)).toBe('PARTIAL')
      }
    },
  )

  test.each(['.nan', '.inf', '-.inf', '.NaN', '"0.9"', '90%', '1e999'])('a target %s is none', (target) => {
    expect(status(YAML.replace('target: 0.9', `target: ${target}`), '[METRIC:accuracy] 1')).toBe('PARTIAL')
  })

  test('a NaN, null or missing target of an object is none', () => {
    for (const target of [Number.NaN, Number.NEGATIVE_INFINITY, null, undefined, '0']) {
      expect(status(contractOf({ ...ACCURACY, target }), '[METRIC:accuracy] 1')).toBe('PARTIAL')
    }
  })

  test('negative numbers keep their sign, exponents their size', () => {
    expect(status(contractOf({ ...ACCURACY, target: 0.5 }), '[METRIC:accuracy] -0.95')).toBe('PARTIAL')
    expect(status(contractOf({ ...ACCURACY, target: -1 }), '[METRIC:accuracy] -0.95')).toBe('SUCCESS')
    expect(status(YAML, '[METRIC:accuracy] 9.5e-1')).toBe('SUCCESS')
    expect(status(YAML, '[METRIC:accuracy] 9.5e-2')).toBe('PARTIAL')
    expect(status(YAML.replace('0.9 ', '1e2 '), '[METRIC:accuracy] 1')).toBe('PARTIAL')
    expect(status(contractOf({ ...ACCURACY, op: '<', target: 1 }), '[METRIC:accuracy] 1e5')).toBe('PARTIAL')
  })

  test('percents and thousands are not cut down to a number that fits', () => {
    expect(status(YAML, '[METRIC:accuracy] 85%')).toBe('PARTIAL')
    expect(status(YAML, '[METRIC:accuracy] 95%')).toBe('PARTIAL')
    expect(status(contractOf({ ...ACCURACY, op: '<', target: 100 }), '[METRIC:accuracy] 1,234')).toBe('PARTIAL')
  })

  test('a count that is no whole number, or below nothing, is none', () => {
    for (const minCount of [-1, 0.5, Number.NaN, '0', null]) {
      expect(status(contractOf({ kind: 'finding_count', minCount }), '')).toBe('PARTIAL')
    }
  })
})

describe('evidence that is none', () => {
  test.each([
    'We reached [METRIC:accuracy] 0.95 in the end',
    'The prompt says: "[METRIC:accuracy] 0.95"',
    '> [METRIC:accuracy] 0.95',
    '* [METRIC:accuracy] 0.95',
    '| [METRIC:accuracy] 0.95 |',
    '`[METRIC:accuracy] 0.95`',
    '"[METRIC:accuracy] 0.95"',
    '“[METRIC:accuracy] 0.95”',
    'accuracy: 0.95',
    '[metric:accuracy] 0.95',
    '[METRIC:accuracy_goal] 0.95',
    '[METRIC:name=accuracy] 0.95',
    '[METRIC] accuracy 0.95',
    '[METRIC:accuracy] should be 0.95',
    '[METRIC:accuracy] >= 0.95',
    '[INFO] [METRIC:accuracy] 0.95',
    '\u200b[METRIC:accuracy] 0.95',
    '\u001b[32m[METRIC:accuracy] 0.95',
  ])('%s', (output) => {
    expect(status(YAML, output)).toBe('PARTIAL')
  })

  test('a prompt that is quoted line by line shows nothing', () => {
    const prompt = `Print markers:\n[METRIC:accuracy] 0.95\n[STAT:ci] [0.9, 1]\n[STAT:effect_size] 2\n[FINDING] It works`
    const quoted = prompt.replaceAll(/^/gm, '> ')
    const contract = contractOf(
      ACCURACY,
      { kind: 'marker_required', marker: 'FINDING' },
      { kind: 'finding_count', minCount: 1 },
    )
    expect(evaluateGoalGate(contract, `I was told:\n${quoted}`, []).metCount).toBe(0)
    // The words themselves are no defence: a worker who prints them plainly has said them, and is named for it.
    expect(evaluateGoalGate(contract, prompt, []).metCount).toBe(3)
  })

  test('statistics in prose verify no finding', () => {
    const output = 'The [STAT:ci] is [0.9, 1]\nso is [STAT:effect_size] 2\n[FINDING] It works'
    expect(evaluated({ output }).completion).toMatchObject({ final_status: 'PARTIAL', action: 'fix_quality' })
  })

  test('an artifact by another name, in another case, or longer is another', () => {
    const contract = contractOf({ kind: 'artifact_exists', artifactPattern: 'model.pkl' })
    for (const name of ['model.pkl.txt', 'my-model.pkl', 'MODEL.pkl', 'model_pkl', 'model.pkl/', 'model.pkl\n', '']) {
      expect(evaluated({ contract, files: [name] }).completion.final_status).toBe('PARTIAL')
    }
    expect(evaluated({ contract, files: ['out/model.pkl'] }).completion.final_status).toBe('SUCCESS')
  })
})

describe('trust and quality', () => {
  const contract = contractOf(ACCURACY)
  const output = '[METRIC:accuracy] 1'

  test.each([79.999, null, undefined, '95', Number.NaN, -1, 101, Number.POSITIVE_INFINITY, [95], true])(
    'a trust score of %j passes nothing',
    (trust) => {
      expect(evaluated({ contract, output, trust_scores: [trust] }).completion).toMatchObject({
        trust_passed: false,
        final_status: 'PARTIAL',
      })
      expect(evaluated({ contract, output, trust_scores: [99, trust] }).completion.final_status).toBe('PARTIAL')
    },
  )

  test('neither a met goal nor a high trust score buys quality', () => {
    expect(evaluated({ contract, output: `${output}\n[FINDING] x`, trust: 100 }).completion).toMatchObject({
      row: 'PASS x MET',
      final_status: 'PARTIAL',
      action: 'fix_quality',
    })
    expect(evaluated({ contract, output, quality: 'ml' }).completion.final_status).toBe('PARTIAL')
    expect(evaluated({ contract, output }).completion.final_status).toBe('SUCCESS')
  })
})
