import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCalls } from '../../../functions/aws/native-calls.ts'
import { openObjects } from '../../../functions/aws/objects.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { ContainersSettingsSchema } from '../../../shared/steps/native-settings.ts'
import type { Json } from '../../../shared/text/json.ts'
import { type Policies, readPolicies } from '../../aws/iam-policy.ts'
import { type DeployedTemplates, readTemplates } from '../../aws/template.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'
import { type S3Emulator, startS3 } from '../../emulators/s3.ts'
import { assembled } from './assembled.ts'
import { stacksIn } from './assembly.ts'
import { awsSettings } from './aws-settings.ts'
import { slackSettings } from './slack-settings.ts'

/** What the tasks of containers may reach: the folders of their own tenant and container, by the roles of the templates. */
const BUCKET = `sluice-dev-${ACCOUNT}-${REGION}`
const env = { ...awsSettings({ BUCKET }), STAGE: 'dev' }
const aws = { cluster: `arn:aws:ecs:${REGION}:${ACCOUNT}:cluster/main`, subnets: ['subnet-0123456789abcdef0'] }
const indexing = (name: string) =>
  `name: ${name}\nblocks: [{ id: a, mode: deterministic, deterministic: { handler: container, config: { container: ${name} } } }]\n`

let s3: S3Emulator
let policies: Policies
let templates: DeployedTemplates
let settings: Settings
beforeAll(async () => {
  const { slack: _, ...rest } = slackSettings()
  const containers = ContainersSettingsSchema.parse({
    indexer: { image: 'acme/indexer:1', aws },
    'indexer-2': { image: 'acme/indexer:2', aws },
  })
  settings = { ...rest, tenants: ['main', 'acme'], containers }
  const files = { 'dags/indexer.yaml': indexing('indexer'), 'dags/indexer-2.yaml': indexing('indexer-2') }
  const { out } = await assembled({ 'sluice:tenants': 'main,acme' }, settings, files)
  templates = readTemplates(out, stacksIn(out))
  policies = readPolicies(templates)
  s3 = await startS3(BUCKET)
}, 240_000)
afterAll(() => s3?.close())

interface Task {
  readonly role: string
  readonly folder: string
  readonly ports: string
}

/** What the machine is given for one attempt: the role of its task, its folder of the bucket, and the files in it. */
async function begun(tenant: string, name: string, holder: string, inputs: Readonly<Record<string, Json>> = {}) {
  const calls = openCalls({ env, settings }, s3.config)
  const task = { tenant, name, holder, command_args: [], key: 'run_1/0/0/1/0', work: { inputs } }
  const given = (await calls.task(task)) as unknown as {
    readonly Overrides: {
      readonly TaskRoleArn: string
      readonly ContainerOverrides: readonly { readonly Environment: readonly { Name: string; Value: string }[] }[]
    }
  }
  const [fetch] = given.Overrides.ContainerOverrides
  const value = (named: string) => fetch?.Environment.find(({ Name }) => Name === named)?.Value ?? ''
  const made: Task = {
    role: given.Overrides.TaskRoleArn,
    folder: value('SLUICE_FOLDER'),
    ports: value('SLUICE_FILES'),
  }
  return made
}

const may = ({ role }: Task, action: string, key: string) =>
  policies.grants(role, { action: `s3:${action}`, resource: `arn:aws:s3:::${BUCKET}/${key}` }).length > 0

describe('the role of a container', () => {
  test('reads and writes the folder of its attempt', async () => {
    const own = await begun('acme', 'indexer', 'boot/aaaaaaaaaaaa')
    expect([
      may(own, 'GetObject', `${own.folder}/input.json`),
      may(own, 'PutObject', `${own.folder}/output.json`),
    ]).toEqual([true, true])
  })

  test.each([
    ['the same container of another tenant', 'main', 'indexer'],
    ['another container of the same tenant', 'acme', 'indexer-2'],
  ])('cannot read or write what %s works with', async (_, tenant, name) => {
    const own = await begun('acme', 'indexer', 'boot/aaaaaaaaaaaa')
    const other = await begun(tenant, name, 'boot/bbbbbbbbbbbb')
    expect(other.role).not.toBe(own.role)
    const keys = [`${other.folder}/input.json`, `${other.folder}/files/text`, `${other.folder}/output.json`]
    for (const key of keys) {
      expect([may(own, 'GetObject', key), may(own, 'PutObject', key)], key).toEqual([false, false])
      expect(may(other, 'GetObject', key), key).toBe(true)
    }
  })

  test('cannot list, and finds no attempt by its run: a folder is named by who claimed it', async () => {
    const [own, next] = [await begun('main', 'indexer', 'boot/aaaa'), await begun('main', 'indexer', 'boot/bbbb')]
    const list = { action: 's3:ListBucket', resource: `arn:aws:s3:::${BUCKET}` }
    expect(policies.grants(own.role, list)).toEqual([])
    expect(own.folder).toMatch(/^main\/containers\/indexer\/[0-9a-f]{64}$/)
    expect(next.folder).not.toBe(own.folder)
  })

  test('reaches no object of a run, and nothing else of the stage', () => {
    const roles = templates
      .all('AWS::IAM::Role')
      .map(({ properties }) => String(properties.RoleName))
      .filter((name) => name.startsWith('sluice-dev-task-'))
    expect(roles).toHaveLength(4)
    for (const role of roles) {
      const granted = policies.all.filter(({ who }) => who === role).map(({ statement }) => statement)
      expect(granted.map(({ Action }) => Action)).toEqual([['s3:GetObject', 's3:PutObject']])
    }
  })
})

test('a definition names no role, and the role of the machines may hand over those of its tenants and no other', async () => {
  for (const { properties } of templates.all('AWS::ECS::TaskDefinition')) {
    expect(properties).not.toHaveProperty('TaskRoleArn')
  }
  const [machine] = templates.all('AWS::StepFunctions::StateMachine')
  const pass = (resource: string) =>
    policies.grants(String(machine?.properties.RoleArn), {
      action: 'iam:PassRole',
      resource,
      passedTo: 'ecs-tasks.amazonaws.com',
    }).length > 0
  const { role } = await begun('acme', 'indexer', 'boot/aaaa')
  expect([pass(role), pass(role.replace('-task-', '-task-0'))]).toEqual([true, false])
})

test('its files are told by the names of their ports, since nothing is listed', async () => {
  const { ref } = await openObjects({ env }, s3.config).put('acme', Buffer.from('body'))
  const { ports, folder } = await begun('acme', 'indexer', 'boot/cccc', { text: ref, list: ref, plain: 'x' })
  expect(ports).toBe('text list')
  const client = new S3Client(s3.config)
  const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key: `${folder}/files/list` }))
  expect(await Body?.transformToString()).toBe('body')
  client.destroy()
})
