import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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
  const heard: CdkHeard = { cdk: async () => ({}) }
  const cdk = await listenToCdk(heard)
  return {
    folder,
    state,
    heard,
    /** What was asked of the account. */
    calls: account.calls,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}`,
      CDK_TEMPLATES: JSON.stringify(TEMPLATES),
      AWS_ENDPOINT_URL: account.url,
      CDK_TELLS: cdk.url,
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
      await cdk.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What happens when the CDK is called: a test says, and how the call ends. */
interface CdkHeard {
  cdk(args: readonly string[]): Promise<{ readonly code?: number; readonly says?: string }>
}

async function listenToCdk(heard: CdkHeard) {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    response.end(JSON.stringify(await heard.cdk(JSON.parse(text))))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close()
      server.closeAllConnections()
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
const at = args.indexOf('--output')
const templates = JSON.parse(process.env.CDK_TEMPLATES)
if (at > 0) for (const [name, Resources] of Object.entries(templates))
  writeFileSync(args[at + 1] + '/' + name + '.template.json', JSON.stringify({ Resources, ...JSON.parse(process.env.CDK_BESIDE ?? '{}')[name] }))
fetch(process.env.CDK_TELLS, { method: 'POST', body: JSON.stringify(args) }).then((answer) => answer.json()).then(({ code = 0, says }) => {
  if (says !== undefined) console.error(says)
  process.exitCode = process.env.CDK_FAILS === args[0] ? 7 : code
})
`
