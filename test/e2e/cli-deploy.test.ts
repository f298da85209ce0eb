import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Checkout, openCheckout, TEMPLATES } from './checkout.ts'
import { type Done, sluice } from './run-cli.ts'

let checkout: Checkout

beforeEach(async () => {
  checkout = await openCheckout()
})
afterEach(() => checkout.close())

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Done> {
  return sluice(args, { cwd: checkout.folder, env: { ...checkout.env, ...env } })
}

const SYNTH = 'synth --quiet --output OUT --context sluice:stage=dev @eu-central-1'

describe('sluice deploy', () => {
  test('shows stacks, permissions, idle cost and cost a run, then deploys just what it showed', async () => {
    const { code, out, err } = await run(['deploy', '--yes'])
    expect([code, err]).toEqual([0, 'cdk says synth\ncdk says deploy\n'])
    const order = [
      'Stage dev in account 111122223333, eu-central-1 (CDK bootstrap 21)',
      'SluiceData        1 resource\n',
      'SluiceMachines    4 resources',
      'Permissions: 2 roles',
      'dynamodb          2 roles: GetItem, Query',
      'on every resource, since AWS knows no smaller one: xray:PutTraceSegments',
      'Idle: $',
      '1 metrics of alarms',
      '43,200 requests of scheduled functions',
      '1,000 runs',
      'brief',
      'Egress: any public host, since the settings have no http_gates.hosts',
      'Deployed. `sluice run list --stack dev` asks it.',
    ]
    const places = order.map((words) => out.indexOf(words))
    expect(places.map((at, i) => [order[i], at >= 0])).toEqual(order.map((words) => [words, true]))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(checkout.cdkCalls()).toEqual([SYNTH, 'deploy --all --require-approval never --app OUT @eu-central-1'])
  })

  test('another stage and a region reach the CDK', async () => {
    const { code } = await run(['deploy', '--yes', '--stage', 'prod', '--region', 'us-east-1'])
    expect(code).toBe(0)
    expect(checkout.cdkCalls()[0]).toBe('synth --quiet --output OUT --context sluice:stage=prod @us-east-1')
  })

  test('deploys nothing where nobody can be asked', async () => {
    const { code, err } = await run(['deploy'])
    expect(code).toBe(1)
    expect(err).toMatch(/Nobody can be asked here.*--yes.*\[not_confirmed\]/s)
    expect(checkout.cdkCalls()).toEqual([SYNTH])
  })

  test('without credentials, without bootstrap, outside a project: said before anything runs', async () => {
    const none = await run(['deploy', '--yes'], { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' })
    checkout.state.bootstrapped = false
    const bare = await run(['deploy', '--yes'])
    rmSync(join(checkout.folder, 'cdk.json'))
    const elsewhere = await run(['deploy', '--yes'])
    const badStage = await run(['deploy', '--stage', 'Not-one'])
    expect(none.err).toMatch(/--profile or AWS_PROFILE.*\[no_aws_credentials\]/s)
    expect(bare.err).toMatch(/npx cdk bootstrap.*\[not_bootstrapped\]/s)
    expect(elsewhere.err).toMatch(/No project stands in this folder.*sluice init.*\[no_project\]/s)
    expect([none, bare, elsewhere, badStage].map(({ code }) => code)).toEqual([1, 1, 1, 1])
    expect(checkout.cdkCalls()).toEqual([])
  })

  test('a CDK that fails, or is not there, is told with what to do', async () => {
    const synth = await run(['deploy', '--yes'], { CDK_FAILS: 'synth' })
    const deploy = await run(['deploy', '--yes'], { CDK_FAILS: 'deploy' })
    const absent = await run(['deploy', '--yes'], { PATH: '/nowhere' })
    expect(synth.err).toMatch(/`cdk synth` ended with exit code 7.*\[cdk_failed\]/s)
    expect(deploy.err).toMatch(/`cdk deploy` ended with exit code 7.*\[cdk_failed\]/s)
    expect(absent.err).toMatch(/Cannot start the CDK.*npm install --save-dev aws-cdk .*npm ci.*\[no_cdk\]/s)
    expect([synth, deploy, absent].map(({ code }) => code)).toEqual([1, 1, 1])
    expect(deploy.out).not.toContain('Deployed.')
  })

  test('reserved executions: those of the account are looked at before', { tags: ['thorough'] }, async () => {
    const ShellGate = { Type: 'AWS::Lambda::Function', Properties: { ReservedConcurrentExecutions: 5 } }
    const CDK_TEMPLATES = JSON.stringify({ ...TEMPLATES, SluiceGates: { ShellGate } })
    checkout.state.executions = 10
    const few = await run(['deploy', '--yes'], { CDK_TEMPLATES })
    checkout.state.executions = 1_000
    const many = await run(['deploy', '--yes'], { CDK_TEMPLATES })
    expect(few.err).toMatch(
      /Cannot reserve 5 .*10 are unreserved.*Ask for 105 or more.*reserved_concurrency: false.*\[too_few_executions\]/s,
    )
    expect(many.out).toContain('reserve 5 concurrent executions; the account has 1000, 1000 unreserved')
    expect([few.code, many.code]).toEqual([1, 0])
    expect(checkout.cdkCalls().filter((line) => line.startsWith('deploy'))).toHaveLength(1)
  })
})

describe('sluice deploy on a stage that is there', () => {
  const reserving = (reserved: Readonly<Record<string, number>>) =>
    JSON.stringify({
      ...TEMPLATES,
      SluiceGates: Object.fromEntries(
        Object.entries(reserved).map(([FunctionName, ReservedConcurrentExecutions], i) => [
          `F${i}`,
          { Type: 'AWS::Lambda::Function', Properties: { FunctionName, ReservedConcurrentExecutions } },
        ]),
      ),
    })

  test('what its own functions reserve already is not asked for again: 124 executions are enough for 24', {
    tags: ['thorough'],
  }, async () => {
    const own = { 'sluice-dev-sweep': 2, 'sluice-dev-stop-all': 2, 'sluice-dev-stop-run': 10, 'sluice-dev-decide': 10 }
    const CDK_TEMPLATES = reserving(own)
    checkout.state.executions = 124
    const first = await run(['deploy', '--yes'], { CDK_TEMPLATES })
    checkout.state.reserved = own
    const again = await run(['deploy', '--yes'], { CDK_TEMPLATES })
    expect([first.err, again.err]).toEqual(['cdk says synth\ncdk says deploy\n', 'cdk says synth\ncdk says deploy\n'])
    expect([first.code, again.code]).toEqual([0, 0])
    expect(again.out).toContain(
      'Functions reserve 24 concurrent executions, 24 of them already; the account has 124, 100 unreserved.',
    )
  })

  test('only what comes on top has to be free, and what another stage reserves is no help', async () => {
    checkout.state.executions = 124
    checkout.state.reserved = { 'sluice-dev-sweep': 2, 'sluice-prod-sweep': 22 }
    const CDK_TEMPLATES = reserving({ 'sluice-dev-sweep': 2, 'sluice-dev-stop-run': 10 })
    const { code, err } = await run(['deploy', '--yes'], { CDK_TEMPLATES })
    expect(code).toBe(1)
    expect(err).toMatch(/Cannot reserve 10 .*100 are unreserved.*Ask for 134 or more.*\[too_few_executions\]/s)
  })

  test('another number of stacks of documents than it was deployed with is refused before anything is asked', {
    tags: ['thorough'],
  }, async () => {
    const beside = (stacks: number) =>
      JSON.stringify({
        SluiceMachines: { Parameters: { DocumentStacks: { Type: 'String', Default: String(stacks) } } },
      })
    checkout.state.stacks = { 'sluice-dev-machines': { DocumentStacks: '2' } }
    const same = await run(['deploy', '--yes'], { CDK_BESIDE: beside(2) })
    const other = await run(['deploy', '--yes'], { CDK_BESIDE: beside(3) })
    // Deployed before there was such a number: its machines are with the functions.
    checkout.state.stacks = { 'sluice-dev-machines': {} }
    const older = await run(['deploy', '--yes'], { CDK_BESIDE: beside(3) })
    const none = await run(['deploy', '--yes'], { CDK_BESIDE: beside(0) })
    expect([same.code, other.code, older.code, none.code]).toEqual([0, 1, 1, 0])
    expect(other.err).toMatch(/stage dev was deployed with sluice:document_stacks 2.*3.*\[document_stacks_changed\]/s)
    expect(older.err).toMatch(/sluice:document_stacks 0.*\[document_stacks_changed\]/s)
    expect(checkout.cdkCalls().filter((line) => line.startsWith('deploy'))).toHaveLength(2)
  })
})

describe('sluice doctor about a deployment', () => {
  test.each([
    [10, 'warning', /has 10 concurrent executions of Lambda, 10 unreserved; .*`sluice deploy` needs 124/],
    [200, 'warning', /has 200 .*each block that works and each open stream takes one/],
    [1_000, 'ok', /has 1000 concurrent executions of Lambda, 1000 unreserved$/],
  ])('names the quota of concurrent executions: of %i', async (executions, state, says) => {
    checkout.state.executions = executions
    const { out } = await run(['doctor', '--json', '--url', 'http://127.0.0.1:9', '--region', 'eu-central-1'])
    const { checks } = JSON.parse(out) as { checks: readonly { name: string; state: string; says: string }[] }
    const found = checks.find(({ name }) => name === 'executions')
    expect([found?.state, says.test(found?.says ?? '')]).toEqual([state, true])
  })

  test('says nothing of it where the command is about no deployment', async () => {
    const { out } = await run(['doctor', '--json'], { SLUICE_URL: 'http://127.0.0.1:9' })
    expect(out).not.toContain('"executions"')
  })
})

describe('sluice destroy', () => {
  test('takes down every stack of documents, before what their machines call', { tags: ['thorough'] }, async () => {
    const more = { SluiceDocuments1: { M: { Type: 'X' } }, SluiceDocuments2: { M: { Type: 'X' } }, SluiceAnchors: {} }
    const { code, out } = await run(['destroy', '--confirm', 'dev'], {
      CDK_TEMPLATES: JSON.stringify({ ...TEMPLATES, ...more }),
    })
    expect(code).toBe(0)
    expect(out).toContain('The anchors stay, with their stack SluiceAnchors')
    expect(checkout.cdkCalls().at(-1)).toBe(
      'destroy SluiceApi SluiceOperations SluiceDocuments1 SluiceDocuments2 SluiceMachines --force --app OUT @eu-central-1',
    )
  })

  test('takes down API and machines, and leaves the data', async () => {
    const { code, out } = await run(['destroy', '--confirm', 'dev'])
    expect(code).toBe(0)
    expect(out).toMatch(/the table and the bucket stay\..*Stage dev is down\./s)
    expect(checkout.cdkCalls()).toEqual([
      SYNTH,
      'destroy SluiceApi SluiceOperations SluiceMachines --force --app OUT @eu-central-1',
    ])
    expect(checkout.calls).toEqual(['DescribeStacks CDKToolkit'])
  })

  test('does nothing until the name of the stage was given', async () => {
    const silent = await run(['destroy', '--with-data'])
    const wrong = await run(['destroy', '--with-data', '--confirm', 'prod'])
    expect(silent.err).toMatch(/Nothing was destroyed: Nobody can be asked.*\[not_confirmed\]/s)
    expect(wrong.err).toMatch(/"prod" is not "dev".*\[not_confirmed\]/s)
    expect([silent.code, wrong.code, checkout.cdkCalls()]).toEqual([1, 1, []])
  })

  test('data that a restore made is not deleted with the stage', async () => {
    const CDK_TEMPLATES = JSON.stringify({ ...TEMPLATES, SluiceData: { AccessLogs: { Type: 'AWS::S3::Bucket' } } })
    const { code, err } = await run(['destroy', '--with-data', '--confirm', 'dev'], { CDK_TEMPLATES })
    expect([code, checkout.cdkCalls()]).toEqual([1, [SYNTH]])
    expect(err).toMatch(/Nothing was destroyed: .*sluice:restore_from.*\[data_is_restored\]/s)
  })

  test('--with-data takes protections off, then stacks, table and every version in the bucket', async () => {
    checkout.state.versions = ['a', 'b', 'c']
    const { code, out, err } = await run(['destroy', '--with-data', '--confirm', 'dev'])
    expect([code, err]).toEqual([0, 'cdk says synth\ncdk says destroy\ncdk says destroy\n'])
    expect(out).toContain('Deleted the table sluice-dev and 3 versions of objects.')
    expect(checkout.cdkCalls().slice(1)).toEqual([
      'destroy SluiceApi SluiceOperations SluiceMachines --force --app OUT @eu-central-1',
      'destroy SluiceData --force --app OUT @eu-central-1',
    ])
    const bucket = 'sluice-dev-111122223333-eu-central-1'
    expect(checkout.calls).toEqual([
      'DescribeStacks CDKToolkit',
      'UpdateTerminationProtection sluice-dev-data',
      'UpdateTable sluice-dev protection false',
      'DeleteTable sluice-dev',
      `ListObjectVersions ${bucket}`,
      'DeleteObjects 2',
      `ListObjectVersions ${bucket}`,
      'DeleteObjects 1',
      `ListObjectVersions ${bucket}`,
      `DeleteBucket ${bucket}`,
    ])
  })
})

describe('sluice logs', () => {
  const RUN = 'run_01JD9Z0000000000000000000A'
  const line = (ago: number, message: string) => ({ timestamp: Date.now() - ago, message })

  beforeEach(() => {
    const said = { level: 'error', message: 'the table is away', run_id: RUN, stage: 'dev', function: 'run-block' }
    checkout.state.logs = {
      '/aws/lambda/sluice-dev-run-block': [
        line(3_000, `${JSON.stringify(said)}\n`),
        line(2_000, `Task timed out ${RUN} \u001b[31mred`),
        line(1_000, `third ${RUN}`),
        line(90 * 3_600_000, `old ${RUN}`),
      ],
      '/aws/lambda/sluice-dev-settle': [line(2_500, `{"level":"error","message":"other","run_id":"run_2"}`)],
      '/aws/lambda/sluice-dev-sweep': [line(2_500, `between ${RUN}`)],
      '/aws/lambda/sluice-prod-sweep': [line(2_500, `another stage ${RUN}`)],
      '/aws/vendedlogs/states/sluice-dev': [
        line(4_000, JSON.stringify({ type: 'ExecutionStarted', execution_arn: RUN })),
      ],
    }
  })

  test('has every line of the stage that names the run, oldest first, over all pages', async () => {
    const { code, out } = await run(['logs', RUN, '--stage', 'dev'])
    expect(code).toBe(0)
    const lines = out.trimEnd().split('\n')
    expect(lines.map((text) => text.replace(/^\S+Z /, ''))).toEqual([
      `machine ExecutionStarted {"type":"ExecutionStarted","execution_arn":"${RUN}"}`,
      `run-block error the table is away {"run_id":"${RUN}"}`,
      `sweep between ${RUN}`,
      `run-block Task timed out ${RUN} red`,
      `run-block third ${RUN}`,
    ])
  })

  test('goes further back when it is told to, and gives the newest under --limit; --json is a line each', async () => {
    const old = await run(['logs', RUN, '--stage', 'dev', '--hours', '100'])
    const few = await run(['logs', RUN, '--stage', 'dev', '--limit', '1', '--json'])
    expect(old.out).toContain(`old ${RUN}`)
    expect(JSON.parse(few.out)).toEqual({
      at: expect.any(Number),
      group: '/aws/lambda/sluice-dev-run-block',
      text: `third ${RUN}`,
    })
  })

  test('says where else to look when there is nothing, and refuses what is no id', async () => {
    const none = await run(['logs', 'run_9', '--stage', 'dev'])
    const bad = await run(['logs', 'a" b', '--stage', 'dev'])
    expect(none.err).toContain('`sluice run events run_9 --stack dev`')
    expect([none.code, none.out, bad.code]).toEqual([0, '', 2])
  })
})
