import { describe, expect, test } from 'vitest'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import type { Machine, TaskState } from '../../../shared/compile/asl.ts'
import { researchMachine } from '../../../shared/compile/research-machine.ts'
import { STAGES } from '../../../shared/research/stages.ts'
import { sha256 } from '../../../shared/text/hash.ts'

const { text, hash } = researchMachine()
const machine = JSON.parse(text) as Machine
const state = (name: string) => machine.States[name] as TaskState & { readonly Next: string }

describe('researchMachine()', () => {
  test('has a state for each stage, of its name, which calls the function of that name', () => {
    expect(machine.StartAt).toBe('nl_classify')
    for (const stage of STAGES) {
      const placeholder = FUNCTIONS.find(({ name }) => name === stage.replaceAll('_', '-'))?.placeholder
      expect(state(stage).Arguments).toMatchObject({ FunctionName: `\${${placeholder}}` })
      expect(state(stage)).toMatchObject({ Next: '_next', TimeoutSeconds: 930 })
    }
  })

  test('goes on where the stage says, and to the settling where it names none', () => {
    const next = machine.States._next
    expect(next).toEqual({
      Type: 'Choice',
      Choices: STAGES.map((stage) => ({ Condition: `{% $states.input.next = '${stage}' %}`, Next: stage })),
      Default: '_settle',
    })
  })

  test('a stage that fails for good leads to the answer, that to an answer without a model, that to the settling', () => {
    const caught = (name: string) => state(name).Catch?.map(({ ErrorEquals, Next }) => [...ErrorEquals, Next])
    for (const stage of STAGES.slice(0, 4)) expect(caught(stage)).toEqual([['States.ALL', 'synthesize_answer']])
    expect(caught('synthesize_answer')).toEqual([['States.ALL', '_answer_degraded']])
    expect(caught('_answer_degraded')).toEqual([['States.ALL', '_settle']])
    expect(state('_answer_degraded').Arguments).toMatchObject({ Payload: { plain: true } })
  })

  test('is the same text each time, and small', () => {
    expect(hash).toBe(sha256(text))
    expect(researchMachine()).toEqual({ text, hash })
    expect(text.length).toBeLessThan(12_000)
  })

  test('hands no stage anything but ids, numbers and what failed', () => {
    for (const stage of STAGES) {
      const { Payload } = state(stage).Arguments as { readonly Payload: object }
      const keys = ['in', 'step', 'ref', ...(stage === 'synthesize_answer' ? ['failed'] : [])]
      expect(Object.keys(Payload)).toEqual(keys)
    }
  })
})
