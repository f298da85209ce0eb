import { describe, expect, test } from 'vitest'
import { bindContract, readUnboundContract, targetInputs } from '../../../shared/goals/bind-contract.ts'
import { freezeContract, readGoalContract } from '../../../shared/goals/read-contract.ts'
import type { Json } from '../../../shared/text/json.ts'

const contractOf = (target: Json): Readonly<Record<string, Json>> => ({
  goal_text: 'Predict churn',
  acceptance_criteria: [
    { id: 'AC0', kind: 'marker_required', marker: 'METRIC:baseline_*' },
    { id: 'AC1', kind: 'metric_threshold', metric: 'cv_accuracy_mean', op: '>=', target },
  ],
})
const OPEN = contractOf({ input: 'target' })
const errorsOf = (given: unknown, inputs?: Record<string, never>) => {
  const read = readGoalContract(given, inputs)
  return read.ok ? [] : read.errors.map(({ code, path, message }) => [code, path, message])
}

describe('a target that is a run input', () => {
  test('is the number of that input, and then the same contract as one that says so', () => {
    const bound = readGoalContract(OPEN, { target: 0.7 })
    const said = readGoalContract(contractOf(0.7))
    if (!bound.ok || !said.ok) throw new Error('not valid')
    expect(freezeContract(bound.contract)).toEqual(freezeContract(said.contract))
  })

  test('is bound where every criterion has one', () => {
    const { acceptance_criteria } = OPEN as { acceptance_criteria: readonly Json[] }
    const bound = bindContract({ ...OPEN, acceptance_criteria: acceptance_criteria.slice(1) }, { target: 0.7 })
    expect(bound.contract).toMatchObject({ acceptance_criteria: [{ id: 'AC1', target: 0.7 }] })
  })

  test('may have a default in its document, which an input of the run goes before', () => {
    const document = `inputs:\n  target: { type: number, default: 0.8 }\ngoal_contract: ${JSON.stringify(OPEN)}\n`
    const targetOf = (inputs?: { target: number }) => {
      const read = readGoalContract(document, inputs)
      return read.ok ? read.contract.acceptance_criteria[1]?.target : read.errors
    }
    expect([targetOf(), targetOf({ target: 0.9 })]).toEqual([0.8, 0.9])
    const zero = readGoalContract(document.replace('0.8', '0'))
    expect(zero).toMatchObject({ ok: true, contract: { acceptance_criteria: [{}, { target: 0 }] } })
  })

  test('has to have a value, and a number', () => {
    expect(errorsOf(OPEN)).toEqual([
      [
        'missing_target',
        'acceptance_criteria[1].target',
        'Cannot use the goal contract: target of criterion "AC1" is the run input "target", which has no value; there are none. Give the run a number: --input target=0.9, or a default in "inputs".',
      ],
    ])
    const wrong = bindContract(OPEN, { target: '0.7' }, ['goal_contract'])
    expect(wrong.problems.map(({ code, path }) => [code, ...path])).toEqual([
      ['wrong_type', 'goal_contract', 'acceptance_criteria', 1, 'target'],
    ])
    expect(wrong.problems[0]?.say({ who: '', place: 'target' })).toEqual({
      text: 'target is the run input "target", which must be a number, got "0.7"',
    })
    expect(bindContract(OPEN, { target: null }).problems.map(({ code }) => code)).toEqual(['missing_target'])
    expect(bindContract(contractOf({ input: 'toString' }), {}).problems).toHaveLength(1)
  })

  test.each([
    [{ input: 'target', op: '>' }],
    [{ inputs: 'target' }],
    [{ input: 5 }],
    [['target']],
    ['{{inputs.target}}'],
  ])('is no other form: %j', (target) => {
    const read = readGoalContract(contractOf(target), { target: 0.7 })
    expect(read.ok ? [] : read.errors.map(({ code }) => code)).toEqual(['wrong_type'])
  })

  test('is one of those a contract has', () => {
    expect([OPEN, contractOf(0.7), contractOf({ inputs: 'x' }), undefined].map(targetInputs)).toEqual([
      ['target'],
      ...[[], [], []],
    ])
  })

  test('changes nothing where there is none, and never what was given', () => {
    const plain = contractOf(0.7)
    expect(bindContract(plain, { target: 1 })).toEqual({ contract: plain, problems: [] })
    const before = JSON.stringify(OPEN)
    bindContract(OPEN, { target: 1 })
    expect(JSON.stringify(OPEN)).toBe(before)
    expect(bindContract(undefined, {})).toEqual({ contract: undefined, problems: [] })
  })
})

describe('the contract of a document', () => {
  const read = (
    contract: ReturnType<typeof contractOf>,
    declared: readonly (readonly [string, string | undefined])[],
  ) =>
    // What a document says is JSON.
    readUnboundContract(contract as never, ['goal_contract'], new Map(declared))

  test('keeps its inputs unbound, with the defaults of everything else', () => {
    expect(read(OPEN, [['target', 'number']]).contract).toMatchObject({
      version: 1,
      max_goal_attempts: 3,
      acceptance_criteria: [{ id: 'AC0' }, { id: 'AC1', target: { input: 'target' }, tolerance: 0 }],
    })
  })

  test('names inputs that are declared, as numbers', () => {
    const said = (...declared: readonly (readonly [string, string | undefined])[]) =>
      read(OPEN, declared).problems.map(({ code, say }) => [code, say({ who: '', place: 'target' })])
    expect(said(['targets', 'number'])).toEqual([
      [
        'unknown_input',
        {
          text: 'target is the run input "target", which is not declared; declared are "targets"',
          hint: 'Did you mean "targets"?',
        },
      ],
    ])
    expect(said()).toEqual([
      ['unknown_input', expect.objectContaining({ hint: 'Declare it: inputs: { target: number }.' })],
    ])
    for (const type of ['string', undefined]) {
      const text = `target is the run input "target", which is declared as ${type ?? 'nothing'}; a number is needed`
      expect(said(['target', type])).toEqual([['type_mismatch', { text }]])
    }
    const { problems, contract } = read(OPEN, [])
    expect(problems.map(({ path }) => path)).toEqual([['goal_contract', 'acceptance_criteria', 1, 'target']])
    expect(contract).toBeUndefined()
  })

  test('has all its problems told together', () => {
    const bad = { ...OPEN, goal_txt: 'x' }
    expect(read(bad, []).problems.map(({ code }) => code)).toEqual(['unknown_input', 'unknown_key'])
  })
})
