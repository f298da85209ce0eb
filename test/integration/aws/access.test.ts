import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { functionRights } from '../../../infra/aws/grants.ts'
import { FUNCTIONS, type FunctionLine } from '../../../shared/catalog.ts'
import { stepSlug } from '../../../shared/steps/described-step.ts'
import { accessMatrix } from './access-matrix.ts'
import { type Access, readAccesses } from './accesses.ts'
import { assembledWithAll } from './assembled-with-all.ts'
import { ROOT } from './assembly.ts'
import { calledMethods, shakenCode } from './called-methods.ts'
import { openSdkCalls } from './sdk-calls.ts'
import { type AskedRight, askedRights } from './used-rights.ts'

/** Rights against code, both ways: what a handler calls, and what the adapters behind it send. */
let accesses: readonly Access[]
let codes: ReadonlyMap<string, string>
let asked: ReadonlyMap<string, readonly AskedRight[]>

beforeAll(async () => {
  codes = await shakenCode()
  const sdk = openSdkCalls()
  asked = new Map(FUNCTIONS.map((line) => [line.name, askedRights(line, calledMethods(line, codeOf(line)), sdk)]))
  sdk.close()
  accesses = readAccesses(await assembledWithAll())
}, 240_000)

function codeOf({ name }: Pick<FunctionLine, 'name'>): string {
  return codes.get(name) ?? ''
}

test('the access matrix is the committed one', async () => {
  const shown = accesses.filter((access) => !isOwnLog(access) && !isTrace(access))
  await expect(accessMatrix(shown, asked)).toMatchFileSnapshot(join(ROOT, 'docs/access-matrix.md'))
})

const isOwnLog = ({ who, policy, resources }: Access) =>
  policy === 'logs' && resources.join() === `logs:log-group:/aws/lambda/sluice-dev-${who}`
const isTrace = ({ who, policy }: Access) => policy === 'traces' && !who.startsWith('(')

test('each function writes its own log and its traces, and that is left out of the table', () => {
  // shell-gate stands only where the settings allow a command.
  const ours = FUNCTIONS.flatMap(({ name, serves }) => (serves === 'shell' ? [] : [name]))
  const names = [...ours, `step-${stepSlug('./steps/notify.js')}`].sort()
  expect(
    accesses
      .filter(isOwnLog)
      .map(({ who }) => who)
      .sort(),
  ).toEqual(names)
  expect(
    accesses
      .filter(isTrace)
      .map(({ who }) => who)
      .sort(),
  ).toEqual(names)
})

test('no action has a wildcard, and whole-account resources belong to actions without a resource level', () => {
  expect(accesses.filter(({ actions }) => actions.some((action) => action.includes('*')))).toEqual([])
  const everywhere = accesses.filter(({ resources }) => resources.includes('*'))
  expect(new Set(everywhere.flatMap(({ policy }) => policy))).toEqual(new Set(['traces', 'logs']))
  const functions = everywhere.filter(({ who }) => !who.startsWith('('))
  expect(new Set(functions.flatMap(({ actions }) => actions))).toEqual(
    new Set(['xray:PutTraceSegments', 'xray:PutTelemetryRecords']),
  )
})

test('only start-run starts executions, a machine those of parts, and only it makes machines, of inline documents alone', () => {
  const who = (action: string) => accesses.filter(({ actions }) => actions.includes(action))
  expect(who('states:StartExecution').map(({ who: name, resources }) => [name, resources])).toEqual([
    ['(every state machine)', ['states:stateMachine:sluice-dev-*_*']],
    ['start-run', ['states:stateMachine:sluice-dev-*']],
  ])
  expect(who('states:CreateStateMachine')).toMatchObject([
    { who: 'start-run', resources: ['states:stateMachine:sluice-dev-x-*'] },
  ])
  expect(who('states:DeleteStateMachine').concat(who('states:ListExecutions'))).toMatchObject(
    Array.from({ length: 2 }, () => ({
      who: 'clear-machines',
      resources: ['states:stateMachine:sluice-dev-x-*'],
    })),
  )
  // Of a container: what begins its task, and what it works as.
  const container = ['begin', 'task'].map((part) => expect.stringMatching(`^iam::<AccountId>:role/sluice-dev-${part}-`))
  expect(who('iam:PassRole').map(({ who: name, resources }) => [name, resources])).toEqual([
    ['(every state machine)', container],
    ['start-run', ['iam::<AccountId>:role/sluice-dev-machines-<Region>']],
  ])
  expect(who('dynamodb:Scan').concat(who('s3:DeleteObject'))).toEqual([])
  // Runs and objects are deleted by what does what a mark says, and by nobody else.
  const erased = '{"ForAllValues:StringLike":{"dynamodb:LeadingKeys":"T#main#*"}}'
  expect(accesses.filter(({ condition }) => condition === erased).map(({ who: name }) => name)).toEqual([
    'keep-or-erase',
  ])
  expect(who('s3:DeleteObjectVersion').map(({ who: name }) => name)).toEqual(['keep-or-erase'])
  const places = '{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"T#main#QUEUE"}}'
  const log = '{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"T#main#G"}}'
  const machines = '{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"MACHINES"}}'
  const graph = '{"ForAllValues:StringLike":{"dynamodb:LeadingKeys":["T#main#G","T#main#G#*"]}}'
  const owed = '{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"T#main#OWED"}}'
  const waits = '{"ForAllValues:StringLike":{"dynamodb:LeadingKeys":"T#main#W#*"}}'
  const views = '{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":"T#main#VIEWS"}}'
  expect(
    who('dynamodb:DeleteItem').filter(
      ({ condition }) => ![places, log, graph, machines, waits, owed, views, erased].includes(condition),
    ),
  ).toEqual([])
})

const LINES = FUNCTIONS.map((line) => [line.name, line] as const)

test.each(LINES)('%s has exactly the rights its code uses', (name, line) => {
  const used = (asked.get(name) ?? []).flatMap(({ rights }) => rights)
  const told = tellsSpans(codeOf(line)) ? (['telemetry.secrets'] as const) : []
  // What models say lies in partitions of its own, where it is told at all (live-text.test.ts).
  const says = /\blive\.speak\(/.test(codeOf(line)) ? (['live.forget'] as const) : []
  // The store nudges where there are webhooks (functions/aws/world.ts): who may nudge besides needs no more.
  const nudges = line.ports.includes('outbox') && !used.some((right) => right.startsWith('outbox.'))
  const own = [...used, ...told, ...says, ...(nudges ? (['webhooks.nudge'] as const) : [])]
  expect([...functionRights(line)].sort(), 'infra/aws/grants.ts').toEqual([...new Set(own)].sort())
})

/** It asks providers, or ends runs (and so attempts): nobody else has a span to tell. */
function tellsSpans(code: string): boolean {
  return /telemetry\.called\(|type: `run:\$\{state\}`/.test(code)
}

test.each(LINES)('the role of %s allows exactly the actions that its calls send', (name) => {
  expect(differences(name, accesses)).toEqual([])
})

test('an action too many, and one too few, are told with function, port and action', () => {
  const queries = { who: 'get-context', policy: 'runs', actions: ['dynamodb:Query'], resources: [], condition: '' }
  expect(differences('get-context', [...accesses, queries])).toEqual([
    'get-context: dynamodb:Query is allowed (runs), and nothing its code calls sends it',
  ])
  const withoutPut = accesses.map((access) => ({
    ...access,
    actions: access.actions.filter((action) => access.policy !== 'objects' || action !== 's3:PutObject'),
  }))
  expect(differences('put-object', withoutPut)).toEqual([
    'put-object: s3:PutObject is sent by objects.put, and not allowed',
  ])
})

/** What one allows and the other does not send, and the other way. */
function differences(name: string, allowed: readonly Access[]): readonly string[] {
  const mine = allowed.filter(({ who, policy }) => who === name && !SETTLED_BY_SETTINGS.test(policy))
  const calls = (asked.get(name) ?? []).filter(
    ({ rights }) => !rights.every((right) => SETTLED_BY_SETTINGS.test(right)),
  )
  const portOf = (policy: string) => PORTS_OF_POLICIES[policy] ?? policy.replace(/\..*$/, '')
  const tooMany = mine.flatMap(({ policy, actions }) => {
    const sent = calls.filter(({ port }) => (port === 'uploads' ? 'objects' : port) === portOf(policy))
    const unsent = actions.filter((action) => !sent.some((call) => call.actions.includes(action)))
    return unsent.map((action) => `${name}: ${action} is allowed (${policy}), and nothing its code calls sends it`)
  })
  const tooFew = calls.flatMap(({ port, method, actions, rights }) => {
    const given = mine.filter(({ policy }) => portOf(policy) === portOf(rights[0] ?? ''))
    const missing = actions.filter((action) => !given.some((access) => access.actions.includes(action)))
    return missing.map((action) => `${name}: ${action} is sent by ${port}.${method}, and not allowed`)
  })
  return [...new Set([...tooMany, ...tooFew])]
}

/** Which secrets and models: their own tests hold these (embeddings-access, bedrock-access, slack-stack, provider-secrets, gates on the emulators). */
const SETTLED_BY_SETTINGS =
  /^(secrets|models|research|embeddings|judge|slack|webhooks|services|hooks|mcp|telemetry|live|shell|logs|traces|dead-letters|key)(\.|$)/
const PORTS_OF_POLICIES: Readonly<Record<string, string>> = { 'index.publish': 'indexing' }

test('task tokens are answered with success alone: no role may answer with an error', () => {
  const answers = [...codes.values()].flatMap((code) => [...code.matchAll(/\bmachine\.answer\(([^)]*)\)/g)])
  expect(new Set(answers.map(([, given]) => given?.replace(/^\w+, /, '')))).toEqual(
    // Nothing, or where the outcome of a step lies.
    new Set(['{ ok: {} }', '{ ok: answer }']),
  )
  expect(accesses.filter(({ actions }) => actions.includes('states:SendTaskFailure'))).toEqual([])
})

test('whoever writes to the log of a run may nudge for webhooks', () => {
  const writers = FUNCTIONS.filter((line) => /\bruns\.append\(/.test(codeOf(line)))
  expect(writers.map(({ name }) => name)).toContain('route-search')
  expect(writers.filter(({ ports }) => !ports.includes('outbox')).map(({ name }) => name)).toEqual([])
})

test.each(LINES)('%s lists every port its code uses', (_name, line) => {
  const calls = [
    ...codeOf(line).matchAll(
      /\bworld\.(\w+)\b|\b(runs|objects|graph|search|indexing|machine|outbox|waker|documents|providers)\.[a-z]\w*\(/g,
    ),
  ]
  const ports = new Set(calls.map(([, ofWorld, bare]) => ofWorld ?? bare ?? ''))
  const everywhere = ['clock', 'ids', 'log', 'settings']
  const missing = [...ports].filter((port) => PORTS.has(port) && ![...line.ports, ...everywhere].includes(port))
  expect(missing.filter((port) => !PARSING_ONLY.some(([name, other]) => name === line.name && other === port))).toEqual(
    [],
  )
})

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
  'webhooks',
  'buses',
  'services',
  'triggers',
  'hookKeys',
  'mcp',
  'tokens',
])

/**
 * Code that comes with a check and is never run there: gates are described or checked, not judged. A fact of search-graph
 * has objects of its own.
 */
const PARSING_ONLY = [
  ['get-gates', 'isolate'],
  ['search-graph', 'objects'],
] as const
