// @module-tag thorough
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { acknowledgementsFor } from '../../../infra/aws/cdk-nag-acknowledgements.ts'
import { stageNames } from '../../../infra/aws/names.ts'
import { assembled } from './assembled.ts'
import { type Assembly, textOf } from './assembly.ts'
import { SLACK_SECRETS, slackSettings } from './slack-settings.ts'
import { type Synthesized, synthesize } from './synthesized.ts'

/** A stage with a workspace of Slack: what stands besides, who may reach it, and what it may. */
let made: Synthesized
let plain: Assembly
beforeAll(async () => {
  made = await synthesize({}, slackSettings(), 'placeholders')
  plain = await assembled()
}, 240_000)
afterAll(() => made.remove())

const functionsOf = ({ all }: Assembly) =>
  all('AWS::Lambda::Function').map(({ Properties }) => textOf(Properties.FunctionName))
const methodsOf = ({ all }: Assembly) => all('AWS::ApiGateway::Method').map(({ Properties }) => Properties)

test('two functions and one route more stand, and none of them without a workspace', () => {
  const more = functionsOf(made).filter((name) => !functionsOf(plain).includes(name))
  expect(more.sort()).toEqual(['sluice-dev-slack-interactions', 'sluice-dev-slack-work'])
  expect(methodsOf(made)).toHaveLength(methodsOf(plain).length + 1)
  expect(openIn(plain)).toEqual([['POST', 'NONE', 'answercallback']])
})

/** Methods that ask for no identity: how, and which function they call. */
function openIn(assembly: Assembly) {
  return methodsOf(assembly).flatMap(({ AuthorizationType, HttpMethod, Integration }) => {
    const called = /interactions|answercallback/.exec(JSON.stringify(Integration))?.[0]
    return AuthorizationType === 'AWS_IAM' ? [] : [[HttpMethod, AuthorizationType, called]]
  })
}

test('only what Slack signs and addresses of callbacks are open to everybody, and each has a throttle of its own', () => {
  expect(openIn(made).toSorted()).toEqual([
    ['POST', 'NONE', 'answercallback'],
    ['POST', 'NONE', 'interactions'],
  ])
  const [stage] = made.all('AWS::ApiGateway::Stage')
  expect(stage?.Properties.MethodSettings).toContainEqual(
    expect.objectContaining({
      HttpMethod: 'POST',
      ResourcePath: '/~1api~1slack~1interactions',
      ThrottlingBurstLimit: 20,
      ThrottlingRateLimit: 10,
    }),
  )
})

test('no secret is in an environment, and each is read by exactly who needs it', () => {
  const environments = JSON.stringify(made.all('AWS::Lambda::Function').map(({ Properties }) => Properties.Environment))
  for (const arn of [SLACK_SECRETS.token, ...SLACK_SECRETS.signing]) expect(environments).not.toContain(arn)
  const readers = (arn: string) =>
    made
      .all('AWS::IAM::Role')
      .flatMap(({ id, Properties }) =>
        JSON.stringify(Properties).includes(arn) ? [id.replace(/Role[0-9A-F]+$/, '')] : [],
      )
  expect(readers(SLACK_SECRETS.token).sort()).toEqual(['slackinteractions', 'slackwork'])
  for (const arn of SLACK_SECRETS.signing) expect(readers(arn)).toEqual(['slackinteractions'])
})

test('cdk-nag finds nothing that is not acknowledged, and still at most eight are', () => {
  const findings = [new AwsSolutionsChecks(made.app), new ServerlessChecks(made.app)].flatMap((pack) =>
    pack.validateScope(made.app).violations.map(({ ruleName }) => ruleName),
  )
  expect(findings).toEqual([])
  expect(acknowledgementsFor(stageNames('dev')).length).toBeLessThanOrEqual(8)
})

test('what nobody waits for is alarmed on, and its lost calls are kept', () => {
  expect(JSON.stringify(made.all('AWS::CloudWatch::Alarm'))).toContain('sluice-dev-slack-work')
  expect(JSON.stringify(plain.all('AWS::CloudWatch::Alarm'))).not.toContain('slack')
  const work = made
    .all('AWS::Lambda::Function')
    .find(({ Properties }) => Properties.FunctionName === 'sluice-dev-slack-work')
  expect(work?.Properties.DeadLetterConfig).toBeDefined()
})
