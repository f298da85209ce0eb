import { readdirSync, readFileSync } from 'node:fs'
import {
  CreateStateMachineCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { afterAll, describe, expect, test } from 'vitest'
import { type CompiledDag, compileDag } from '../../shared/compile/compile-dag.ts'
import { ACCOUNT, emulatedAws } from '../emulators/aws-client.ts'
import { startMotoStates } from '../emulators/moto.ts'
import { FAMILIES, randomDags } from '../machines/random-dags.ts'
import {
  type CountedExecution,
  callWords,
  type EnteredState,
  type GivenOutcomes,
  givenFunctions,
  INPUT,
  jsonWords,
  type Payload,
  playMachine,
} from '../machines/run-history.ts'
import { traceExecutions } from '../machines/traces.ts'
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
  const traces = await traceExecutions(client)
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
  await client.send(new StartExecutionCommand({ stateMachineArn, name: INPUT.run_id, input }))
  return { executions: await traces(), called }
}

/** Branches go side by side: in which order they enter their states is nobody's promise. */
function sorted(entered: readonly EnteredState[]): readonly string[] {
  return entered.map(({ state, input }) => `${state} ${jsonWords(input)}`).toSorted()
}

async function expectAlike(compiled: CompiledDag, outcomes = PLAIN): Promise<void> {
  const { executions, status, ...ours } = await playMachine(compiled, outcomes)
  const theirs = await inMoto(compiled, outcomes)
  const ends = theirs.executions.map(({ end: { output: _, ...end } }) => end)
  expect(ends).toEqual(executions.map(() => ({ status })))
  expect(theirs.called.toSorted()).toEqual(ours.called.toSorted())
  const entered = theirs.executions.flatMap(({ lines }) => lines.flatMap((line) => line.entered))
  expect(sorted(entered)).toEqual(sorted(ours.entered))
  const counted = theirs.executions.map(({ lines, events }) => ({
    transitions: lines.reduce((sum, line) => sum + line.entered.length, 0),
    events,
  }))
  expect(counted.toSorted(byEvents)).toEqual(
    executions.map(({ transitions, events }) => ({ transitions, events })).toSorted(byEvents),
  )
}

function byEvents(a: CountedExecution, b: CountedExecution): number {
  return a.events - b.events
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

  test.each([0, 2])('all at once, in parts: %i bounces', async (bounces) => {
    const compiled = compileDag(dagOf(ALL))
    expect(compiled.parts).not.toEqual([])
    await expectAlike(compiled, { ...PLAIN, bounces })
  })
})
