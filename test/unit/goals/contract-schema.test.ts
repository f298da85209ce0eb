import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { contractSchema } from '../../../shared/document/json-schema.ts'
import { CRITERION_KINDS } from '../../../shared/goals/criteria/registry.ts'
import { readGoalContract } from '../../../shared/goals/read-contract.ts'
import { ACCURACY, contractOf } from './evaluated.ts'

const validate = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(contractSchema())
const INPUTS = { target: 0.9 }
/** What the schema says, and what reading it says. */
const both = (contract: unknown) => [validate(contract), readGoalContract(contract, INPUTS).ok]
const GOOD = contractOf(ACCURACY)
const COUNT = { kind: 'finding_count', minCount: 1 }

describe('contractSchema()', () => {
  test.each([
    ['each kind by its example', { ...GOOD, acceptance_criteria: CRITERION_KINDS.map(({ example }) => example) }],
    ['all that may be said', { ...GOOD, version: 1, goal_type: 'eda', max_goal_attempts: 2 }],
    ['a target that is a run input', contractOf({ ...ACCURACY, target: { input: 'target' } })],
  ])('accepts %s, as reading does', (_, contract) => {
    expect(both(contract)).toEqual([true, true])
  })

  test.each<readonly [string, unknown]>([
    ['a text', 'x'],
    ['no criteria', { goal_text: 'x', acceptance_criteria: [] }],
    ['criteria that are no list', { ...GOOD, acceptance_criteria: { 0: { id: 'a', ...COUNT } } }],
    ['a contract without criteria', { goal_text: 'x' }],
    ['a key nobody knows', { ...GOOD, goal_txt: 'x' }],
    ['an unknown kind', contractOf({ kind: 'magic' })],
    ['a criterion with a key of another kind', contractOf({ ...COUNT, metric: 'm' })],
    ['a criterion without what its kind needs', contractOf({ kind: 'finding_count' })],
    ['a target of a kind that has none', contractOf({ ...COUNT, target: { input: 'target' } })],
    ['a target with more than its input', contractOf({ ...ACCURACY, target: { input: 'target', op: '>' } })],
    ['a target without its input', contractOf({ ...ACCURACY, target: {} })],
    ['an input that is no name', contractOf({ ...ACCURACY, target: { input: 5 } })],
    ['a list for a target', contractOf({ ...ACCURACY, target: ['target'] })],
  ])('refuses %s, as reading does', (_, contract) => {
    expect(both(contract)).toEqual([false, false])
  })

  test('says in words what it is about, for editors', () => {
    const { description, properties } = contractSchema() as {
      description: string
      properties: { acceptance_criteria: { items: { anyOf: readonly { title: string; description: string }[] } } }
    }
    expect(description).toBe('What a run is to reach, and how that is seen (docs/goal-gates.md).')
    const told = properties.acceptance_criteria.items.anyOf.map(({ title, description: words }) => [title, words])
    expect(told).toEqual(CRITERION_KINDS.map(({ kind, summary }) => [kind, summary]))
  })
})
