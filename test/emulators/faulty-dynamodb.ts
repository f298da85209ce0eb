import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { EmulatedAws } from './aws-client.ts'

/** How likely each sending of a request is to meet a fault (docs/faults.md, "What goes wrong"). */
export interface FaultRates {
  /** Never arrives. */
  readonly lost: number
  /** Is done, but the answer does not arrive. */
  readonly unanswered: number
  /** The client gives up; up to 250 ms later it is done all the same. */
  readonly late: number
  readonly throttled: number
  readonly broken: number
  /** A read that did not ask to be consistent answers what the same read answered before. */
  readonly stale: number
}

type FaultKind = keyof FaultRates

export interface FaultyClient {
  readonly client: DynamoDBClient
  /** How often each fault happened. */
  readonly injected: Readonly<Record<FaultKind, number>>
  /** Resolves when every late request is done. */
  settled(): Promise<void>
}

/**
 * A DynamoDB client whose network misbehaves below the SDK's retries, so that those are tested too. `random` answers
 * numbers in 0..1.
 */
export function faultyClient(aws: EmulatedAws, rates: FaultRates, random: () => number): FaultyClient {
  const client = new DynamoDBClient({ ...aws, maxAttempts: 3 })
  const injected = { lost: 0, unanswered: 0, late: 0, throttled: 0, broken: 0, stale: 0 }
  const underWay = new Set<Promise<unknown>>()
  const happens = (kind: FaultKind) => {
    const does = random() < rates[kind]
    if (does) injected[kind] += 1
    return does
  }
  const later = (send: () => Promise<{ readonly response: unknown }>) => {
    const done = sleep(random() * 250)
      .then(send)
      .then(leaveUnread)
      .catch(() => {})
      .finally(() => underWay.delete(done))
    underWay.add(done)
  }
  client.middlewareStack.add(
    (next) => async (args) => {
      const refused = REFUSALS.find(([kind]) => happens(kind))
      if (refused !== undefined) throw refused[1]()
      if (happens('late')) {
        later(() => next(args))
        throw networkError('ETIMEDOUT')
      }
      const answer = await next(args)
      if (happens('unanswered')) {
        leaveUnread(answer)
        throw networkError('ECONNRESET')
      }
      return answer
    },
    { step: 'deserialize', priority: 'low', name: 'faults' },
  )
  const before = new Map<string, unknown>()
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        if (!mayBeStale(commandName, args.input)) return next(args)
        const key = JSON.stringify(args.input)
        const old = before.get(key)
        // What `next` answered for the same command.
        if (old !== undefined && happens('stale')) return old as Awaited<ReturnType<typeof next>>
        const answer = await next(args)
        before.set(key, answer)
        return answer
      },
    { step: 'initialize', name: 'staleReads' },
  )
  return {
    client,
    injected,
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

/** An answer that nobody reads would hold its connection, of which a client has few, until the server closes it. */
function leaveUnread({ response }: { readonly response: unknown }): void {
  ;(response as { readonly body?: Readable }).body?.destroy()
}

function mayBeStale(command: string, input: object): boolean {
  return /^(Get|Query)/.test(command) && !('ConsistentRead' in input && input.ConsistentRead === true)
}

/** Faults of requests that never reach the table. */
const REFUSALS: readonly (readonly [kind: FaultKind, error: () => Error])[] = [
  ['throttled', () => serviceError('ThrottlingException', 400)],
  ['broken', () => serviceError('InternalServerError', 500)],
  ['lost', () => networkError('ECONNRESET')],
]

function networkError(code: string): Error {
  return Object.assign(new Error(`${code} (injected)`), { code })
}

/** As the SDK makes it from an answer of the service. */
function serviceError(name: string, httpStatusCode: number): Error {
  const $fault = httpStatusCode < 500 ? 'client' : 'server'
  return Object.assign(new Error(`${name} (injected)`), { name, $fault, $metadata: { httpStatusCode } })
}
