import { setTimeout as sleep } from 'node:timers/promises'
import type { Sign } from '../../clients/cli/aws/signed-target.ts'
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

/**
 * Talks HTTP to a deployment as one IAM role (`role:session` where the session matters), and to nothing else of it. With a
 * signer it is a stage of somebody's account (shipped-stack.ts), which is asked less often and longer, and refuses who asks
 * too much.
 */
export function callerOf(url: string, who: string | Sign = 'Deployer') {
  const isEmulated = typeof who === 'string'
  const sign = isEmulated ? emulatedSign(who) : who
  const call = async (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const request = { method, url: `${url}${path}`, body: body === undefined ? undefined : JSON.stringify(body) }
    for (;;) {
      const answer = await ask(sign, request, { ...type, ...headers })
      if (isEmulated || answer.status !== 429) return answer
      await sleep(5_000)
    }
  }
  const patience = isEmulated ? { ms: 120_000, eachMs: 100 } : { ms: 600_000, eachMs: 2_000 }
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
    /** The events once one of them fits; fails after two minutes, of a stage of somebody's after ten minutes. */
    async until(id: string, fits: (event: RunEvent) => boolean): Promise<readonly RunEvent[]> {
      for (const end = Date.now() + patience.ms; Date.now() < end; await sleep(patience.eachMs)) {
        const seen = await events(id)
        if (seen.some(fits)) return seen
      }
      throw new Error(`run ${id} did not get there: ${(await events(id)).map(({ type }) => type).join(' ')}`)
    },
    async stream(id: string, headers = {}): Promise<SseMessage[]> {
      const signed = await sign({ method: 'GET', url: `${url}${run(id, '/events')}` })
      return readEvents(signed.url, { headers: { ...signed.headers, ...headers } })
    },
    /** As they come, what models say meanwhile among them. */
    async *messages(id: string) {
      const signed = await sign({ method: 'GET', url: `${url}${run(id, '/events')}` })
      yield* readMessages(signed.url, { headers: { ...signed.headers } })
    },
    decide: (id: string, asked: RunEvent | undefined, decision: 'approve' | 'reject') => {
      const data = (asked?.data ?? {}) as { readonly approval_id?: string; readonly digest?: string }
      return call('POST', run(id, '/approvals'), { approval_id: data.approval_id, digest: data.digest, decision })
    },
  }
}

async function ask(sign: Sign, request: Parameters<Sign>[0], headers: object): Promise<Answer> {
  const { method, body } = request
  const signed = await sign(request)
  const init = { method, headers: { ...signed.headers, ...headers } }
  const response = await fetch(signed.url, body === undefined ? init : { ...init, body })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : {} }
}

/** The gateway that stands in looks at the key alone (api-gateway.ts). */
function emulatedSign(role: string): Sign {
  const authorization = `AWS4-HMAC-SHA256 Credential=${role}/20261122/eu-central-1/execute-api/aws4_request, SignedHeaders=host, Signature=0`
  return async ({ url }) => ({ url, headers: { authorization } })
}

export function isEnd({ type }: RunEvent): boolean {
  return isRunEnd(type)
}
