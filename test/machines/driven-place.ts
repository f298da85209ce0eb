import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import {
  CreateStateMachineAliasCommand,
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  type ExecutionListItem,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  ListStateMachinesCommand,
  SFNClient,
} from '@aws-sdk/client-sfn'
import { createLocalMachine } from '../../infra/local/asl/local-machine.ts'
import { createSqliteJournal } from '../../infra/local/asl/sqlite-journal.ts'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import type { Place } from '../../infra/local/place.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { bindPlaceholders } from '../../shared/compile/bind-placeholders.ts'
import { researchMachine } from '../../shared/compile/research-machine.ts'
import type { Execution, Machine } from '../../shared/runs/machine.ts'
import type { Json } from '../../shared/text/json.ts'
import { ACCOUNT, emulatedAws } from '../emulators/aws-client.ts'
import type { MotoStates } from '../emulators/moto.ts'
import { lambdaArn } from '../integration/aws/aws-settings.ts'
import type { MachinesPlace } from '../integration/aws/machines-place.ts'
import { linesOfHistory } from './history-lines.ts'
import { type Line, recordJournal } from './run-history.ts'

/** What one execution did: its states, line by line, how many events that is, and its end. */
export interface Trace {
  readonly name: string
  readonly lines: readonly Line[]
  readonly events: number
  readonly end: Execution & { readonly output?: Json }
}

/** What runs the machines of a place. */
export interface Interpreter {
  /** Calls of functions, in the order they came. */
  readonly called: readonly { readonly name: string; readonly payload: Json }[]
  /** Of every execution there was, once none runs. */
  traces(): Promise<readonly Trace[]>
  close(): Promise<void>
}

type Called = { readonly name: string; readonly payload: Json }

/** The handlers of a place, as what runs machines calls them. */
function handlersOf(place: Place) {
  const called: Called[] = []
  const invoke = async (name: string, payload: Json, signal?: AbortSignal): Promise<Json> => {
    called.push({ name, payload })
    const answer = await place.invoke(name, payload, signal)
    return (answer ?? null) as Json
  }
  return { called, invoke }
}

/** Machines of the place run in our interpreter from now on, which writes down what it does. */
export function driveWithOurs(place: Place): Interpreter {
  const { called, invoke } = handlersOf(place)
  const db = new DatabaseSync(':memory:')
  const recorded = recordJournal(createSqliteJournal(db))
  const names = Object.fromEntries(placeholders((name) => name))
  const machine = createLocalMachine({
    invoke,
    native: (call, signal) => place.world.steps.call(call, signal),
    clock: systemClock,
    ids: { random: (bytes) => randomBytes(bytes), boot: place.world.ids.boot },
    journal: recorded.journal,
    bind: (text) => bindPlaceholders(text, names),
  })
  Object.assign(place.world, { machine })
  return {
    called,
    async traces() {
      while (recorded.executions().some(({ end }) => end === undefined)) await delay(20)
      return recorded.executions().map(({ name, lines, events, end }) => {
        const { status = 'RUNNING', error, cause, output } = end ?? {}
        return { name, lines, events, end: endOf({ status, error, cause, output }) }
      })
    },
    async close() {
      await machine.close()
      db.close()
    },
  }
}

/** The same in moto's, behind the adapter that functions have on AWS. */
export async function driveWithMoto(place: Place, moto: MotoStates, machines: MachinesPlace): Promise<Interpreter> {
  const { called, invoke } = handlersOf(place)
  const aws = emulatedAws(`http://127.0.0.1:${moto.port}`)
  const client = new SFNClient(aws)
  const before = new Set((await executionsIn(client)).map(({ executionArn }) => executionArn))
  moto.answer((name, payload) => invoke(name.replace('sluice-test-', ''), payload))
  const adapter = machines.machine(aws)
  // Documents of this place lie in folders: none was deployed.
  const machine: Machine = { ...adapter, deployed: (...order) => adapter.ensure(...order) }
  Object.assign(place.world, { machine })
  return {
    called,
    async traces() {
      for (;;) {
        const all = (await executionsIn(client)).filter(({ executionArn }) => !before.has(executionArn))
        if (all.every(({ status }) => status !== 'RUNNING')) {
          return await Promise.all(all.map(({ executionArn }) => traceOf(client, executionArn ?? '')))
        }
        await delay(20)
      }
    },
    async close() {
      client.destroy()
    },
  }
}

/** The machine of the research chain as a deployment makes it: with an alias that says its version. */
export async function deployResearch(moto: MotoStates): Promise<void> {
  const client = new SFNClient(emulatedAws(`http://127.0.0.1:${moto.port}`))
  const { text, hash } = researchMachine()
  const roleArn = `arn:aws:iam::${ACCOUNT}:role/sluice-test-machines`
  const definition = bindPlaceholders(text, Object.fromEntries(placeholders(lambdaArn)))
  const name = 'sluice-test-research'
  const made = await client.send(new CreateStateMachineCommand({ name, roleArn, definition, publish: true }))
  const routingConfiguration = [{ stateMachineVersionArn: made.stateMachineVersionArn, weight: 100 }]
  await client.send(new CreateStateMachineAliasCommand({ name: `document-${hash.slice(0, 40)}`, routingConfiguration }))
  client.destroy()
}

function placeholders(named: (name: string) => string): [string, string][] {
  return FUNCTIONS.flatMap(({ placeholder, name }): [string, string][] =>
    placeholder === undefined ? [] : [[placeholder, named(name)]],
  )
}

async function executionsIn(client: SFNClient): Promise<readonly ExecutionListItem[]> {
  const { stateMachines = [] } = await client.send(new ListStateMachinesCommand({ maxResults: 1_000 }))
  const lists = stateMachines.map(({ stateMachineArn }) =>
    client.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 1_000 })),
  )
  return (await Promise.all(lists)).flatMap(({ executions = [] }) => executions)
}

async function traceOf(client: SFNClient, executionArn: string): Promise<Trace> {
  const { name = '', status, error, cause, output } = await client.send(new DescribeExecutionCommand({ executionArn }))
  const { events = [] } = await client.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1_000 }))
  const known = status === undefined || status === 'PENDING_REDRIVE' ? 'RUNNING' : status
  const said = output === undefined ? undefined : (JSON.parse(output) as Json)
  return {
    name,
    lines: linesOfHistory(events),
    events: events.length,
    end: endOf({ status: known, error, cause, output: said }),
  }
}

function endOf(given: { readonly [K in keyof Trace['end']]: Trace['end'][K] | undefined }): Trace['end'] {
  return JSON.parse(JSON.stringify(given))
}
