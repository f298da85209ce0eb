import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { afterAll, expect, test } from 'vitest'
import { DagMachine } from '../../../infra/aws/dag-machine.ts'
import { readDeployedDags } from '../../../infra/aws/deployed-dags.ts'
import { stageNames } from '../../../infra/aws/names.ts'

const dir = mkdtempSync(join(tmpdir(), 'sluice-parts-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const ROLE = 'arn:aws:iam::123456789012:role/sluice-dev-machines'

/** The largest document there may be: a row of 1,000 blocks. */
const AGENT = 'agent: { provider: local, model: outline, prompt: p }'
const block = (i: number) => {
  const wire = i === 0 ? '' : `, inputs: { x: { from: block-${i - 1}.x } }`
  return `  - { id: block-${i}, outputs: { x: { type: string } }, ${AGENT}${wire} }`
}

function deployed() {
  writeFileSync(
    join(dir, 'row.yaml'),
    `name: row\nblocks:\n${Array.from({ length: 1_000 }, (_, i) => block(i)).join('\n')}\n`,
  )
  const [dag] = readDeployedDags(dir, dir)
  if (dag === undefined) throw new Error('no document')
  writeFileSync(join(dir, 'row.json'), dag.definition)
  for (const [i, { text }] of dag.parts.entries()) writeFileSync(join(dir, `row_${i + 1}.json`), text)
  const stack = new Stack(new App(), 'Machines')
  const functionArns = {
    RunBlock: 'arn:run-block',
    Settle: 'arn:settle',
    DecideCompletion: 'arn:decide-completion',
    WaitJoin: 'arn:wait-join',
  }
  const props = {
    dag,
    names: stageNames('dev'),
    definitions: dir,
    roleArn: ROLE,
    logGroupArn: 'arn:logs:*',
    functionArns,
  }
  const machine = new DagMachine(stack, props)
  return { dag, stack, machine, template: Template.fromStack(stack) }
}

test('a document of 1,000 blocks is deployed as a machine that starts one more, by version', {
  tags: ['thorough'],
}, () => {
  const { dag, template } = deployed()
  expect(dag.parts.map(({ key }) => key)).toEqual(['Part1'])
  const machines = Object.entries(template.findResources('AWS::StepFunctions::StateMachine'))
  const [part, whole] = ['sluice-dev-row_1', 'sluice-dev-row'].map((name) =>
    machines.find(([, { Properties }]) => Properties.StateMachineName === name),
  )
  const versions = Object.entries(template.findResources('AWS::StepFunctions::StateMachineVersion'))
  const versionOf = (machineId: string | undefined) =>
    versions.find(([, { Properties }]) => Properties.StateMachineArn.Ref === machineId)
  expect(whole?.[1].Properties.DefinitionSubstitutions).toEqual({
    RunBlock: 'arn:run-block',
    Settle: 'arn:settle',
    DecideCompletion: 'arn:decide-completion',
    Part1: { Ref: versionOf(part?.[0])?.[0] },
  })
  // Runs that began on a version go on starting the part's version of that time.
  expect(versions.map(([, { DeletionPolicy }]) => DeletionPolicy)).toEqual(['Retain', 'Retain'])
  const [alias, ...others] = Object.values(template.findResources('AWS::StepFunctions::StateMachineAlias'))
  expect(others).toEqual([])
  expect(alias?.Properties).toEqual({
    Name: `document-${dag.dag_hash.slice(0, 40)}`,
    RoutingConfiguration: [{ StateMachineVersionArn: { Ref: versionOf(whole?.[0])?.[0] }, Weight: 100 }],
  })
  expect(part?.[1].Properties).toMatchObject({ RoleArn: ROLE, TracingConfiguration: { Enabled: true } })
})
