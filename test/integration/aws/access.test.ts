import { join } from 'node:path'
import { build } from 'esbuild'
import { beforeAll, expect, test } from 'vitest'
import { rightsOf } from '../../../infra/aws/grants.ts'
import type { Right } from '../../../infra/aws/right.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { assembled } from './assembled.ts'
import { type Assembly, ROOT, STACKS, textOf } from './assembly.ts'
import { slackSettings } from './slack-settings.ts'

let made: Assembly

beforeAll(async () => {
  made = await assembled({}, slackSettings())
}, 240_000)

interface Statement {
  readonly Effect: string
  readonly Action: string | readonly string[]
  readonly Resource: unknown
  readonly Condition?: unknown
}

interface Access {
  readonly who: string
  readonly policy: string
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  readonly condition: string
}

/** Every statement of every role, as the templates have them. */
function accesses(): readonly Access[] {
  const owners = new Map(
    made
      .all('AWS::Lambda::Function')
      .map(({ Properties }) => [
        /^<(\w+)\.Arn>$/.exec(textOf(Properties.Role))?.[1] ?? '',
        textOf(Properties.FunctionName).replace('sluice-dev-', ''),
      ]),
  )
  return made.all('AWS::IAM::Role').flatMap(({ id, Properties }) => {
    // The shape CloudFormation documents for inline policies.
    const policies = (Properties.Policies ?? []) as readonly {
      readonly PolicyName: string
      readonly PolicyDocument: { readonly Statement: readonly Statement[] }
    }[]
    return policies.flatMap(({ PolicyName, PolicyDocument }) =>
      PolicyDocument.Statement.map((statement) => ({
        who: owners.get(id) ?? SERVICES.find(([part]) => id.startsWith(part))?.[1] ?? id,
        policy: PolicyName,
        actions: [statement.Action].flat(),
        resources: [statement.Resource].flat().map(readable),
        condition: statement.Condition === undefined ? '' : JSON.stringify(statement.Condition),
      })),
    )
  })
}

const SERVICES = [
  ['Machines', '(every state machine)'],
  ['GatewayLogs', '(API Gateway)'],
] as const

function readable(resource: unknown): string {
  const [, id] = /^<(\w+)\.Arn>$/.exec(textOf(resource)) ?? []
  const named = id === undefined ? undefined : arnOf(id)
  return named ?? textOf(resource).replace('arn:<Partition>:', '').replace('<Region>:<AccountId>:', '')
}

function arnOf(id: string): string | undefined {
  const { LogGroupName, FunctionName, QueueName } =
    STACKS.map((stack) => made.template(stack)[id]).find((found) => found !== undefined)?.Properties ?? {}
  if (LogGroupName !== undefined) return `logs:log-group:${textOf(LogGroupName)}`
  if (FunctionName !== undefined) return `lambda:function:${textOf(FunctionName)}`
  return QueueName === undefined ? undefined : `sqs:${textOf(QueueName)}`
}

test('the access matrix is the committed one', async () => {
  const rows = accesses()
    .filter((access) => !isOwnLog(access) && !isTrace(access))
    .flatMap(({ who, policy, actions, resources, condition }) =>
      resources.map((resource) => {
        const limit = condition === '' ? '' : ` if \`${condition}\``
        return [who, policy, actions.join(', '), `\`${resource}\`${limit}`]
      }),
    )
  const text = ['# Who may do what on AWS', '', INTRO, '', ...table([['role of', 'for', 'actions', 'on'], ...rows]), '']
  await expect(text.join('\n')).toMatchFileSnapshot(join(ROOT, 'docs/access-matrix.md'))
})

const INTRO = `Generated from the synthesized templates (stage \`dev\`, with a workspace of Slack) by \`npx vitest run test/integration/aws/access.test.ts -u\`; the test fails when it differs.
ARNs are without partition, region and account. Every role has inline policies only, and nothing adds to it later.
Not in the table, since each function has just these: \`logs:CreateLogStream, logs:PutLogEvents\` on its own log group, \`xray:PutTraceSegments, xray:PutTelemetryRecords\` on \`*\` (X-Ray has no resource level).`

const isOwnLog = ({ who, policy, resources }: Access) =>
  policy === 'logs' && resources.join() === `logs:log-group:/aws/lambda/sluice-dev-${who}`
const isTrace = ({ who, policy }: Access) => policy === 'traces' && !who.startsWith('(')

/** A Markdown table as the formatter writes it: columns as wide as their widest cell. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = rows
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)]
}

test('each function writes its own log and its traces, and that is left out of the table', () => {
  // shell-gate stands only where the settings allow a command.
  const names = FUNCTIONS.flatMap(({ name, serves }) => (serves === 'shell' ? [] : [name])).sort()
  expect(
    accesses()
      .filter(isOwnLog)
      .map(({ who }) => who)
      .sort(),
  ).toEqual(names)
  expect(
    accesses()
      .filter(isTrace)
      .map(({ who }) => who)
      .sort(),
  ).toEqual(names)
})

test('no action has a wildcard, and whole-account resources belong to actions without a resource level', () => {
  expect(accesses().filter(({ actions }) => actions.some((action) => action.includes('*')))).toEqual([])
  const everywhere = accesses().filter(({ resources }) => resources.includes('*'))
  expect(new Set(everywhere.flatMap(({ policy }) => policy))).toEqual(new Set(['traces', 'logs']))
  const functions = everywhere.filter(({ who }) => !who.startsWith('('))
  expect(new Set(functions.flatMap(({ actions }) => actions))).toEqual(
    new Set(['xray:PutTraceSegments', 'xray:PutTelemetryRecords']),
  )
})

test('only start-run starts executions, a machine those of parts, and only it makes machines, of inline documents alone', () => {
  const who = (action: string) => accesses().filter(({ actions }) => actions.includes(action))
  expect(who('states:StartExecution').map(({ who: name, resources }) => [name, resources])).toEqual([
    ['(every state machine)', ['states:stateMachine:sluice-dev-*_*']],
    ['start-run', ['states:stateMachine:sluice-dev-*']],
  ])
  expect(who('states:CreateStateMachine')).toMatchObject([
    { who: 'start-run', resources: ['states:stateMachine:sluice-dev-x-*'] },
  ])
  expect(who('iam:PassRole').map(({ who: name, resources }) => [name, resources])).toEqual([
    ['start-run', ['iam::<AccountId>:role/sluice-dev-machines-<Region>']],
  ])
  expect(who('dynamodb:Scan').concat(who('s3:DeleteObject'))).toEqual([])
  const places = '{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"T#main#QUEUE"}}'
  const log = '{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"T#main#G"}}'
  const graph = '{"ForAllValues:StringLike":{"dynamodb:LeadingKeys":["T#main#G","T#main#G#*"]}}'
  expect(who('dynamodb:DeleteItem').filter(({ condition }) => ![places, log, graph].includes(condition))).toEqual([])
})

const OF_GATES = new Set<Right>(['secrets.read', 'models.ask', 'http.request', 'shell.run'])

/** The right a call of a port's method needs. What is not here needs none. */
const METHODS: Readonly<Record<string, readonly Right[]>> = {
  ...methods(
    'runs',
    'head meta events projections itemProjections cached parentTokens approvals approval approvalTokens stopped context artifacts',
    'runs.read',
  ),
  ...methods('runs', 'create append putProjection putCached renewLease putApproval waitJoin signalJoin', 'runs.write'),
  ...methods('runs', 'sealed leases queued startHold lineage goalAttempts', 'runs.read'),
  ...methods('runs', 'takeLease extendLeases dropLease enqueue releaseQueued', 'runs.write'),
  ...methods('runs', 'holdStarts releaseStarts linkRun putGoalAttempt takeTurn endTurn noteMessage', 'runs.write'),
  ...methods('runs', 'dequeue', 'runs.dequeue'),
  ...methods('runs', 'countRequest', 'runs.count'),
  ...methods('runs', 'noteRequest endRequest', 'runs.note'),
  ...methods('runs', 'settleOutbox moveCheck putStop putContext putArtifact', 'runs.write'),
  ...methods('runs', 'list', 'runs.list'),
  ...methods('runs', 'inbox', 'runs.inbox'),
  ...methods('runs', 'due', 'runs.due'),
  ...methods('objects', 'get', 'objects.get'),
  ...methods('objects', 'put', 'objects.put'),
  ...methods('uploads', 'open', 'objects.put'),
  ...methods('graph', 'entity entities neighbours manifest changes', 'graph.read'),
  ...methods('graph', 'list', 'graph.list'),
  ...methods('graph', 'put addTriples delete dropChanges moveManifest', 'graph.write'),
  ...methods('search', 'search lookup diffuse follow', 'search.read'),
  ...methods('indexing', 'publish keep', 'index.publish'),
  ...methods('machine', 'answer', 'machine.answer'),
  ...methods('machine', 'ensure', 'machine.ensure'),
  ...methods('machine', 'deployed', 'machine.deployed'),
  ...methods('machine', 'named', 'machine.named'),
  ...methods('machine', 'start', 'machine.start'),
  ...methods('machine', 'describe', 'machine.describe'),
  ...methods('machine', 'stop', 'machine.stop'),
  ...methods('outbox', 'nudge', 'outbox.nudge'),
  ...methods('outbox', 'startRun', 'outbox.start'),
  ...methods('outbox', 'slackWork', 'outbox.slack'),
  ...methods('outbox', 'graphWork', 'outbox.graph'),
  ...methods('slack', 'verify', 'slack.verify'),
  ...methods('slack', 'call', 'slack.call'),
  // An adapter reads its key when it is asked; Bedrock's has none and asks with the function's own role.
  'provider.dispatch(': ['secrets.read', 'models.ask'],
  'provider.embed(': ['embeddings.secrets'],
  ...methods('http', 'request', 'http.request'),
  ...methods('shell', 'run', 'shell.run'),
}

function methods(port: string, names: string, right: Right): Readonly<Record<string, readonly Right[]>> {
  return Object.fromEntries(names.split(' ').map((name) => [`${port}.${name}(`, [right]]))
}

/**
 * The stages of the research chain ask the one provider that the settings name for them; the one that runs sub-queries
 * asks nobody but the provider of embeddings, though its code for places at a provider could.
 */
function ofStage({ name, file }: { readonly name: string; readonly file: string }, right: Right): readonly Right[] {
  const isAsking = right === 'secrets.read' || right === 'models.ask'
  if (!file.startsWith('research/') || !isAsking) return [right]
  if (name === 'execute-subqueries') return []
  return [right === 'secrets.read' ? 'research.secrets' : 'research.models']
}

/** What is left of a handler when everything unused is shaken out: the code the Lambda runs, without adapters. */
async function shaken(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'functions', file)],
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

test.each(FUNCTIONS.map((line) => [line.name, line] as const))(
  '%s has exactly the rights its code uses',
  async (_name, line) => {
    const code = await shaken(line.file)
    const called = Object.entries(METHODS).flatMap(([call, rights]) =>
      new RegExp(`\\b${call.replace('(', '\\(').replace('.', '\\.')}`).test(code) ? rights : [],
    )
    // Who only reads documents holds the code of gates, and nothing that judges by it; who judges pure ones again asks nobody.
    const asks = line.ports.includes('http') || line.ports.includes('secrets')
    const used = (asks ? called : called.filter((right) => !OF_GATES.has(right))).flatMap((right) =>
      ofStage(line, right),
    )
    expect([...rightsOf(line)].sort(), 'infra/aws/grants.ts').toEqual([...new Set(used)].sort())
  },
)

test.each(FUNCTIONS.map((line) => [line.name, line] as const))(
  '%s lists every port its code uses',
  async (_name, line) => {
    const code = await shaken(line.file)
    const calls = [
      ...code.matchAll(
        /\bworld\.(\w+)\b|\b(runs|objects|graph|search|indexing|machine|outbox|waker|documents|providers)\.[a-z]\w*\(/g,
      ),
    ]
    const ports = new Set(calls.map(([, ofWorld, bare]) => ofWorld ?? bare ?? ''))
    const everywhere = ['clock', 'ids', 'log', 'settings']
    const missing = [...ports].filter((port) => PORTS.has(port) && ![...line.ports, ...everywhere].includes(port))
    expect(
      missing.filter((port) => !PARSING_ONLY.some(([name, other]) => name === line.name && other === port)),
    ).toEqual([])
  },
)

const PORTS = new Set([
  'runs',
  'objects',
  'uploads',
  'graph',
  'search',
  'indexing',
  'machine',
  'outbox',
  'providers',
  'inputs',
  'isolate',
  'http',
  'shell',
  'waker',
  'documents',
  'slack',
])

/** Code that comes with a check and is never run there: gates are described or checked, not judged. */
const PARSING_ONLY = ['start-run', 'validate-dag', 'get-gates'].map((name) => [name, 'isolate'] as const)
