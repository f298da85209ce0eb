// @module-tag thorough
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { functionsIn } from '../../../infra/aws/function-sizes.ts'
import { AWS_QUOTAS } from '../../../shared/aws-quotas.ts'
import { assembled } from './assembled.ts'
import { type Assembly, textOf } from './assembly.ts'
import { type Synthesized, synthesize } from './synthesized.ts'

/** A stage with `sluice:release: gradual` beside the usual one (docs/adr/0092). */
let plain: Assembly
let made: Synthesized
let spread: Synthesized
beforeAll(async () => {
  plain = await assembled()
  made = await synthesize({ 'sluice:release': 'gradual' }, undefined, 'placeholders')
  spread = await synthesize({ 'sluice:release': 'gradual', 'sluice:document_stacks': 2 }, undefined, 'placeholders')
}, 400_000)
afterAll(() => {
  made?.remove()
  spread?.remove()
})

const called = functionsIn('machine').map(({ name }) => `sluice-dev-${name}`)
const ofFunction = (of: Assembly, name: string) =>
  of.all('AWS::Lambda::Function').find(({ Properties }) => textOf(Properties.FunctionName) === name)?.Properties
function variablesOf(of: Assembly, name: string): Readonly<Record<string, unknown>> {
  const { Environment } = ofFunction(of, name) ?? {}
  const { Variables } = Object(Environment)
  return Object(Variables)
}
const substitutions = (of: Assembly) =>
  of
    .all('AWS::StepFunctions::StateMachine')
    .flatMap(({ Properties }) =>
      Object.entries(Properties.DefinitionSubstitutions as Readonly<Record<string, unknown>>),
    )
    .filter(([placeholder]) => !placeholder.startsWith('Part'))

describe('sluice:release gradual', () => {
  test('publishes a version of each function that machines call, of no other, and it stays when it is replaced', () => {
    const versions = made.all('AWS::Lambda::Version')
    expect(versions).toHaveLength(called.length)
    expect(versions.every((version) => JSON.stringify(version).includes('"UpdateReplacePolicy":"Retain"'))).toBe(true)
    expect(plain.all('AWS::Lambda::Version')).toEqual([])
  })

  test('every machine of every stack calls what its input names, so that a release is no other text', () => {
    for (const of of [made, spread]) {
      const bound = substitutions(of)
      expect(bound.length).toBeGreaterThan(30)
      for (const [placeholder, value] of bound)
        expect(textOf(value)).toMatch(
          new RegExp(`^\\{% '.+' & \\$states\\.context\\.Execution\\.Input\\.code\\.${placeholder} %\\}$`),
        )
    }
    expect(substitutions(plain).some(([, value]) => textOf(value).includes('{%'))).toBe(false)
  })

  test('start-run is told every version, and each of the others which release it is of', () => {
    const { id, code } = JSON.parse(textOf(variablesOf(made, 'sluice-dev-start-run').DEPLOYED_RELEASE))
    expect(id).toMatch(/^[0-9a-f]{12}$/)
    expect(Object.keys(code).toSorted()).toEqual(
      functionsIn('machine')
        .map(({ placeholder }) => placeholder)
        .toSorted(),
    )
    expect(called.map((name) => variablesOf(made, name).RELEASE)).toEqual(called.map(() => id))
    expect(called.some((name) => 'RELEASE' in variablesOf(plain, name))).toBe(false)
    expect(variablesOf(plain, 'sluice-dev-start-run')).not.toHaveProperty('DEPLOYED_RELEASE')
  })

  test('the alarm counts runs of this release alone, and guard-release hears of it', () => {
    const alarms = made.all('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties)
    const alarm = alarms.find(({ AlarmName }) => AlarmName === 'sluice-dev-ReleaseFailureRate')
    const { id } = JSON.parse(textOf(variablesOf(made, 'sluice-dev-start-run').DEPLOYED_RELEASE))
    const metrics = JSON.stringify(alarm?.Metrics)
    expect([...metrics.matchAll(/"Name":"release","Value":"(\w+)"/g)].map(([, of]) => of)).toEqual([id, id, id, id])
    const rule = made
      .all('AWS::Events::Rule')
      .find(({ Properties }) => JSON.stringify(Properties).includes('guardrelease'))
    expect(rule?.Properties.EventPattern).toEqual({
      source: ['aws.cloudwatch'],
      'detail-type': ['CloudWatch Alarm State Change'],
      detail: { alarmName: ['sluice-dev-ReleaseFailureRate'], state: { value: ['ALARM'] } },
    })
    expect(ofFunction(plain, 'sluice-dev-guard-release')).toBeUndefined()
  })

  test('adds 19 resources to SluiceMachines and one to SluiceApi, far from what a stack may have', () => {
    const size = (of: Assembly, stack: 'SluiceMachines' | 'SluiceApi') => Object.keys(of.template(stack)).length
    expect(size(made, 'SluiceMachines') - size(plain, 'SluiceMachines')).toBe(19)
    expect(size(made, 'SluiceApi') - size(plain, 'SluiceApi')).toBe(1)
    expect(size(made, 'SluiceApi')).toBeLessThan(AWS_QUOTAS.stack_resources.most)
  })
})
