// @module-tag thorough
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acknowledgementsFor } from '../../../infra/aws/cdk-nag-acknowledgements.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import { type Settings, SettingsSchema } from '../../../shared/settings/settings.ts'
import { ROOT, textOf } from './assembly.ts'
import { A_FEW, bundled } from './bundled.ts'
import { importBundle } from './function-process.ts'
import { type Synthesized, synthesize } from './synthesized.ts'

/** A stage whose settings name models of Bedrock: who may ask them, and who carries its client. */
const HAIKU = 'anthropic.claude-3-haiku-20240307-v1:0'
const SONNET = 'us.anthropic.claude-sonnet-4-20250514-v1:0'
const OWN = 'arn:aws:bedrock:eu-central-1:000000000000:application-inference-profile/abc123'
const IMPORTED = 'arn:aws:bedrock:eu-central-1:000000000000:imported-model/def456'
/** With execute-subqueries, which asks for embeddings through the same port; it has no right to call a model of Bedrock. */
const HOLDERS = [
  'run-block',
  'open-step',
  'request-approval',
  'open-child',
  'open-wait',
  'nl-classify',
  'route-search',
  'execute-subqueries',
  'assess-sufficiency',
  'synthesize-answer',
]

let made: Synthesized
let asking: Settings
beforeAll(async () => {
  const shipped = parseSettings(readFileSync(join(ROOT, 'sluice.yaml'), 'utf8'), 'sluice.yaml')
  const providers = {
    here: { type: 'bedrock', models: [HAIKU] },
    again: { type: 'bedrock', models: [HAIKU], max_concurrency: 4 },
    far: { type: 'bedrock', region: 'us-east-1', models: [SONNET] },
    own: { type: 'bedrock', models: [OWN, IMPORTED] },
  }
  const settings = { ...shipped, providers, research: { provider: 'far', model: SONNET } }
  asking = SettingsSchema.parse(settings)
  made = await synthesize({ 'sluice:alarm_email': 'ops@example.com' }, asking, 'placeholders')
}, 240_000)
afterAll(() => made.remove())

interface Statement {
  readonly Action: unknown
  readonly Resource: unknown
  readonly Condition?: { readonly StringEquals: Readonly<Record<string, unknown>> }
}

/** Statements about Bedrock, by the function whose role has them. */
function statements(): ReadonlyMap<string, readonly Statement[]> {
  const found = made.all('AWS::IAM::Role').flatMap(({ id, Properties }) => {
    const policies = (Properties.Policies ?? []) as readonly {
      readonly PolicyDocument: { readonly Statement: readonly Statement[] }
    }[]
    const all = policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    const bedrock = all.filter(({ Action }) => JSON.stringify(Action).includes('bedrock:'))
    return bedrock.length === 0 ? [] : [[id.replace(/Role.*/, ''), bedrock] as const]
  })
  return new Map(found)
}

const BEDROCK = 'arn:<Partition>:bedrock'
const PROFILE = `${BEDROCK}:us-east-1:<AccountId>:inference-profile/${SONNET}`
const OF_SONNET = [PROFILE, `${BEDROCK}:*::foundation-model/anthropic.claude-sonnet-4-20250514-v1:0 through ${PROFILE}`]
const STAGES = ['assesssufficiency', 'nlclassify', 'routesearch', 'synthesizeanswer']

/** The resources, each with the profile it may be reached through. */
function toldOf(stated: readonly Statement[] = []): readonly string[] {
  return stated.flatMap(({ Resource, Condition }) => {
    const through = Object.values(Condition?.StringEquals ?? {}).map(textOf)
    return [Resource].flat().map((resource) => [textOf(resource), ...through].join(' through '))
  })
}

describe('the right to ask models of Bedrock', () => {
  test('is of what dispatches or judges by a model, on exactly the models the settings list', () => {
    const of = new Map([...statements()].filter(([name]) => !STAGES.includes(name)))
    expect([...of.keys()]).toEqual(['runblock', 'openstep', 'requestapproval', 'openwait', 'openchild'])
    const [first, ...others] = [...of.values()]
    expect(toldOf(first).toSorted()).toEqual(
      [
        `${BEDROCK}:<Region>::foundation-model/${HAIKU}`,
        ...OF_SONNET,
        OWN,
        `${BEDROCK}:*::foundation-model/* through ${OWN}`,
        IMPORTED,
      ].toSorted(),
    )
    for (const one of others) expect(one).toEqual(first)
  })

  test('is of the stages of the research chain on the one model that answers them', () => {
    const of = [...statements()].filter(([name]) => STAGES.includes(name))
    expect(of.map(([name]) => name).toSorted()).toEqual(STAGES)
    for (const [, stated] of of) expect(toldOf(stated)).toEqual(OF_SONNET)
  })

  test('is two actions, and a wildcard stands only behind the condition of its profile', () => {
    for (const { Action, Resource, Condition } of [...statements().values()].flat()) {
      expect(Action).toEqual(['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream'])
      expect(textOf(Resource).includes('*')).toBe(Condition !== undefined)
      expect(Object.keys(Condition?.StringEquals ?? { 'bedrock:InferenceProfileArn': '' })).toEqual([
        'bedrock:InferenceProfileArn',
      ])
    }
  })

  test('leaves cdk-nag nothing that is not acknowledged, and what is acknowledged is needed', () => {
    const packs = [new AwsSolutionsChecks(made.app), new ServerlessChecks(made.app)]
    expect(packs.flatMap((pack) => pack.validateScope(made.app).violations)).toEqual([])
    const bare = new Set(
      [new AwsSolutionsChecks(), new ServerlessChecks()].flatMap((pack) => {
        Object.assign(pack, { isAcknowledged: () => false })
        return pack.validateScope(made.app).violations.map(({ ruleName }) => ruleName)
      }),
    )
    const models = [SONNET, OWN].map((id) => ({ id, region: undefined }))
    const acknowledged = acknowledgementsFor(stageNames('dev'), models)
    expect(acknowledged.length).toBeLessThanOrEqual(8)
    expect([...bare].sort()).toEqual(acknowledged.flatMap(({ rules }) => rules).toSorted())
  })
})

for (const { tags, of, only } of [
  { tags: [], of: 'a few bundles', only: A_FEW },
  { tags: ['thorough'], of: 'all bundles', only: undefined },
]) {
  describe(`the client of Bedrock in ${of}`, { tags }, () => {
    const names = FUNCTIONS.map(({ name }) => name).filter((name) => only?.includes(name) ?? true)
    const holding = HOLDERS.filter((name) => names.includes(name))
    let built = ''
    let plain = ''
    beforeAll(async () => {
      const { dags } = made
      built = (await bundled({ settings: asking, dags, names: stageNames('dev') }, only)).built
      const settings = readStageSettings(ROOT, { stage: 'dev' })
      plain = (await bundled({ settings, dags, names: stageNames('dev') }, only)).built
    }, 240_000)
    const bundle = (name: string, from = built) => readFileSync(join(from, name, 'index.mjs'), 'utf8')

    test('is carried by what calls providers, and starts there', () => {
      expect(names.filter((name) => bundle(name).includes('AmazonBedrockFrontendService'))).toEqual(holding)
      expect(holding).toContain('run-block')
      for (const name of holding) expect(importBundle(built, name)).toMatchObject({ answer: 'function', stderr: '' })
    })

    test('costs their bundles at most 100 KB', () => {
      for (const name of holding) {
        const without = bundle(name, plain)
        expect(without).not.toContain('AmazonBedrockFrontendService')
        const more = bundle(name).length - without.length
        process.stdout.write(`${name}: ${Math.round(more / 1_000)} KB more with Bedrock\n`)
        expect(more).toBeLessThanOrEqual(100_000)
      }
    })
  })
}
