import { App, Stack } from 'aws-cdk-lib'
import { expect, test } from 'vitest'
import { rightStatements } from '../../../infra/aws/access.ts'
import { functionRights } from '../../../infra/aws/grants.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { withCdkContextResearch } from '../../../infra/aws/stage-settings.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'

const KEY = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:sluice/near-AbCdEf'
const NOTHING = {
  ...{ tenants: ['main'], secrets: [], models: [], research: { secrets: [], models: [] } },
  ...{ embeddings: [], shell: false },
}

test('the key of the provider of embeddings is of the two stages that search, and of nobody without the setting', () => {
  const readers = FUNCTIONS.filter((line) => functionRights(line).includes('embeddings.secrets')).map(
    ({ name }) => name,
  )
  expect(readers).toEqual(['nl-classify', 'execute-subqueries'])
  const stated = (embeddings: readonly string[]) =>
    rightStatements('embeddings.secrets', new Stack(new App()), stageNames('dev'), { ...NOTHING, embeddings })
  expect(stated([])).toEqual([])
  expect(stated([KEY]).map((one) => one.toStatementJson())).toEqual([
    { Effect: 'Allow', Action: 'secretsmanager:GetSecretValue', Resource: KEY },
  ])
})

test('the CDK context may name them, by the rules of the file', () => {
  const near = { type: 'ollama', url: 'http://models.example', models: ['e-1'] }
  const settings = SettingsSchema.parse({ providers: { near, own: { type: 'http', url: 'http://own.example' } } })
  const given = (embeddings: object) => withCdkContextResearch(settings, { embeddings }).research
  expect(given({ provider: 'near', model: 'e-1' })).toMatchObject({
    provider: 'extractive',
    embeddings: { provider: 'near', model: 'e-1', hits: 200 },
  })
  expect(() => given({ provider: 'far', model: 'e-1' })).toThrow(/embeddings\.provider: No such provider/)
  expect(() => given({ provider: 'near', model: 'e-2' })).toThrow(/embeddings\.model: Not one of the models/)
  expect(() => given({ provider: 'own', model: 'e-1' })).toThrow(/embeddings\.provider: .*"http" have no embeddings/)
  expect(() => given({ provider: 'extractive', model: 'e-1' })).toThrow(/"extractive" have no embeddings/)
  expect(() => given({ provider: 'near', model: 'e-1', hits: 201 })).toThrow(/embeddings\.hits/)
})
