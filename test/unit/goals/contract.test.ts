import { describe, expect, test } from 'vitest'
import { freezeContract, readGoalContract } from '../../../shared/goals/read-contract.ts'
import { ACCURACY, contractOf } from './evaluated.ts'

const VALID = contractOf(ACCURACY)

/** Code and path of everything wrong. */
function errorsOf(given: unknown): readonly string[] {
  const read = readGoalContract(given)
  return read.ok ? [] : read.errors.map(({ code, path }) => `${code} ${path}`.trim())
}

function contract(given: unknown) {
  const read = readGoalContract(given)
  if (!read.ok) throw new Error(JSON.stringify(read.errors))
  return read.contract
}

describe('readGoalContract()', () => {
  test('fills in what may be left out', () => {
    expect(contract(VALID)).toEqual({
      version: 1,
      goal_text: 'Reach it',
      max_goal_attempts: 3,
      acceptance_criteria: [{ id: 'AC1', ...ACCURACY, tolerance: 0 }],
    })
  })

  test('keeps what is given', () => {
    const given = {
      version: 1,
      goal_text: 'x',
      goal_type: 'eda',
      max_goal_attempts: 1,
      acceptance_criteria: [{ id: 'A', description: 'why', ...ACCURACY, tolerance: 0.5 }],
    }
    expect(contract(given)).toEqual(given)
  })

  test('the text, an object and a document that has it under goal_contract are one contract', () => {
    const text = JSON.stringify(VALID)
    const yaml = `goal_text: Reach it\nacceptance_criteria:\n  - {id: AC1, kind: metric_threshold, metric: accuracy, op: ">=", target: 0.9}\n`
    const document = `name: x\ngoal_contract:\n  ${yaml.replaceAll('\n', '\n  ')}\nblocks: []\n`
    for (const given of [text, yaml, document, { goal_contract: VALID, blocks: [] }]) {
      expect(contract(given)).toEqual(contract(VALID))
    }
  })

  test.each<[string, object, readonly string[]]>([
    ['another version', { version: 2 }, ['invalid_value version']],
    ['a version in quotes', { version: '1' }, ['invalid_value version']],
    ['a blank goal', { goal_text: ' \n' }, ['invalid_value goal_text']],
    ['no goal', { goal_text: undefined }, ['missing_key goal_text']],
    ['a goal that is a number', { goal_text: 7 }, ['wrong_type goal_text']],
    ['a blank goal type', { goal_type: ' ' }, ['invalid_value goal_type']],
    ['no attempts', { max_goal_attempts: 0 }, ['invalid_value max_goal_attempts']],
    ['half an attempt', { max_goal_attempts: 1.5 }, ['wrong_type max_goal_attempts']],
    ['attempts as text', { max_goal_attempts: '3' }, ['wrong_type max_goal_attempts']],
    ['an unknown key', { acceptance_criterias: [] }, ['unknown_key acceptance_criterias']],
    ['no criteria', { acceptance_criteria: undefined }, ['missing_key acceptance_criteria']],
    ['an empty list', { acceptance_criteria: [] }, ['invalid_value acceptance_criteria']],
    ['a mapping of criteria', { acceptance_criteria: { AC1: ACCURACY } }, ['wrong_type acceptance_criteria']],
    ['null criteria', { acceptance_criteria: null }, ['wrong_type acceptance_criteria']],
  ])('refuses %s', (_, change, errors) => {
    expect(errorsOf({ ...VALID, ...change })).toEqual(errors)
  })

  test.each<[string, object, readonly string[]]>([
    ['an unknown kind', { kind: 'metric_treshold' }, ['unknown_criterion_kind kind']],
    ['no kind', { kind: undefined }, ['missing_key kind']],
    ['an inherited kind', { kind: 'toString' }, ['unknown_criterion_kind kind']],
    ['no id', { id: undefined }, ['missing_key id']],
    ['a blank id', { id: ' ' }, ['invalid_value id']],
    ['an id that is a number', { id: 1 }, ['wrong_type id']],
    ['an unknown key', { treshold: 0.9 }, ['unknown_key treshold']],
    ['a key of another kind', { minCount: 1 }, ['unknown_key minCount']],
    ['no metric', { metric: undefined }, ['missing_key metric']],
    ['a blank metric', { metric: '' }, ['invalid_value metric']],
    ['no operator', { op: undefined }, ['missing_key op']],
    ['an unknown operator', { op: '=>' }, ['invalid_value op']],
    ['an inherited operator', { op: 'constructor' }, ['invalid_value op']],
    ['no target', { target: undefined }, ['missing_key target']],
    ['a target in quotes', { target: '0.9' }, ['wrong_type target']],
    ['a null target', { target: null }, ['wrong_type target']],
    ['a NaN target', { target: Number.NaN }, ['not_json target']],
    ['an infinite target', { target: Number.POSITIVE_INFINITY }, ['not_json target']],
    ['a negative tolerance', { tolerance: -0.1 }, ['invalid_value tolerance']],
    ['a description that is a list', { description: [] }, ['wrong_type description']],
  ])('refuses a metric_threshold with %s', (_, change, errors) => {
    const paths = errors.map((error) => error.replace(' ', ' acceptance_criteria[0].'))
    expect(errorsOf(contractOf({ ...ACCURACY, ...change }))).toEqual(paths)
  })

  test.each<[object, readonly string[]]>([
    [{ kind: 'marker_required' }, ['missing_key acceptance_criteria[0].marker']],
    [{ kind: 'marker_required', marker: '*' }, ['invalid_value acceptance_criteria[0].marker']],
    [{ kind: 'marker_required', marker: 'MET*' }, ['invalid_value acceptance_criteria[0].marker']],
    [{ kind: 'marker_required', marker: 'METRIC:' }, ['invalid_value acceptance_criteria[0].marker']],
    [{ kind: 'marker_required', marker: 'metric:a' }, ['invalid_value acceptance_criteria[0].marker']],
    [{ kind: 'marker_required', marker: 'x METRIC:a' }, ['invalid_value acceptance_criteria[0].marker']],
    [{ kind: 'marker_required', marker: '[METRIC:a]' }, ['invalid_value acceptance_criteria[0].marker']],
    [{ kind: 'marker_required', marker: '' }, ['invalid_value acceptance_criteria[0].marker']],
    [{ kind: 'artifact_exists' }, ['missing_key acceptance_criteria[0].artifactPattern']],
    [{ kind: 'artifact_exists', artifactPattern: ' ' }, ['invalid_value acceptance_criteria[0].artifactPattern']],
    [{ kind: 'artifact_exists', artifactPattern: '[z-a]' }, ['invalid_value acceptance_criteria[0].artifactPattern']],
    [{ kind: 'finding_count' }, ['missing_key acceptance_criteria[0].minCount']],
    [{ kind: 'finding_count', minCount: 1.5 }, ['wrong_type acceptance_criteria[0].minCount']],
    [{ kind: 'finding_count', minCount: -1 }, ['invalid_value acceptance_criteria[0].minCount']],
    [{ kind: 'finding_count', minCount: '2' }, ['wrong_type acceptance_criteria[0].minCount']],
  ])('refuses %j', (criterion, errors) => {
    expect(errorsOf(contractOf(criterion))).toEqual(errors)
  })

  test('texts have limits', () => {
    const over = { goal_text: 'x'.repeat(10_001), goal_type: 'x'.repeat(101) }
    expect(errorsOf({ ...VALID, ...over })).toEqual(['limit_exceeded goal_text', 'limit_exceeded goal_type'])
    expect(errorsOf({ ...VALID, goal_text: 'x'.repeat(10_000), goal_type: 'x'.repeat(100) })).toEqual([])
    const long = (characters: number) => ({ id: 'i'.repeat(characters), description: 'd'.repeat(characters * 20) })
    expect(errorsOf(contractOf({ ...ACCURACY, ...long(100) }))).toEqual([])
    expect(errorsOf(contractOf({ ...ACCURACY, ...long(101) }))).toHaveLength(2)
    expect(errorsOf(contractOf({ ...ACCURACY, description: 'd'.repeat(2_001) }))).toHaveLength(1)
    expect(errorsOf(contractOf({ ...ACCURACY, metric: 'm'.repeat(200) }))).toEqual([])
    expect(errorsOf(contractOf({ ...ACCURACY, metric: 'm'.repeat(201) }))).toHaveLength(1)
    const marker = (length: number) => contractOf({ kind: 'marker_required', marker: 'M'.repeat(length) })
    expect([errorsOf(marker(200)).length, errorsOf(marker(201)).length]).toEqual([0, 1])
    const glob = (length: number) => contractOf({ kind: 'artifact_exists', artifactPattern: 'a'.repeat(length) })
    expect([errorsOf(glob(500)).length, errorsOf(glob(501)).length]).toEqual([0, 1])
  })

  test('criteria are mappings', () => {
    for (const criterion of [null, 7, 'AC1', [], [ACCURACY]]) {
      expect(errorsOf({ ...VALID, acceptance_criteria: [criterion] })).toEqual(['wrong_type acceptance_criteria[0]'])
    }
  })

  test('ids are unique', () => {
    const twice = contractOf(ACCURACY, { ...ACCURACY, id: 'AC1' }, { ...ACCURACY, id: 'AC1' })
    const read = readGoalContract(twice)
    expect(read).toMatchObject({ ok: false })
    expect(read.ok ? [] : read.errors.map(({ message }) => message)).toEqual([
      'Cannot use the goal contract: criterion "AC1" has the id "AC1", which acceptance_criteria[0] has already.',
      'Cannot use the goal contract: criterion "AC1" has the id "AC1", which acceptance_criteria[0] has already.',
    ])
    expect(errorsOf(twice)).toEqual([
      'duplicate_id acceptance_criteria[1].id',
      'duplicate_id acceptance_criteria[2].id',
    ])
    expect(errorsOf(contractOf({ ...ACCURACY, id: 7 }, { ...ACCURACY, id: 7 }))).toHaveLength(2)
  })

  test.each([null, undefined, 7, true, [], [VALID], '', 'x', '- a', 'null', '# nothing'])(
    '%j is no contract',
    (given) => {
      expect(readGoalContract(given).ok).toBe(false)
    },
  )

  test('a goal_contract that is nothing is malformed, not absent', () => {
    expect(errorsOf('goal_contract:\nblocks: []')).toEqual(['wrong_type goal_contract'])
    expect(errorsOf({ goal_contract: null, ...VALID })).toEqual(['wrong_type goal_contract'])
    expect(errorsOf({ goal_contract: {} })).toEqual([
      'missing_key goal_contract.goal_text',
      'missing_key goal_contract.acceptance_criteria',
    ])
  })

  test('all errors are told together, in the order of the text, each with its place', () => {
    const yaml = `goal_contract:
  goal_txt: x
  acceptance_criteria:
    - { id: A, kind: metric_treshold }
    - { id: B, kind: finding_count, minCount: .nan }
    - 7
  max_goal_attempts: 0
`
    const read = readGoalContract(yaml)
    expect(read.ok ? [] : read.errors.map(({ code, path, line, column }) => [code, path, line, column])).toEqual([
      ['missing_key', 'goal_contract.goal_text', 2, 3],
      ['unknown_key', 'goal_contract.goal_txt', 2, 3],
      ['unknown_criterion_kind', 'goal_contract.acceptance_criteria[0].kind', 4, 22],
      ['not_json', 'goal_contract.acceptance_criteria[1].minCount', 5, 47],
      ['wrong_type', 'goal_contract.acceptance_criteria[2]', 6, 7],
      ['invalid_value', 'goal_contract.max_goal_attempts', 7, 22],
    ])
    expect(
      read.ok ? [] : read.errors.map(({ message }) => message.replace('Cannot use the goal contract: ', '')),
    ).toEqual([
      'goal_text of the goal contract is missing. Add "goal_text".',
      expect.stringMatching(/^goal_txt of the goal contract is an unknown key; .* Did you mean "goal_text"\?$/),
      expect.stringMatching(/^kind of criterion "A" is "metric_treshold"; .* Did you mean "metric_threshold"\?$/),
      'minCount of criterion "B" is NaN, which is no JSON value.',
      'acceptance_criteria[2] must be a mapping, got 7.',
      'max_goal_attempts of the goal contract is 0; it must be at least 1.',
    ])
  })

  test('names a criterion by its place where it has no id', () => {
    const read = readGoalContract(contractOf({ ...ACCURACY, id: ' ', op: 7 }))
    expect(read.ok ? [] : read.errors.map(({ message }) => message)).toEqual([
      expect.stringContaining('id of acceptance_criteria[0] '),
      expect.stringContaining('op of acceptance_criteria[0] '),
    ])
  })

  test('hostile texts and objects are refused, not evaluated', () => {
    for (const [text, code] of [
      ['a: &x [1]\nb: *x', 'alias'],
      ['goal_text: !!js/function "x"', 'unknown_tag'],
      ['goal_text: a\ngoal_text: b', 'duplicate_key'],
      ['goal_text: a\n---\ngoal_text: b', 'several_documents'],
      [`goal_text: ${'x'.repeat(262_144)}`, 'limit_exceeded'],
      ['op: >=', 'yaml_syntax'],
    ] as const) {
      expect(errorsOf(text)[0]).toContain(code)
    }
    const round: Record<string, unknown> = { ...VALID }
    round.acceptance_criteria = [round]
    expect(readGoalContract(round).ok).toBe(false)
    const throws = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no')
        },
      },
    )
    expect(errorsOf(throws)).toEqual(['not_json'])
    expect(errorsOf({ ...VALID, goal_text: () => 'x' })).toEqual(['not_json goal_text'])
  })

  test('tells what could be read of its criteria, and what is wrong with each', () => {
    const read = readGoalContract(contractOf(ACCURACY, { ...ACCURACY, op: '=>' }))
    expect(read.ok ? [] : read.criteria.map(({ problem }) => problem)).toEqual([
      undefined,
      expect.stringContaining('op of criterion "AC2" is "=>"'),
    ])
    const whole = readGoalContract({ version: 2, ...contractOf(ACCURACY, { kind: 'x', id: 7 }), extra: 1 })
    expect(whole.ok ? [] : whole.criteria.map(({ problem }) => problem)).toEqual([
      'version of the goal contract is 2; allowed are "1"',
      expect.stringContaining('kind of acceptance_criteria[1]'),
    ])
    const two = readGoalContract(contractOf({ ...ACCURACY, metric: 7, op: 8 }))
    expect(two.ok ? [] : two.criteria.map(({ problem }) => problem)).toEqual([expect.stringContaining('metric of')])
  })
})

describe('freezeContract()', () => {
  test('one contract has one hash, however it is written', () => {
    const { hash, text } = freezeContract(contract(VALID))
    const written = {
      acceptance_criteria: [{ tolerance: 0, ...VALID.acceptance_criteria[0] }],
      max_goal_attempts: 3,
      version: 1,
      goal_text: 'Reach it',
    }
    expect(freezeContract(contract(written))).toMatchObject({ hash, text })
    expect(freezeContract(contract(JSON.stringify(VALID).replace('0.9', '9e-1'))).hash).toBe(hash)
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(text).toBe(
      '{"acceptance_criteria":[{"id":"AC1","kind":"metric_threshold","metric":"accuracy","op":">=","target":0.9,"tolerance":0}],"goal_text":"Reach it","max_goal_attempts":3,"version":1}',
    )
  })

  test('another contract has another', () => {
    const { hash } = freezeContract(contract(VALID))
    for (const change of [
      { goal_text: 'x' },
      { goal_type: 'eda' },
      { max_goal_attempts: 4 },
      contractOf({ ...ACCURACY, target: 0.91 }),
    ]) {
      expect(freezeContract(contract({ ...VALID, ...change })).hash).not.toBe(hash)
    }
  })

  test('what it answers cannot be changed, and is a copy', () => {
    const given = contract(VALID)
    const frozen = freezeContract(given)
    const [criterion] = frozen.contract.acceptance_criteria
    expect(frozen.contract).toEqual(given)
    for (const part of [frozen, frozen.contract, frozen.contract.acceptance_criteria, criterion]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
    expect(Object.isFrozen(given)).toBe(false)
  })
})

describe('messages say what is allowed', () => {
  const message = (change: object) => {
    const read = readGoalContract({ ...VALID, ...change })
    return read.ok ? '' : read.errors.map((error) => error.message).join('\n')
  }

  test.each<[object, string]>([
    [{ goal_text: ' ' }, 'it must not be blank'],
    [{ goal_type: ' ' }, 'it must not be blank'],
    [contractOf({ ...ACCURACY, id: ' ' }), 'it must not be blank'],
    [contractOf({ ...ACCURACY, metric: ' ' }), 'it must not be blank'],
    [contractOf({ kind: 'artifact_exists', artifactPattern: ' ' }), 'it must not be blank'],
    [contractOf({ kind: 'artifact_exists', artifactPattern: '[z-a]' }), 'it is a glob that cannot be read'],
    [contractOf({ kind: 'marker_required', marker: '*' }), 'a marker is TYPE or TYPE:subtype'],
    [{ version: 3 }, 'Cannot use the goal contract: version of the goal contract is 3; allowed are "1".'],
    [contractOf({ id: 'A' }), 'kind of criterion "A" is nothing; allowed are "metric_threshold", "marker_required"'],
  ])('%j: %s', (change, words) => {
    expect(message(change)).toContain(words)
  })
})

test('what is no mapping is told as that', () => {
  const read = readGoalContract(7)
  const errors = read.ok ? [] : read.errors.map(({ message }) => message)
  expect(errors).toEqual(['Cannot use the goal contract: the goal contract must be a mapping, got 7.'])
})
