// @module-tag thorough
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import { assembled } from './assembled.ts'
import { type Assembly, ROOT, textOf } from './assembly.ts'

/** net-gate and shell-gate as deployed: what their roles may do, and who may call them. */
let plain: Assembly
let withShell: Assembly
beforeAll(async () => {
  plain = await assembled()
  withShell = await assembled(
    {},
    {
      ...readStageSettings(ROOT, { stage: 'dev' }),
      shell_gates: { allow: [['npm', 'test']] },
      reserved_concurrency: false,
    },
  )
}, 240_000)

function functionOf(made: Assembly, name: string) {
  return made
    .all('AWS::Lambda::Function')
    .find(({ Properties }) => textOf(Properties.FunctionName) === `sluice-dev-${name}`)?.Properties
}

/** Names of the inline policies of a function's role. */
function policiesOf(made: Assembly, name: string): readonly string[] {
  const role = /^<(\w+)\.Arn>$/.exec(textOf(functionOf(made, name)?.Role))?.[1]
  const { Policies } = made.all('AWS::IAM::Role').find(({ id }) => id === role)?.Properties ?? {}
  return (Policies as readonly { readonly PolicyName: string }[]).map(({ PolicyName }) => PolicyName)
}

const callersOf = (made: Assembly, name: string) =>
  made
    .all('AWS::IAM::Role')
    .filter(({ Properties }) => textOf(JSON.stringify(Properties.Policies)).includes(`:function:sluice-dev-${name}"`))
    .map(({ id }) => /^(\w+?)Role/.exec(id)?.[1])
    .sort()

describe('net-gate', () => {
  test('may write its log and its traces, and nothing else', () => {
    expect(policiesOf(plain, 'net-gate')).toEqual(['logs', 'traces'])
    expect(functionOf(plain, 'net-gate')).toMatchObject({ Timeout: 40, Environment: { Variables: { STAGE: 'dev' } } })
    expect(functionOf(plain, 'net-gate')).not.toHaveProperty('VpcConfig')
  })

  test('is called by those that judge gates, by who tells a webhook of an answer, and by nobody else', () => {
    expect(callersOf(plain, 'net-gate')).toEqual([
      'openchild',
      'openstep',
      'openwait',
      'replaywebhook',
      'requestapproval',
      'runblock',
      'sendoutbox',
      'sendwebhooks',
      'testwebhook',
    ])
  })
})

describe('shell-gate', () => {
  test('does not stand where no command is allowed, and nobody may call it', () => {
    expect(functionOf(plain, 'shell-gate')).toBeUndefined()
    expect(callersOf(plain, 'shell-gate')).toEqual([])
  })

  test('stands where one is, a few at once, with no right but to log', () => {
    expect(functionOf(withShell, 'shell-gate')).toMatchObject({
      ReservedConcurrentExecutions: 5,
      Timeout: 310,
      Environment: { Variables: { STAGE: 'dev' } },
    })
    expect(policiesOf(withShell, 'shell-gate')).toEqual(['logs', 'traces'])
    expect(callersOf(withShell, 'shell-gate')).toEqual([
      'openchild',
      'openstep',
      'openwait',
      'requestapproval',
      'runblock',
    ])
  })

  test('is the only one with reserved concurrency where the settings keep none free', () => {
    const reserved = withShell
      .all('AWS::Lambda::Function')
      .filter(({ Properties }) => Object.hasOwn(Properties, 'ReservedConcurrentExecutions'))
    expect(reserved).toHaveLength(1)
  })
})

test('loopback is refused for a stage: there the runtime of the function itself would be reached', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stage-'))
  writeFileSync(join(dir, 'sluice.yaml'), 'http_gates: { loopback: true }\n')
  expect(() => readStageSettings(dir, { stage: 'dev' })).toThrow(
    /http_gates\.loopback: loopback is for the local place/,
  )
  rmSync(dir, { recursive: true })
})

test('of a proxy a stage takes the address alone: net-gate reads no secret, and functions have no shell', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-stage-'))
  const write = (egress: string) => writeFileSync(join(dir, 'sluice.yaml'), `egress: ${egress}\n`)
  write('{ proxy: environment }')
  expect(() => readStageSettings(dir, { stage: 'dev' })).toThrow(/egress\.proxy: environment is for the local place/)
  write('{ proxy: "http://proxy.example:3128", credentials: { env: PROXY_AUTH } }')
  expect(() => readStageSettings(dir, { stage: 'dev' })).toThrow(/egress\.credentials: is for the local place/)
  write('{ proxy: "http://proxy.example:3128", hosts: ["*.example"] }')
  expect(readStageSettings(dir, { stage: 'dev' }).egress).toMatchObject({ proxy: 'http://proxy.example:3128' })
  rmSync(dir, { recursive: true })
})
