import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readDeploySettings } from '../../../infra/aws/deploy-settings.ts'
import { readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { entrySource } from '../../../infra/aws/entry-source.ts'
import { functionRights } from '../../../infra/aws/grants.ts'
import { machineSlug } from '../../../infra/aws/names.ts'
import { ROOT } from './assembly.ts'
import { cdkContext } from './synthesized.ts'

/** What stops a synthesis, and the words it stops with: file, place, fix. */
const folders: string[] = []
afterAll(() => {
  for (const dir of folders) rmSync(dir, { recursive: true, force: true })
})

function folder(files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-bad-'))
  folders.push(dir)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
  return dir
}

function refusal(files: Readonly<Record<string, string>>): string {
  const dir = folder(files)
  try {
    readDeployedDags(dir, dir)
    return ''
  } catch (error) {
    return String(error instanceof Error ? error.message : error)
  }
}

const AGENT = 'agent: { provider: local, model: outline, prompt: p }'
const GOOD = `blocks:\n  - { id: a, outputs: { x: { type: string } }, ${AGENT} }\n`

describe('documents', () => {
  test('every error of a malformed one is told with file, line and column', () => {
    const said = refusal({ 'plan.yaml': 'blocks:\n  - id: a\n    outputs: { x: { type: sting } }\n    agnt: {}\n' })
    expect(said).toContain('Cannot deploy DAG "plan".\n')
    expect(said).toMatch(/plan\.yaml:3:\d+: .*sting.*Did you mean "string"/)
    expect(said).toMatch(/plan\.yaml:4:5: .*agnt/)
  })

  test('one that is no YAML is told so, with its place', () => {
    expect(refusal({ 'plan.yaml': 'blocks: [\n' })).toMatch(/^Cannot deploy DAG "plan"\.\nplan\.yaml:\d+:\d+: /)
  })

  test('two that would be one machine are both named', () => {
    const said = refusal({ 'a.yaml': `name: My plan\n${GOOD}`, 'b.yaml': `name: my-plan\n${GOOD}` })
    expect(said).toContain('a.yaml and b.yaml')
    expect(said).toContain('machine "my-plan"')
    expect(said).toContain('another "name:"')
  })

  test.each(['計画', 'x-ray', '!!!', 'Research'])('the name %s makes no machine', (name) => {
    expect(refusal({ 'plan.yaml': `name: "${name}"\n${GOOD}` })).toMatch(
      /^Cannot deploy plan\.yaml: name ".*Set another "name:"/,
    )
  })

  test('a provider the deployment has not is refused', () => {
    const agent = 'agent: { provider: acme, model: m, prompt: p }'
    expect(refusal({ 'p.yaml': `blocks:\n  - { id: a, outputs: { x: { type: string } }, ${agent} }\n` })).toMatch(
      /p\.yaml:2:\d+: .*acme/,
    )
  })

  test('a folder without documents deploys none', () => {
    expect(readDeployedDags(folder({ 'notes.txt': 'hello' }), '/')).toEqual([])
  })
})

describe('settings', () => {
  const read = (given: Readonly<Record<string, unknown>>) => () =>
    readDeploySettings((key) => (({ ...cdkContext(), ...given }) as Record<string, unknown>)[key])

  test('those of cdk.json are good', () => {
    expect(read({})()).toEqual({
      stage: 'dev',
      auth: { mode: 'iam', people: ['AWSReservedSSO_*'] },
      key: 'aws',
      tags: {},
      log_retention_days: 30,
      document_stacks: 0,
      release: 'at_once',
      retention_days: 365,
      default_endpoint: 'on',
      throttle: { rate: 50, burst: 100 },
      waf: 'none',
    })
  })

  test('of who calls are a word, or an object as text or as it is', () => {
    const jwt = { issuer: 'https://id.example.com/', audience: 'sluice' }
    expect(read({ 'sluice:auth': 'token' })()).toMatchObject({ auth: { mode: 'token' } })
    for (const given of [{ mode: 'jwt', jwt }, JSON.stringify({ mode: 'jwt', jwt })]) {
      expect(read({ 'sluice:auth': given })()).toMatchObject({ auth: { mode: 'jwt', jwt } })
    }
  })

  test.each([
    [
      { 'sluice:stage': undefined },
      /cdk\.json: context "sluice:stage" is missing; allowed: a letter, .*-c sluice:KEY=VALUE/,
    ],
    [{ 'sluice:stage': 'My Stage' }, /"sluice:stage" is "My Stage"; allowed: a letter/],
    [{ 'sluice:auth': 'none' }, /"sluice:auth" is "none"; allowed: iam, token, or/],
    [{ 'sluice:auth': 'jwt' }, /"sluice:auth" is "jwt"; allowed: iam, token, or \{"mode": "jwt"/],
    [{ 'sluice:auth': '{"mode":"token","jwt":{}}' }, /"sluice:auth" is .*; allowed: Unrecognized key: "jwt"/],
    [{ 'sluice:auth': { mode: 'jwt', jwt: { issuer: 'http://a.b', audience: 'a' } } }, /"sluice:auth" is/],
    [{ 'sluice:alarm_email': 'nobody' }, /"sluice:alarm_email" is "nobody"; allowed: an e-mail address/],
    [{ 'sluice:retention_days': '30' }, /"sluice:retention_days" is "30"; allowed: 91 to 3650/],
  ])('%j is refused by name', (given, words) => {
    expect(read(given)).toThrow(words)
  })

  test('text from the command line is a number where one is meant', () => {
    expect(read({ 'sluice:retention_days': '120' })()).toMatchObject({ retention_days: 120 })
  })
})

describe('the catalog', () => {
  test('a port that no adapter opens is refused', () => {
    expect(() => entrySource({ name: 'f', file: 'api/f.ts', ports: ['moon'] }, [])).toThrow(
      /"f".*"moon".*entry-source\.ts/,
    )
  })

  test('a function that needs rights and has none is refused', () => {
    expect(() => functionRights({ name: 'f', ports: ['runs'] })).toThrow(/"f".*runs.*grants\.ts/)
    expect(functionRights({ name: 'f', ports: ['waker'] })).toEqual([])
  })
})

test('slugs are what a machine name takes', () => {
  expect(['Café au lait', 'A  b__c', 'x'.repeat(60), `${'y'.repeat(39)}-z`].map(machineSlug)).toEqual([
    'cafe-au-lait',
    'a-b-c',
    'x'.repeat(40),
    'y'.repeat(39),
  ])
})

test('the program says it in one line and fails', () => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ['infra/aws/main.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, CDK_CONTEXT_JSON: JSON.stringify({ ...cdkContext(), 'sluice:stage': '' }) },
  })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^cdk\.json: context "sluice:stage" is ""; allowed: [^\n]+\n$/)
})
