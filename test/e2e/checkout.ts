import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AccountState, awsAccount } from '../emulators/aws-account.ts'

/** A checkout with a `cdk` that writes down how it was called, and an account that answers in AWS's own protocols. */
export type Checkout = Awaited<ReturnType<typeof openCheckout>>

export async function openCheckout() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-checkout-'))
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'dags'))
  writeFileSync(join(folder, 'bin/cdk'), CDK)
  chmodSync(join(folder, 'bin/cdk'), 0o755)
  writeFileSync(join(folder, 'cdk.json'), JSON.stringify({ app: 'x', context: { 'sluice:stage': 'dev' } }))
  writeFileSync(
    join(folder, 'dags/brief.yaml'),
    'blocks:\n  - { id: a, outputs: { x: { type: string } }, agent: { provider: local, model: outline, prompt: p } }\n',
  )
  const state: AccountState = { bootstrapped: true, executions: 1_000, logs: {}, versions: [] }
  const account = await awsAccount(state)
  return {
    folder,
    state,
    /** What was asked of the account. */
    calls: account.calls,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}`,
      CDK_TEMPLATES: JSON.stringify(TEMPLATES),
      AWS_ENDPOINT_URL: account.url,
      AWS_REGION: 'eu-central-1',
      AWS_CONFIG_FILE: '/nowhere',
      AWS_SHARED_CREDENTIALS_FILE: '/nowhere',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_ACCESS_KEY_ID: 'AKIAGOOD',
      AWS_SECRET_ACCESS_KEY: 'secret',
    },
    /** How the CDK was called, temporary folders taken out. */
    cdkCalls(): readonly string[] {
      try {
        const text = readFileSync(join(folder, 'cdk.log'), 'utf8')
        return text
          .trimEnd()
          .replaceAll(/\S*sluice-deploy-\w+/g, 'OUT')
          .split('\n')
      } catch {
        return []
      }
    },
    async close() {
      await account.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const ROLE = (statements: readonly object[]) => ({
  Type: 'AWS::IAM::Role',
  Properties: { Policies: [{ PolicyName: 'p', PolicyDocument: { Statement: statements } }] },
})
export const TEMPLATES = {
  SluiceData: { Runs: { Type: 'AWS::DynamoDB::Table', Properties: {} } },
  SluiceMachines: {
    SweepRole: ROLE([
      { Action: ['dynamodb:Query', 'dynamodb:GetItem'], Resource: 'arn:table' },
      { Action: 'xray:PutTraceSegments', Resource: '*' },
    ]),
    OtherRole: ROLE([{ Action: 'dynamodb:GetItem', Resource: 'arn:table' }]),
    Sweep: { Type: 'AWS::Lambda::Function', Properties: { MemorySize: 256 } },
    Minute: {
      Type: 'AWS::Events::Rule',
      Properties: { ScheduleExpression: 'rate(1 minute)', Targets: [{ Arn: { 'Fn::GetAtt': ['Sweep', 'Arn'] } }] },
    },
  },
  SluiceApi: { Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'Errors' } } },
}

/** Answers as the CDK's CLI does where it is asked: `synth` fills its --output; $CDK_FAILS names what fails. */
const CDK = `#!${process.execPath}
const { appendFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
appendFileSync('cdk.log', args.join(' ') + ' @' + process.env.AWS_REGION + '\\n')
console.log('cdk says ' + args[0])
if (process.env.CDK_FAILS === args[0]) process.exit(7)
const at = args.indexOf('--output')
const templates = JSON.parse(process.env.CDK_TEMPLATES)
if (at > 0) for (const [name, Resources] of Object.entries(templates))
  writeFileSync(args[at + 1] + '/' + name + '.template.json', JSON.stringify({ Resources, ...JSON.parse(process.env.CDK_BESIDE ?? '{}')[name] }))
`
