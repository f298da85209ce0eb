import { beforeAll, expect, test } from 'vitest'
import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import { assembled } from './assembled.ts'
import { type Assembly, ROOT } from './assembly.ts'

/** `authoring: deployed_only` is no promise of our code alone: AWS refuses it too. */
let open: Assembly
let closed: Assembly

beforeAll(async () => {
  open = await assembled()
  closed = await assembled({}, { ...readStageSettings(ROOT, { stage: 'dev' }), authoring: 'deployed_only' })
}, 240_000)

const MAKING = ['states:CreateStateMachine', 'states:UpdateStateMachine', 'states:TagResource', 'iam:PassRole']

function makersIn(stage: Assembly): readonly string[] {
  const roles = stage.all('AWS::IAM::Role')
  return roles
    .filter((role) => MAKING.some((action) => JSON.stringify(role).includes(`"${action}"`)))
    .map(({ id }) => id)
}

test('no role of a closed stage makes a machine or hands over a role; in an open one start-run alone does', () => {
  expect(makersIn(open)).toEqual([expect.stringMatching(/^startrunRole/)])
  expect(makersIn(closed)).toEqual([])
})

test('start-run finds the machines that were deployed, and is told nothing of how one is made', () => {
  const [role] = closed.all('AWS::IAM::Role').filter(({ id }) => id.startsWith('startrunRole'))
  expect(JSON.stringify(role)).toContain('states:DescribeStateMachineAlias')
  expect(JSON.stringify(role)).toContain('states:StartExecution')
  const variables = (stage: Assembly) => {
    const [made] = stage.all('AWS::Lambda::Function').filter(({ id }) => id.startsWith('startrunFunction'))
    const { Variables = {} } = (made?.Properties.Environment ?? {}) as { readonly Variables?: object }
    return Object.keys(Variables)
  }
  expect(variables(open)).toEqual(expect.arrayContaining(['MACHINE_LOG_GROUP_ARN', 'RUN_BLOCK_ARN']))
  expect(variables(closed).filter((name) => /^MACHINE_LOG|^RUN_BLOCK/.test(name))).toEqual([])
  expect(variables(closed)).toContain('STATE_MACHINE_ROLE_ARN')
})

test('clear-machines still takes away what was made while it was open', () => {
  const [role] = closed.all('AWS::IAM::Role').filter(({ id }) => id.startsWith('clearmachinesRole'))
  expect(JSON.stringify(role)).toContain('states:DeleteStateMachine')
})
