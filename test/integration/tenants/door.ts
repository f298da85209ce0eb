/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly json: Told
}

/** What tests of tenants read of answers; one that has it not fails the comparison that asks for it. */
interface Told {
  readonly [member: string]: unknown
  readonly run_id: string
  readonly sha256: string
  readonly run: { readonly state: string }
  readonly events: readonly { readonly type: string; readonly data: object }[]
  readonly dead?: readonly { readonly id: string }[]
  readonly next_cursor?: string | null
}

/** A place with several tenants, called over HTTP with a bearer token of one of them. */
export interface Door {
  call(tenant: string, method: string, path: string, more?: Request): Promise<Answer>
  /** Who calls: `token:<id>`. */
  caller(tenant: string): string
}

export interface Request {
  readonly body?: unknown
  /** Sent as they are, in place of a JSON body. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The tenants beside the main one. */
export const TENANTS = ['acme', 'globex'] as const

/** The door of a server, with one token a tenant that has every scope. */
export function doorTo(url: string, tokenOf: (tenant: string) => string): Door {
  return {
    caller: (tenant) => `token:${tokenOf(tenant).split('_')[1]}`,
    async call(tenant, method, path, { body, text, headers = {} } = {}) {
      const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
      const type = sent === undefined ? {} : { 'content-type': text === undefined ? 'application/json' : 'text/plain' }
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { ...type, authorization: `Bearer ${tokenOf(tenant)}`, ...headers },
        ...(sent === undefined ? {} : { body: sent }),
      })
      const answered = await response.text()
      // Of the connection and the clock: nothing of what is answered.
      const { date, connection, 'keep-alive': kept, ...rest } = Object.fromEntries(response.headers)
      return {
        status: response.status,
        headers: rest,
        text: answered,
        json: /^[[{]/.test(answered) ? JSON.parse(answered) : {},
      }
    },
  }
}
