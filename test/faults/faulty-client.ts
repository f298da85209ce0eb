import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { FaultKind } from './fault-plan.ts'
import { currentInvocation, ifAlive } from './invocation.ts'
import type { Note, Part } from './open-store.ts'
import type { Sim } from './sim.ts'

type Client = Pick<DynamoDBClient, 'send'>

/** A command of the SDK, as far as it is looked at: its class names the operation. */
interface Command {
  readonly constructor: { readonly name: string }
  readonly input: {
    readonly ConsistentRead?: boolean
    readonly IndexName?: string
    readonly RequestItems?: unknown
    readonly Key?: ItemKey
    readonly Item?: ItemKey
  }
}

interface ItemKey {
  readonly pk?: { readonly S?: string }
  readonly sk?: { readonly S?: string }
}

type Send = (command: Command) => Promise<unknown>

const WRITES: readonly FaultKind[] = ['slow', 'throttled', 'lost', 'unanswered', 'late', 'resent', 'late_copy']
const READS: readonly FaultKind[] = ['slow', 'throttled', 'lost']
const LATEST_MS = 250
/** The client's own limit of a request is near. */
const SLOWEST_MS = 4_000

/**
 * The table's client as one sandbox has it: each request waits for its turn, and may be lost, refused, done without an
 * answer, done after the client gave up, or done twice, as behind the SDK's own retries. `written` is told of each
 * write that reaches the table, whenever that is.
 */
export function faultyClient(sim: Sim, client: Client, stale: StaleReads, written: Note): Client {
  const plain = client.send.bind(client) as unknown as Send
  const send: Send = async (command) => {
    const invocation = currentInvocation()
    const operation = command.constructor.name.replace('Command', '')
    await sim.scheduler.turn()
    await ifAlive(invocation)
    const isWrite = /^(Put|Update|Delete)/.test(operation)
    const apply = async () => {
      if (isWrite) tell(written, command)
      return plain(command)
    }
    const kinds = isWrite ? WRITES : isStaleable(command, operation) ? [...READS, 'stale' as const] : READS
    const kind = sim.faults.strike(`${invocation.name}/table.${operation}`, invocation.who, kinds)
    if (kind !== undefined) sim.trace(`fault ${kind} at table.${operation} of ${invocation.who}#${invocation.id}`)
    const answer = await answered(sim, kind, command, apply, stale)
    await ifAlive(invocation)
    return answer
  }
  return { send: send as unknown as Client['send'] }
}

function tell(written: Note, { input }: Command): void {
  const { pk, sk } = input.Key ?? input.Item ?? {}
  const part = pk?.S?.includes('#LEASES#') === true ? 'leases' : partOf(sk?.S ?? '')
  if (part !== undefined) written(part, pk?.S?.split('#R#')[1] ?? '')
}

function partOf(sk: string): Part | undefined {
  if (sk === 'HEAD') return 'head'
  if (sk.startsWith('B#')) return 'projections'
  return sk.startsWith('LEASES') ? 'leases' : undefined
}

async function answered(
  sim: Sim,
  kind: FaultKind | undefined,
  command: Command,
  apply: () => Promise<unknown>,
  stale: StaleReads,
): Promise<unknown> {
  const later = () => {
    sim.scheduler.after(sim.faults.size() * LATEST_MS, () => {
      sim.trace(`a late ${command.constructor.name} arrives`)
      void apply().catch(() => undefined)
    })
  }
  switch (kind) {
    case 'slow':
      await sim.scheduler.delay(sim.faults.size() ** 2 * SLOWEST_MS)
      return apply()
    case 'throttled':
      throw named('ThrottlingException', { $metadata: { httpStatusCode: 400 } })
    case 'lost':
      throw named('Error', { code: 'ECONNRESET' })
    case 'unanswered':
      await apply()
      throw named('Error', { code: 'ETIMEDOUT' })
    case 'late':
      later()
      throw named('Error', { code: 'ETIMEDOUT' })
    case 'late_copy':
      later()
      return apply()
    case 'resent':
      await apply()
      return apply().catch((error: unknown) => {
        if (error instanceof ConditionalCheckFailedException) error.$metadata.attempts = 2
        throw error
      })
    default:
      return stale.read(command, apply, kind === 'stale')
  }
}

/** What eventually consistent reads answered before. */
export interface StaleReads {
  read(command: Command, apply: () => Promise<unknown>, old: boolean): Promise<unknown>
}

/** Replicas and indexes are behind by so much at the most. */
const BEHIND_MS = 2_000

export function createStaleReads(now: () => number): StaleReads {
  const before = new Map<string, { readonly answer: unknown; readonly at: number }>()
  return {
    async read(command, apply, old) {
      if (!isStaleable(command, command.constructor.name)) return apply()
      const key = JSON.stringify(command.input)
      const kept = before.get(key)
      if (old && kept !== undefined && now() - kept.at <= BEHIND_MS) return kept.answer
      const answer = await apply()
      before.set(key, { answer, at: now() })
      return answer
    },
  }
}

function isStaleable({ input }: Command, operation: string): boolean {
  return /^(Get|Query)/.test(operation) && input.ConsistentRead !== true
}

function named(name: string, more: object): Error {
  return Object.assign(new Error(`${name} (injected)`), { name, ...more })
}
