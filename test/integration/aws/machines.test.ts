import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import type { Machine } from '../../../shared/compile/asl.ts'
import { bindPlaceholders } from '../../../shared/compile/bind-placeholders.ts'
import { compileDag } from '../../../shared/compile/compile-dag.ts'
import { researchMachine } from '../../../shared/compile/research-machine.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { firstDaily } from '../../how-much.ts'
import { aslErrors } from '../../machines/asl-validator.ts'
import { assembled } from './assembled.ts'
import { type Assembly, ROOT, textOf } from './assembly.ts'

let made: Assembly

beforeAll(async () => {
  made = await assembled()
}, 240_000)

interface MachineProperties {
  readonly StateMachineName: string
  readonly DefinitionS3Location: { readonly Key: unknown }
  readonly DefinitionSubstitutions: Readonly<Record<string, unknown>>
  readonly LoggingConfiguration: unknown
  readonly TracingConfiguration: unknown
  readonly RoleArn: unknown
}

const machines = () =>
  made.all('AWS::StepFunctions::StateMachine').map(({ id, Properties }) => {
    // The shape CloudFormation documents for this type.
    const properties = Properties as unknown as MachineProperties
    const file = join(made.out, `asset.${textOf(properties.DefinitionS3Location.Key)}`)
    return { id, ...properties, text: readFileSync(file, 'utf8') }
  })

/** What CloudFormation does with DefinitionSubstitutions. */
function substituted(text: string, values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values).reduce((left, [name, value]) => left.split(`\${${name}}`).join(textOf(value)), text)
}

const DAGS = readdirSync(join(ROOT, 'dags')).map((file) => file.replace('.yaml', ''))

test('each document of dags/ has its machine, and the research chain', () => {
  const names = [...DAGS, 'research'].map((name) => `sluice-dev-${name}`)
  expect(machines().map(({ StateMachineName }) => StateMachineName)).toEqual(names)
})

/** open-child is told the machines' versions, so it is made after them: they know it by its name. */
function calledArn(name: string): string {
  if (name !== 'open-child') return textOf({ 'Fn::GetAtt': [logicalId(name), 'Arn'] })
  return `arn:<Partition>:lambda:<Region>:<AccountId>:function:sluice-dev-${name}`
}

test.each(DAGS)('the deployed machine of %s is byte for byte what compileDag wrote', (name) => {
  const parsed = parseDag(readFileSync(join(ROOT, 'dags', `${name}.yaml`), 'utf8'), { name })
  if (!parsed.ok) throw new Error('a shipped DAG does not parse')
  const { text } = compileDag(parsed.dag)
  const found = machines().find(({ StateMachineName }) => StateMachineName === `sluice-dev-${name}`)
  expect(found?.text).toBe(text)
  const arns = Object.fromEntries(
    FUNCTIONS.flatMap(({ name: called, placeholder }) =>
      placeholder === undefined ? [] : [[placeholder, calledArn(called)]],
    ),
  )
  const deployed = substituted(found?.text ?? '', found?.DefinitionSubstitutions ?? {})
  expect(deployed).toBe(bindPlaceholders(text, arns))
  // Biome forbids the look of a placeholder in a plain text.
  expect(deployed).not.toContain(['$', '{'].join(''))
})

test('the deployed machine of the research chain is byte for byte what researchMachine wrote, and all of it is bound', () => {
  const found = machines().find(({ StateMachineName }) => StateMachineName === 'sluice-dev-research')
  expect(found?.text).toBe(researchMachine().text)
  const deployed = substituted(found?.text ?? '', found?.DefinitionSubstitutions ?? {})
  expect(deployed).not.toContain(['$', '{'].join(''))
})

for (const { tags, rows } of firstDaily(3, [
  'research',
  'coding',
  'basic',
  ...DAGS.filter((name) => name !== 'coding' && name !== 'basic'),
])) {
  test.each(rows)('the deployed machine of %s is valid ASL', { tags }, (name) => {
    const found = machines().find(({ StateMachineName }) => StateMachineName === `sluice-dev-${name}`)
    const definition: Machine = JSON.parse(substituted(found?.text ?? '', found?.DefinitionSubstitutions ?? {}))
    expect(aslErrors(definition)).toBe('')
  })
}

test('each logs ALL without data, is traced, has a version, and an alias named after its document', () => {
  for (const machine of machines()) {
    expect(machine.LoggingConfiguration).toMatchObject({ Level: 'ALL', IncludeExecutionData: false })
    expect(machine.TracingConfiguration).toEqual({ Enabled: true })
    const versions = made.all('AWS::StepFunctions::StateMachineVersion')
    const version = versions.find(({ Properties }) => textOf(Properties.StateMachineArn) === `<${machine.id}>`)
    expect(version).toMatchObject({ DeletionPolicy: 'Retain' })
    const aliases = made
      .all('AWS::StepFunctions::StateMachineAlias')
      .filter(({ Properties }) => JSON.stringify(Properties).includes(`"${version?.id}"`))
    expect(aliases.map(({ Properties }) => Properties.Name)).toEqual([expect.stringMatching(/^document-[0-9a-f]{40}$/)])
  }
})

test('start-run, start-research, retry-run, run-bulk, which retries, and open-child may read the versions, and no other function', () => {
  const readers = made
    .all('AWS::IAM::Policy')
    .concat(made.all('AWS::IAM::Role'))
    .filter(({ Properties }) => JSON.stringify(Properties).includes('states:DescribeStateMachineAlias'))
  expect(readers.map(({ id }) => id.replace(/Role.*|Function.*/, '')).sort()).toEqual([
    ...['openchild', 'retryrun', 'runbulk', 'startresearch', 'startrun'],
  ])
})

describe('what a user wrote', () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-canary-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  test('is in no machine: only block ids are', () => {
    const canary = (n: number) => `canary${n}x7`
    writeFileSync(join(dir, 'plan.yaml'), document(canary))
    const [dag] = readDeployedDags(dir, dir)
    expect(dag?.document.match(/canary\d+x7/g)).toHaveLength(14)
    expect(dag?.definition).not.toContain('canary')
    expect(dag?.definition).toContain('"draft"')
  })
})

function document(canary: (n: number) => string): string {
  return `
name: plan ${canary(1)}
metadata: { about: ${canary(2)} }
inputs:
  ${canary(3)}: { type: string, description: "${canary(4)}" }
blocks:
  - id: draft
    name: ${canary(5)}
    inputs:
      goal: { type: string, default: "${canary(6)}" }
    outputs:
      ${canary(7)}: { type: string }
    agent: { provider: local, model: ${canary(8)}, prompt: "${canary(9)} {{inputs.goal}}" }
    post_gates:
      - { name: ${canary(10)}, check: { type: contains, port: ${canary(7)}, values: ["${canary(11)}"] } }
    approval: { required: true, prompt: "${canary(12)}", approvers: ["user:${canary(13)}"] }
`
}

function logicalId(name: string): string {
  const found = made
    .all('AWS::Lambda::Function')
    .find(({ Properties }) => Properties.FunctionName === `sluice-dev-${name}`)
  return found?.id ?? ''
}
