import { setTimeout as sleep } from 'node:timers/promises'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isRunEnd } from '../../shared/runs/event-types.ts'
import { readEvents, readMessages, type SseMessage } from '../integration/sse-client.ts'

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The text parsed, where it is JSON. */
  readonly json: Record<string, unknown>
}

export type Caller = ReturnType<typeof callerOf>

/** Talks HTTP to a deployment as one IAM role (`role:session` where the session matters), and to nothing else of it. */
export function callerOf(url: string, role = 'Deployer') {
  const authorization = `AWS4-HMAC-SHA256 Credential=${role}/20261122/eu-central-1/execute-api/aws4_request, SignedHeaders=host, Signature=0`
  const call = async (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const init = { method, headers: { authorization, ...type, ...headers } }
    const response = await fetch(`${url}${path}`, body === undefined ? init : { ...init, body: JSON.stringify(body) })
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : {} }
  }
  const run = (id: string, rest = '') => `/api/dag/runs/${id}${rest}`
  const events = async (id: string): Promise<readonly RunEvent[]> => {
    const { json } = await call('GET', run(id, '/replay?limit=1000'))
    // A child is named by its parent's block before it is there.
    return (json.events ?? []) as readonly RunEvent[]
  }
  return {
    call,
    events,
    async start(body: object, headers = {}): Promise<string> {
      const { status, json, text } = await call('POST', '/api/dag/run', body, headers)
      if (status !== 201) throw new Error(`start: ${status} ${text}`)
      return String(json.run_id)
    },
    /** The events once one of them fits; fails after 60 s. */
    async until(id: string, fits: (event: RunEvent) => boolean): Promise<readonly RunEvent[]> {
      for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
        const seen = await events(id)
        if (seen.some(fits)) return seen
      }
      throw new Error(`run ${id} did not get there: ${(await events(id)).map(({ type }) => type).join(' ')}`)
    },
    stream: (id: string, headers = {}): Promise<SseMessage[]> =>
      readEvents(`${url}${run(id, '/events')}`, { headers: { authorization, ...headers } }),
    /** As they come, what models say meanwhile among them. */
    messages: (id: string) => readMessages(`${url}${run(id, '/events')}`, { headers: { authorization } }),
    decide: (id: string, asked: RunEvent | undefined, decision: 'approve' | 'reject') => {
      const data = (asked?.data ?? {}) as { readonly approval_id?: string; readonly digest?: string }
      return call('POST', run(id, '/approvals'), { approval_id: data.approval_id, digest: data.digest, decision })
    },
  }
}

export function isEnd({ type }: RunEvent): boolean {
  return isRunEnd(type)
}
