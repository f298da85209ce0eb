import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { CreateStateMachineAliasCommand, CreateStateMachineCommand, SFNClient } from '@aws-sdk/client-sfn'
import { createLocalMachine } from '../../infra/local/asl/local-machine.ts'
import { createSqliteJournal } from '../../infra/local/asl/sqlite-journal.ts'
import { systemClock } from '../../infra/local/clock-and-log.ts'
import type { Place } from '../../infra/local/place.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { bindPlaceholders } from '../../shared/compile/bind-placeholders.ts'
import { researchMachine } from '../../shared/compile/research-machine.ts'
import type { Machine } from '../../shared/runs/machine.ts'
import type { Json } from '../../shared/text/json.ts'
import { ACCOUNT, emulatedAws } from '../emulators/aws-client.ts'
import type { MotoStates } from '../emulators/moto.ts'
import { lambdaArn } from '../integration/aws/aws-settings.ts'
import type { MachinesPlace } from '../integration/aws/machines-place.ts'
import { recordJournal } from './run-history.ts'
import { endOf, stopExecutions, type Trace, traceExecutions } from './traces.ts'

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
  const traces = await traceExecutions(client)
  moto.answer((name, payload) => invoke(name.replace('sluice-test-', ''), payload))
  const adapter = machines.machine(aws)
  const machine: Machine = {
    ...adapter,
    // Documents of this place lie in folders: none was deployed.
    deployed: (...order) => adapter.ensure(...order),
    // moto answers 500 where a version is started.
    start: (order) => adapter.start({ ...order, machine: order.machine.replace(/:\d+$/, '') }),
  }
  Object.assign(place.world, { machine })
  return {
    called,
    traces,
    async close() {
      // What is still under way would call the functions of the next one.
      await stopExecutions(client)
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
