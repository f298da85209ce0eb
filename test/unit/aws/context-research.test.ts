import { expect, test } from 'vitest'
import { readDeploySettings } from '../../../infra/aws/deploy-settings.ts'
import { withCdkContextResearch } from '../../../infra/aws/stage-settings.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

const file = SettingsSchema.parse({
  providers: { claude: { type: 'bedrock', models: ['anthropic.claude-x-v1:0'] } },
  research: { max_tokens: 500 },
})
const told = (research: unknown) =>
  readDeploySettings((key) => ({ 'sluice:stage': 'dev', 'sluice:auth': 'iam', 'sluice:research': research })[key])
    .research

test('a value of the context wins over the file, which keeps the others', () => {
  const model = { provider: 'claude', model: 'anthropic.claude-x-v1:0' }
  expect(withCdkContextResearch(file, told(JSON.stringify(model))).research).toMatchObject({
    ...model,
    max_tokens: 500,
  })
  expect(withCdkContextResearch(file, told(model)).research).toMatchObject(model)
  expect(withCdkContextResearch(file, told(undefined))).toBe(file)
})

test('a wrong one is told with its name, what is allowed, and where to mend it', () => {
  const refusal = (given: object) => () => withCdkContextResearch(file, told(given))
  expect(refusal({ max_tokens: 1 })).toThrow(/"sluice:research" max_tokens: .*cdk\.json/s)
  expect(refusal({ modle: 'x' })).toThrow(/"sluice:research" .*modle/s)
  expect(refusal({ provider: 'clude', model: 'x' })).toThrow(/"sluice:research" provider: .*claude/s)
  expect(refusal({ provider: 'claude' })).toThrow(/"sluice:research" model: /)
  expect(() => told('fast')).toThrow(/"sluice:research" is "fast"/)
})
