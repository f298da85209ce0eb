import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDeploySettings } from '../../../infra/aws/deploy-settings.ts'
import { readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import { parseSettings } from '../../../shared/settings/parse.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { assembled } from './assembled.ts'
import { type Assembly, textOf } from './assembly.ts'

/** How a stage is told of its providers, and who may read their keys. */
const SECRET = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:sluice/openai-AbCdEf'
const PARAMETER = 'arn:aws:ssm:eu-central-1:000000000000:parameter/sluice/own'
const remote = (type: string, secret: string) => ({ type, url: 'https://models.example/v1', key: { secret } })

describe('the settings of a stage', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stage-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  const write = (name: string, text: string) => writeFileSync(join(dir, name), text)

  test('are all defaults without a file, then sluice.yaml, then the stage’s own, then the one that is named', () => {
    const port = (settings?: string) => readStageSettings(dir, { stage: 'dev', settings }).port
    expect(port()).toBe(4040)
    write('sluice.yaml', 'port: 1')
    expect(port()).toBe(1)
    write('sluice.dev.yaml', 'port: 2')
    expect(port()).toBe(2)
    expect(readStageSettings(dir, { stage: 'prod' }).port).toBe(1)
    write('other.yaml', 'port: 3')
    expect(port('other.yaml')).toBe(3)
    expect(
      readDeploySettings((key) => ({ 'sluice:stage': 'dev', 'sluice:auth': 'iam', 'sluice:settings': 'x' })[key]),
    ).toMatchObject({ settings: 'x' })
  })

  test('that are named and not there, malformed, or hold a key no function could read are refused by file and place', () => {
    const words = (name: string) => {
      try {
        return String(readStageSettings(dir, { stage: 'dev', settings: name }).port)
      } catch (error) {
        return String(error)
      }
    }
    expect(words('absent.yaml')).toMatch(/Cannot read the settings "absent.yaml".*sluice:settings/)
    write('bad.yaml', 'prot: 3')
    expect(words('bad.yaml')).toMatch(/bad\.yaml:1:1: prot: .*did you mean "port"/)
    write('env.yaml', 'providers:\n  own: { type: http, url: "https://x.example", key: { env: OWN_KEY } }\n')
    expect(words('env.yaml')).toMatch(/env\.yaml: providers\.own\.key: .*add secret: ARN/)
    write('models.yaml', 'providers:\n  aws: { type: bedrock }\n  old: { type: replay, record: r.json }\n')
    expect(words('models.yaml')).toMatch(/providers\.aws\.models: is missing: .*exactly the models it lists/)
    expect(words('models.yaml')).toMatch(/providers\.old\.record: .*sluice run record/)
    write('crm.yaml', 'services:\n  crm: { url: "http://10.0.0.1", private: true, key: { env: CRM_KEY } }\n')
    expect(words('crm.yaml')).toMatch(/crm\.yaml: services\.crm\.key: .*add secret: ARN/)
    expect(words('crm.yaml')).toMatch(/services\.crm\.private: private is for the local place: .*public https URL/)
  })
})

describe('documents of a stage', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-routed-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  const deployed = (agent: string) => {
    writeFileSync(
      join(dir, 'plan.yaml'),
      `blocks:\n  - { id: a, outputs: { x: string }, agent: { prompt: p, ${agent} } }\n`,
    )
    const providers = { own: { type: 'ollama', url: 'http://models.example', models: ['m'] } }
    const agents = { ana: { role: 'worker', provider: 'own', model: 'm' } }
    return readDeployedDags(dir, dir, SettingsSchema.parse({ providers, agents })).map(({ name }) => name)
  }

  test('may name its providers and be routed to its agents', () => {
    expect(deployed('provider: own, model: m')).toEqual(['plan'])
    expect(deployed('role: worker')).toEqual(['plan'])
  })

  test.each([
    ['provider: owm, model: m', /plan\.yaml:2:\d+: .*provider "owm".*Did you mean "own"/],
    ['provider: own, model: n', /plan\.yaml:2:\d+: .*model "n"/],
    ['role: manager', /plan\.yaml:2:\d+: .*role "manager".*ana/],
  ])('that ask for %s are refused before anything is deployed', (agent, words) => {
    expect(() => deployed(agent)).toThrow(words)
  })
})

describe('keys of providers', () => {
  let made: Assembly
  beforeAll(async () => {
    const providers = {
      openai: remote('openai-compatible', SECRET),
      again: remote('openai-compatible', SECRET),
      own: remote('http', PARAMETER),
    }
    // The shipped documents are deployed with the shipped settings.
    const shipped = parseSettings(
      readFileSync(join(import.meta.dirname, '../../../sluice.yaml'), 'utf8'),
      'sluice.yaml',
    )
    made = await assembled({}, SettingsSchema.parse({ ...shipped, providers }))
  })

  test('may be read by what dispatches or judges by a model, each by its whole ARN and one action', () => {
    const readers = made.all('AWS::IAM::Role').flatMap(({ id, Properties }) => {
      const policies = (Properties.Policies ?? []) as readonly {
        readonly PolicyDocument: { readonly Statement: readonly Allowed[] }
      }[]
      const statements = policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      return statements
        .filter(({ Action }) => /secretsmanager:|ssm:/.test(String(Action)))
        .map(({ Action, Resource }) => [id.replace(/Role.*/, ''), String(Action), textOf(Resource)])
    })
    expect(readers).toEqual(
      // Pre-gates are judged before a person is asked and before a step, a wait or a child begins: llm_review stands there too.
      ['runblock', 'openstep', 'requestapproval', 'openwait', 'openchild'].flatMap((name) => [
        [name, 'secretsmanager:GetSecretValue', SECRET],
        [name, 'ssm:GetParameter', PARAMETER],
      ]),
    )
  })

  test('are nobody’s environment: functions know ARNs from their bundle', () => {
    const environments = made
      .all('AWS::Lambda::Function')
      .map(({ Properties }) => JSON.stringify(Properties.Environment))
    expect(environments.filter((text) => /secret|parameter/i.test(text))).toEqual([])
  })
})

interface Allowed {
  readonly Action: unknown
  readonly Resource: unknown
}
