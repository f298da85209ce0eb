import { expect, test } from 'vitest'
import { readDeploySettings } from '../../../infra/aws/deploy-settings.ts'
import { withCdkContextSafety } from '../../../infra/aws/stage-settings.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'

const file = parseSettings('safety: { max_runs: 30, stall_sec: 600 }', 'sluice.yaml')
const told = (safety: unknown) =>
  readDeploySettings((key) => ({ 'sluice:stage': 'dev', 'sluice:auth': 'iam', 'sluice:safety': safety })[key]).safety

test('safety of the CDK context wins over the file, value by value, and is noted', () => {
  const settings = withCdkContextSafety(file, told('{"max_runs": 50, "queue": true}'))
  expect(settings.safety).toMatchObject({ max_runs: 50, queue: true, stall_sec: 600 })
  expect(settings.safety_context).toEqual(['max_runs', 'queue'])
  expect(withCdkContextSafety(file, told({ max_runs: 50 })).safety.max_runs).toBe(50)
  expect(withCdkContextSafety(file, told(undefined))).toBe(file)
})

test('what is wrong there is named, with what is allowed', () => {
  expect(() => withCdkContextSafety(file, told({ max_runs: 0 }))).toThrow(/"sluice:safety" max_runs: .*cdk\.json/s)
  expect(() => withCdkContextSafety(file, told({ max_run: 5 }))).toThrow(/"sluice:safety" .*max_run/s)
  expect(() => told('fifty')).toThrow('"sluice:safety" is "fifty"; allowed: an object of safety values')
})

test('a file cannot say that a value came from there', () => {
  expect(() => parseSettings('safety_context: [max_runs]', 'sluice.yaml')).toThrow(/safety_context/)
})
