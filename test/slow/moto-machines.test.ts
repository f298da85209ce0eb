import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { afterAll, describe, expect, test } from 'vitest'
import { type CompiledDag, compileDag } from '../../shared/compile/compile-dag.ts'
import type { Json } from '../../shared/text/json.ts'
import { ACCOUNT, emulatedAws } from '../emulators/aws-client.ts'
import { startMotoStates } from '../emulators/moto.ts'
import { FAMILIES, randomDags } from '../machines/random-dags.ts'
import {
  callWords,
  type EnteredState,
  type GivenOutcomes,
  givenFunctions,
  INPUT,
  type Payload,
  playMachine,
} from '../machines/run-history.ts'
import { ALL, BOUNCING, CHILD, dagOf, FANNED_OUT } from '../unit/plan/documents.ts'

/**
 * Compiled machines in moto's interpreter, which knows nothing of ours, and in ours: the same functions answer both. Both
 * make the same calls, enter the same states with the same inputs, count the same events of history, and end alike. JSONata
 * is not part of it: moto has no evaluator of its own and is lent the one ours has. Nor is what handlers do: the functions
 * are those the plan's histories are held against. Where Python has no moto the file is left out, which is said.
 */
const moto = await startMotoStates()
if (moto === undefined)
  console.log('moto: skipped, python3 with the packages moto, antlr4 and jsonpath_ng is not there')
afterAll(() => moto?.stop())

const client = new SFNClient({ ...emulatedAws(`http://127.0.0.1:${moto?.port ?? 0}`) })
const DAGS = readdirSync('dags').filter((name) => name.endsWith('.yaml'))
/** What is not run there, and why. */
const NOT_SUPPORTED: Readonly<Record<string, string>> = {
  'support-agent.yaml': 'what its rounds are a model answers, which the functions here do not play',
}

const PLAIN: GivenOutcomes = { items: () => 2, bounces: 0 }
let machines = 0

async function inMoto(compiled: CompiledDag, outcomes: GivenOutcomes) {
  machines += 1
  const functions = givenFunctions(
    (taskToken) => client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' })),
    outcomes,
  )
  const called: string[] = []
  moto?.answer(async (name, payload) => {
    called.push(callWords(name, payload))
    return functions[name]?.(payload as unknown as Payload) ?? null
  })
  const parts: Record<string, string> = {}
  const made = async (text: string, key: string) => {
    const definition = text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) =>
      name in parts ? (parts[name] ?? '') : `arn:aws:lambda:us-east-1:${ACCOUNT}:function:${name}`,
    )
    const name = `m${machines}-${key}`
    const roleArn = `arn:aws:iam::${ACCOUNT}:role/machines`
    const { stateMachineArn = '' } = await client.send(new CreateStateMachineCommand({ name, definition, roleArn }))
    return stateMachineArn
  }
  for (const { key, text } of compiled.parts) parts[key] = await made(text, key)
  const stateMachineArn = await made(compiled.text, 'main')
  const input = JSON.stringify(INPUT)
  const { executionArn } = await client.send(
    new StartExecutionCommand({ stateMachineArn, name: `run_${machines}`, input }),
  )
  for (;;) {
    const { status, error, cause } = await client.send(new DescribeExecutionCommand({ executionArn }))
    if (status === 'RUNNING') {
      await delay(20)
      continue
    }
    const { events = [] } = await client.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1_000 }))
    const entered = events.flatMap(({ stateEnteredEventDetails: details }): EnteredState[] =>
      details === undefined ? [] : [{ state: details.name ?? '', input: JSON.parse(details.input ?? 'null') as Json }],
    )
    return { status, error, cause, entered, called, events: events.length }
  }
}

/** Branches go side by side: in which order they enter their states is nobody's promise. */
function sorted(entered: readonly EnteredState[]): readonly string[] {
  return entered.map(({ state, input }) => `${state} ${JSON.stringify(input)}`).toSorted()
}

async function expectAlike(compiled: CompiledDag, outcomes = PLAIN): Promise<void> {
  const { executions, ...ours } = await playMachine(compiled, outcomes)
  const { events, ...theirs } = await inMoto(compiled, outcomes)
  expect({ status: theirs.status, error: theirs.error, cause: theirs.cause }).toEqual({ status: ours.status })
  expect(theirs.called.toSorted()).toEqual(ours.called.toSorted())
  // Ours tells of each line of states all but the first; that there is one more a line its count says.
  const left = sorted(theirs.entered).slice()
  for (const one of sorted(ours.entered)) expect(left.splice(left.indexOf(one) >>> 0, 1), one).toEqual([one])
  expect({ entered: theirs.entered.length, events }).toEqual({
    entered: executions[0]?.transitions,
    events: executions[0]?.events,
  })
}

describe.skipIf(moto === undefined)('machines in moto and in our interpreter', () => {
  test.for(DAGS)('%s', async (name, { skip }) => {
    skip(NOT_SUPPORTED[name] !== undefined, NOT_SUPPORTED[name])
    await expectAlike(compileDag(dagOf(readFileSync(`dags/${name}`, 'utf8'))))
  })

  test.each([0, 1, 7])('a foreach of %i items', async (items) => {
    await expectAlike(compileDag(dagOf(FANNED_OUT)), { ...PLAIN, items: () => items })
  })

  test.each([0, 1, 3])('%i bounces', async (bounces) => {
    await expectAlike(compileDag(dagOf(BOUNCING)), { ...PLAIN, bounces })
  })

  test('a child run', async () => {
    await expectAlike(compileDag(dagOf(CHILD)))
  })

  test.each(Object.keys(FAMILIES))('%s: joins and approvals', async (family) => {
    const { upstream } = randomDags(family).find((dag) => dag.upstream.length >= 8) ?? { upstream: [] }
    const blocks = upstream.map((sources, v) => ({
      id: `b${v}`,
      upstream: sources.map((source) => `b${source}`),
      ...(v % 4 === 3 ? { approval: { timeout_sec: 60 } } : {}),
    }))
    await expectAlike(compileDag({ blocks }))
  })

  // moto hands the parameters of a nested execution to its client as the machine spells them, which that refuses.
  test('a machine in parts breaks there, so none is compared', async () => {
    const compiled = compileDag(dagOf(ALL))
    expect(compiled.parts).not.toEqual([])
    expect(await inMoto(compiled, PLAIN)).toMatchObject({ status: 'FAILED', error: 'States.Runtime' })
  })
})
