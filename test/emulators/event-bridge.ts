import { type HttpService, ServiceError, serveAws, targetOf } from './http-service.ts'

/** An entry of PutEvents, as it came. */
export interface PutEntry {
  readonly EventBusName: string
  readonly Source: string
  readonly DetailType: string
  readonly Detail: string
  /** Seconds since 1970, as the protocol has it. */
  readonly Time: number
}

export interface EventBridge extends HttpService {
  readonly taken: readonly PutEntry[]
  /** The next ones are refused with this code, each in an answer of 200, as EventBridge does. */
  refuse(times: number, code: string): void
}

/** EventBridge's PutEvents, one entry a call; of rules it knows nothing. */
export async function startEventBridge(): Promise<EventBridge> {
  const taken: PutEntry[] = []
  let refused = { times: 0, code: '' }
  const service = await serveAws({
    mediaType: 'application/x-amz-json-1.1',
    operationOf: targetOf,
    answer({ operation, body }) {
      if (operation !== 'PutEvents') throw new ServiceError('UnknownOperationException', '')
      const { Entries } = JSON.parse(body.toString()) as { readonly Entries: readonly PutEntry[] }
      if (refused.times > 0) {
        refused = { ...refused, times: refused.times - 1 }
        const answers = Entries.map(() => ({ ErrorCode: refused.code, ErrorMessage: '' }))
        return { body: JSON.stringify({ FailedEntryCount: Entries.length, Entries: answers }) }
      }
      taken.push(...Entries)
      const answers = Entries.map((_, i) => ({ EventId: `event-${taken.length}-${i}` }))
      return { body: JSON.stringify({ FailedEntryCount: 0, Entries: answers }) }
    },
  })
  return {
    ...service,
    taken,
    refuse: (times, code) => {
      refused = { times, code }
    },
  }
}
